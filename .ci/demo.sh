# Sourced by ./run: real files into an encrypted container and out again, every byte compared.

demo() {
  need openssl:openssl sha256sum:coreutils diff:diffutils
  scratch 4000000000
  local coffer=bin/coffer image=$work/demo.img tree password
  tree=$(go env GOROOT)/src
  # Records of the demo stay out of the user's own.
  export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
  password=$(openssl rand -base64 18)
  # The password goes through a pipe on descriptor 3: never on a command line, in the environment or in a file.
  with_password() { "$@" --password-fd 3 3< <(printf '%s\n' "$password"); }
  shown() { printf '\033[36m$ %s\033[0m\n' "${*//$work\//}"; "$@"; }
  say_shown() { printf '\033[36m$ %s\033[0m\n' "${*//$work\//}"; with_password "$@"; }

  step "Two things to copy: the Go source tree, and one file of 658 MB"
  head -c 658000000 /dev/urandom > "$work/film.bin"
  printf '%s: %d files, %s\n' "$tree" "$(find "$tree" -type f | wc -l)" "$(du -sh "$tree" | cut -f1)"
  printf 'film.bin: %d bytes\n' "$(stat -c %s "$work/film.bin")"
  cat "$work/film.bin" > /dev/null; find "$tree" -type f -print0 | xargs -0 cat > /dev/null

  step "A new encrypted container"
  say_shown "$coffer" create "$image" --size 1200MiB
  shown "$coffer" info "$image"

  step "Files go in, and are read back to verify them"
  say_shown "$coffer" copy "$work/film.bin" "$image:/" --verify --label film-in
  say_shown "$coffer" copy "$tree" "$image:/" --verify --label tree-in

  step "Files come out"
  mkdir "$work/out"
  say_shown "$coffer" copy "$image:/film.bin" "$work/out" --verify --label film-out
  say_shown "$coffer" copy "$image:/$(basename "$tree")" "$work/out" --verify --label tree-out

  step "Every byte compared"
  local wrong=0
  diff -r "$tree" "$work/out/$(basename "$tree")" && say "diff -r: the tree is the same" || wrong=1
  if [ "$(sha256sum < "$work/film.bin")" = "$(sha256sum < "$work/out/film.bin")" ]; then
    say "sha256sum: film.bin is the same"
  else
    say "film.bin differs"; wrong=1
  fi
  # What the image must not hold: a name or a line of what went in.
  if LC_ALL=C grep -qaE 'film\.bin|FILM    BIN|Copyright .* The Go Authors' "$image"; then
    say "plain text found in the image"; wrong=1
  else
    say "no file name and no line of the files can be found in demo.img"
  fi

  step "The file system inside is sound"
  say_shown "$coffer" check "$image"

  step "The records"
  shown "$coffer" report list
  [ "$wrong" = 0 ] || die "the demo FAILED"
  printf '\n\033[1;32mAll bytes verified, the volume is clean. The work folder is removed now.\033[0m\n'
}
