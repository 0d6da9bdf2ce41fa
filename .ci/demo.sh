# Sourced by ./run: real files into an encrypted container and out again, then one used as a drive; every byte compared.

demo() {
  need openssl:openssl sha256sum:coreutils diff:diffutils fusermount3:fuse3 git:git fsck.vfat:dosfstools setpriv:util-linux
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

  drive_demo "$tree" || wrong=1
  [ "$wrong" = 0 ] || die "the demo FAILED"
  printf '\n\033[1;32mAll bytes verified, the volume is clean. The work folder is removed now.\033[0m\n'
}

# drive_demo TREE: a container as a drive that cp and git use, by a user without rights.
drive_demo() {
  local tree=$1 as=() name=you unlocked
  mkdir drive drive/home drive/run drive/bin
  cp "$(command -v coffer)" drive/bin
  # Root would be no proof: then the user nobody does it, if FUSE is open to users here as it is on desktops.
  if [ "$(id -u)" -eq 0 ] && [ -c /dev/fuse ] && setpriv --reuid 65534 --regid 65534 --clear-groups test -w /dev/fuse; then
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups); name="the user nobody"
    chmod 711 "$work" && chown -R 65534:65534 drive
  fi
  as+=(env -C "$work/drive" HOME="$work/drive/home" XDG_RUNTIME_DIR="$work/drive/run" PATH="$work/drive/bin:$PATH")
  chmod 700 drive/run
  user() { prompt "$@"; "${as[@]}" "$@"; }
  # Should this be interrupted: lock what it has unlocked, and nothing else.
  printf -v unlocked '%q ' "${as[@]}" coffer lock drive.img --force
  trap "$unlocked"' >/dev/null 2>&1 || true; rm -rf -- "$work"' EXIT

  step "A drive, by $name: any program can use it, and needs to know nothing of encryption"
  with_password "${as[@]}" coffer create drive.img --size 1GiB --quiet
  prompt coffer unlock drive.img mnt; with_password "${as[@]}" coffer unlock drive.img mnt
  user cp -r "$tree" mnt/
  user git init -q --initial-branch=main home/repository
  "${as[@]}" cp -r "$tree/net" home/repository/
  "${as[@]}" git -C home/repository add .
  "${as[@]}" git -C home/repository -c user.name=Demo -c user.email=demo@localhost commit -q -m "the packages below net"
  user git clone -q home/repository mnt/clone
  user git -C mnt/clone fsck --no-progress
  [ -z "$("${as[@]}" git -C mnt/clone status --porcelain)" ] || { say "the clone differs"; return 1; }
  user coffer list

  step "Locked: the drive is gone, and so is the process that had the key"
  user coffer lock drive.img
  [ ! -e drive/mnt ] || { say "the drive is still there"; return 1; }

  step "Unlocked again: everything is there"
  prompt coffer unlock drive.img mnt; with_password "${as[@]}" coffer unlock drive.img mnt
  user diff -r "$tree" "mnt/$(basename "$tree")" || { say "the tree differs"; return 1; }
  say "diff -r: the tree is the same"
  user git -C mnt/clone status --short --branch
  user coffer lock drive.img
  with_password "${as[@]}" coffer dump drive.img payload --quiet
  prompt fsck.vfat -n "(the decrypted inside of drive.img)"
  PATH="$PATH:/usr/sbin:/sbin" fsck.vfat -n drive/payload || { say "fsck.vfat found something"; return 1; }
}
