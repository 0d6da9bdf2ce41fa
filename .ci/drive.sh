# Sourced by ./run: the drive under the programs of an ordinary user, and under torture. Needs bin/coffer, and root or a
# user who may mount with FUSE.

# drive_setup NAME: $work is a work folder of an ordinary user, who is made for this if we are root; as runs as that user.
drive_setup() {
  need fusermount3:fuse3 fsck.vfat:dosfstools setpriv:util-linux
  export PATH="$PATH:/usr/sbin:/sbin"
  go build -o bin/exercise ./vfs/internal/exerciser/exercise
  as=()
  if [ "$(id -u)" -eq 0 ]; then
    # Containers often have a device node that only root may open; distributions ship it open to everybody.
    if [ ! -e /dev/fuse ]; then die "/dev/fuse is missing: this kernel or container has no FUSE"; fi
    if [ "$(stat -c %a /dev/fuse)" != 666 ]; then say "chmod 666 /dev/fuse, as distributions have it"; chmod 666 /dev/fuse; fi
    drive_user=coffer-test-$$
    useradd --system --no-create-home --shell /bin/sh "$drive_user"
    trap 'drive_down' EXIT
    chown "$drive_user" "$work"
    as=(setpriv --reuid "$drive_user" --regid "$(id -g "$drive_user")" --clear-groups)
  else
    trap 'drive_down' EXIT
  fi
  mkdir -p "$work/bin" "$work/run" "$work/home" "$work/drive"
  cp bin/coffer bin/exercise "$work/bin/"
  [ ${#as[@]} -eq 0 ] || chown -R "$drive_user" "$work"
  chmod 700 "$work/run"
}

# drive_down locks what is still unlocked and removes the work folder and the user.
drive_down() {
  drive_coffer lock "$work/torture.img" --force > /dev/null 2>&1 || true
  rm -rf -- "$work"
  if [ -n "${drive_user:-}" ]; then userdel "$drive_user" || userdel -f "$drive_user"; fi
}

# as COMMAND...: as the ordinary user.
as() { "${as[@]}" env HOME="$work/home" XDG_RUNTIME_DIR="$work/run" TMPDIR="$work" LC_ALL=C.UTF-8 "$@"; }
# drive_coffer ARGUMENTS...: the program as the ordinary user; the password waits on descriptor 3.
drive_coffer() { as "$work/bin/coffer" "$@" 3< <(printf 'a password of the test\n'); }

# drive_programs: cp, rsync, git, go build, sqlite3, zip, editors, dd, memory maps by an ordinary user.
drive_programs() {
  step "everyday programs of an ordinary user on the drive"
  need rsync:rsync git:git sqlite3:sqlite3 zip:zip unzip:unzip vim:vim fsck.vfat:dosfstools
  scratch 6000000000
  drive_setup
  cp -r "$(go env GOROOT)/src/net" "$work/tree"
  drive_origin "$work/origin.git"
  cp .ci/drive-programs.sh "$work/bin/"
  [ ${#as[@]} -eq 0 ] || chown -R "$drive_user" "$work"
  (cd "$work" && as GO="$(command -v go)" bash bin/drive-programs.sh "$work") || die "the programs FAILED"
  drive_down
  trap - EXIT
}

# drive_origin FOLDER: a bare repository with some history and a Go program.
drive_origin() {
  local tree=$work/origin n
  mkdir "$tree"
  git -C "$tree" init -q -b main
  cp -r "$(go env GOROOT)/src/encoding" "$tree/history"
  find "$tree/history" -name '*.go' -exec mv {} {}.txt \;
  printf 'module example\n\ngo %s\n' "$(awk '$1 == "go" { print $2 }' go.mod)" > "$tree/go.mod"
  printf 'package main\n\nimport "fmt"\n\nfunc message() string { return "built on the drive" }\n\nfunc main() { fmt.Println(message()) }\n' > "$tree/main.go"
  echo 'A repository for a test.' > "$tree/README.md"
  for n in 1 2 3 4 5; do
    echo "change $n" >> "$tree/README.md"
    git -C "$tree" add -A
    git -C "$tree" -c user.name=somebody -c user.email=nobody@example.org commit -qm "change $n"
  done
  git clone -q --bare "$tree" "$1"
  rm -rf "$tree"
}

# drive_unlock SIZE: a new container, unlocked at $work/drive.
drive_unlock() {
  rm -f "$work/torture.img"
  drive_coffer create "$work/torture.img" --size "$1" --kdf-memory 64MiB --password-fd 3 > /dev/null
  drive_coffer unlock "$work/torture.img" "$work/drive" --password-fd 3 > /dev/null
}

# drive_verdict WHAT: locks, and both judges of the volume must be content.
drive_verdict() {
  drive_coffer lock "$work/torture.img" > /dev/null
  drive_coffer check "$work/torture.img" --password-fd 3 || die "$1: coffer check found something"
  drive_coffer dump "$work/torture.img" "$work/dump.raw" --password-fd 3 > /dev/null
  fsck.vfat -n "$work/dump.raw" > "$work/fsck.out" || die "$1: fsck.vfat: $(cat "$work/fsck.out")"
  [ "$(wc -l < "$work/fsck.out")" -eq 2 ] || die "$1: fsck.vfat: $(cat "$work/fsck.out")"
  rm -f "$work/dump.raw"
  say "$1: no difference, coffer check and fsck.vfat are content"
}

# drive_torture SECONDS: 100,000 operations with each of eight seeds, fio with verification over 2 GiB, 20 processes in
# one folder for so long, and bonnie++; the volume is checked after each.
drive_torture() {
  need fio:fio bonnie++:bonnie++
  scratch 14000000000
  drive_setup
  local seconds=$1 pids=() pid n
  if [ -z "${DRIVE_ONLY:-}" ] || [ "$DRIVE_ONLY" = exercise ]; then
    step "the drive: ${DRIVE_OPERATIONS:-100000} random operations x 8 seeds against a model"
    drive_unlock 1GiB
    as "$work/bin/exercise" -dir "$work/drive" -fat -leave -operations "${DRIVE_OPERATIONS:-100000}" -seeds 4 -parallel 2 || die "the exerciser found a difference"
    drive_verdict "exerciser"
  fi
  if [ -z "${DRIVE_ONLY:-}" ] || [ "$DRIVE_ONLY" = fio ]; then
    step "the drive: fio randrw with verify over ${DRIVE_FIO_SIZE:-2g}"
    drive_unlock 5GiB
    as fio --name=verify --directory="$work/drive" --rw=randrw --bsrange=1k-256k --size="${DRIVE_FIO_SIZE:-2g}" --ioengine=psync \
      --verify=crc32c --do_verify=1 --verify_fatal=1 --randrepeat=0 --fallocate=none --verify_state_save=0 --end_fsync=1 --output="$work/fio.out" || die "fio: $(cat "$work/fio.out")"
    grep -E 'READ|WRITE' "$work/fio.out"
    drive_verdict "fio"
  fi
  if [ -z "${DRIVE_ONLY:-}" ] || [ "$DRIVE_ONLY" = stress ]; then
    step "the drive: 20 processes in one folder for $seconds s"
    drive_unlock 3GiB
    for n in $(seq 20); do
      as "$work/bin/exercise" -dir "$work/drive" -fat -leave -seconds "$seconds" -kind "$([ $((n % 3)) -eq 0 ] && echo file || echo tree)" -seed $((RANDOM * 40 + n)) &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || die "a stress process found a difference"; done
    drive_verdict "20 processes"
  fi
  if [ -z "${DRIVE_ONLY:-}" ] || [ "$DRIVE_ONLY" = bonnie ]; then
    step "the drive: bonnie++"
    drive_unlock 5GiB
    as bonnie++ -d "$work/drive" -r 1024 -s 2048 -f -n 8:20000:0:4 -m drive -q > "$work/bonnie.csv" 2> "$work/bonnie.err" || die "bonnie++: $(cat "$work/bonnie.err")"
    [ -s "$work/bonnie.csv" ] || die "bonnie++ did not come to the end"
    cat "$work/bonnie.csv"
    drive_verdict "bonnie++"
  fi
  drive_down
  trap - EXIT
}
