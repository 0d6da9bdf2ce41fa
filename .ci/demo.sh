# Sourced by ./run: real files into an encrypted container and out again, every byte compared.

demo() {
  need openssl:openssl sha256sum:coreutils diff:diffutils
  scratch 4000000000
  local tree password
  PATH="$PWD/bin:$PATH"
  tree=$(go env GOROOT)/src
  # Records of the demo stay out of the user's own.
  export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
  password=$(openssl rand -base64 18)
  # The password goes through a pipe on descriptor 3: never on a command line, in the environment or in a file.
  with_password() { "$@" --password-fd 3 3< <(printf '%s\n' "$password"); }
  prompt() { printf '\033[36m$ %s\033[0m\n' "$*"; }
  shown() { prompt "$@"; "$@"; }
  say_shown() { prompt "$@"; with_password "$@"; }
  cd "$work"

  step "Two things to copy: the Go source tree, and one file of 658 MB"
  head -c 658000000 /dev/urandom > film.bin
  printf '%s: %d files, %s\n' "$tree" "$(find "$tree" -type f | wc -l)" "$(du -sh "$tree" | cut -f1)"
  printf 'film.bin: %d bytes\n' "$(stat -c %s film.bin)"
  cat film.bin > /dev/null; find "$tree" -type f -print0 | xargs -0 cat > /dev/null

  step "A new encrypted container (the password goes in through a pipe)"
  say_shown coffer create demo.img --size 1200MiB
  shown coffer info demo.img

  step "Files go in, and are read back to verify them"
  say_shown coffer copy film.bin demo.img:/ --verify --label film-in
  say_shown coffer copy "$tree" demo.img:/ --verify --label tree-in

  step "Files come out"
  mkdir out
  say_shown coffer copy demo.img:/film.bin out --verify --label film-out
  say_shown coffer copy "demo.img:/$(basename "$tree")" out --verify --label tree-out

  step "Every byte compared"
  local wrong=0
  diff -r "$tree" "out/$(basename "$tree")" && say "diff -r: the tree is the same" || wrong=1
  if [ "$(sha256sum < film.bin)" = "$(sha256sum < out/film.bin)" ]; then
    say "sha256sum: film.bin is the same"
  else
    say "film.bin differs"; wrong=1
  fi
  # What the image must not hold: a name or a line of what went in.
  if LC_ALL=C grep -qaE 'film\.bin|FILM    BIN|Copyright .* The Go Authors' demo.img; then
    say "plain text found in the image"; wrong=1
  else
    say "no file name and no line of the files can be found in demo.img"
  fi

  step "The file system inside is sound"
  say_shown coffer check demo.img

  step "The records"
  shown coffer report list
  [ "$wrong" = 0 ] || die "the demo FAILED"
  printf '\n\033[1;32mAll bytes verified, the volume is clean. The work folder is removed now.\033[0m\n'
}
