#!/usr/bin/env bash
# What people do on a drive, done by an ordinary user with everyday programs, and every result compared.
#
#   drive-programs.sh WORK     WORK belongs to the user and holds bin/coffer and bin/exercise; GO names the Go tool.
#
# .ci/drive.sh calls it. The first thing that is not as it must be ends it with a message.
set -euo pipefail
work=$1
export PATH="$work/bin:$PATH:/usr/sbin:/sbin" HOME=$work/home XDG_RUNTIME_DIR=$work/run TMPDIR=$work/tmp LC_ALL=C.UTF-8
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=somebody GIT_AUTHOR_EMAIL=nobody@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
image=$work/programs.img plain=$work/plain
mkdir -p "$HOME" "$XDG_RUNTIME_DIR" "$TMPDIR" "$plain"
chmod 700 "$XDG_RUNTIME_DIR"

wrong() { printf 'drive-programs: %s\n' "$*" >&2; exit 1; }
part() { printf '%-66s' "$*"; began=${EPOCHREALTIME/./}; }
fine() { printf 'fine, %d ms\n' $(((${EPOCHREALTIME/./} - began) / 1000)); }
refused() { if "$@" 2>/dev/null; then wrong "was not refused: $*"; fi; }
# with_password COMMAND...: the password goes through a pipe.
with_password() { "$@" --password-fd 3 3< <(printf 'a password of the test\n'); }
unlock() { drive=$work/drive; mkdir -p "$drive"; with_password coffer unlock "$image" "$drive" "$@" > "$work/unlock.out"; }
# mounted: the drive is there for the kernel.
mounted() { grep -qF " $drive fuse" /proc/mounts; }
lock() { coffer lock "$image" > /dev/null; if mounted; then wrong "$drive is still mounted after lock"; fi; }
trap 'coffer lock "$image" --force >/dev/null 2>&1 || true' EXIT

[ "$(id -u)" -ne 0 ] || wrong "this must run as an ordinary user"
part "create and unlock"
with_password coffer create "$image" --size 1GiB --kdf-memory 64MiB > /dev/null
unlock
mounted || wrong "$drive is not mounted: $(cat "$work/unlock.out")"
fine

part "cp -r of a source tree"
cp -r "$work/tree" "$drive/tree"
diff -r "$work/tree" "$drive/tree" || wrong "cp -r: the copy differs"
cp -rp "$drive/tree" "$drive/second"
diff -r "$work/tree" "$drive/second" || wrong "cp -rp: the copy differs"
rm -r "$drive/second"
[ ! -e "$drive/second" ] || wrong "rm -r left something"
fine

part "rsync -a, and a second run that copies nothing"
# Times on FAT have steps of two seconds: rsync is told so, as its manual says.
rsync -a --modify-window=1 "$work/tree/" "$drive/rsynced/"
diff -r "$work/tree" "$drive/rsynced" || wrong "rsync: the copy differs"
again=$(rsync -a --modify-window=1 --stats "$work/tree/" "$drive/rsynced/")
grep -qx 'Number of regular files transferred: 0' <<< "$again" || wrong "the second rsync copied again: $again"
grep -qx 'Number of created files: 0' <<< "$again" || wrong "the second rsync created files: $again"
again=$(rsync -ac --modify-window=1 --delete --stats "$work/tree/" "$drive/rsynced/")
grep -qx 'Number of regular files transferred: 0' <<< "$again" || wrong "rsync -c found different content: $again"
fine

part "git clone, commit, gc, fsck, push"
git clone -q "file://$work/origin.git" "$drive/clone"
[ -z "$(git -C "$drive/clone" status --porcelain)" ] || wrong "git status after the clone: $(git -C "$drive/clone" status --porcelain | head -5)"
git -C "$drive/clone" checkout -q -b change
echo 'one more line' >> "$drive/clone/README.md"
git -C "$drive/clone" mv go.mod go.mod.renamed
git -C "$drive/clone" mv go.mod.renamed go.mod
git -C "$drive/clone" commit -qam 'a change'
git -C "$drive/clone" gc -q
git -C "$drive/clone" fsck --strict > "$work/fsck.out" 2>&1 || wrong "git fsck: $(cat "$work/fsck.out")"
git -C "$drive/clone" push -q origin change
[ "$(git -C "$drive/clone" rev-parse HEAD)" = "$(git --git-dir "$work/origin.git" rev-parse change)" ] || wrong "what was pushed is not what was committed"
git clone -q --no-hardlinks "$drive/clone" "$drive/clone-of-clone"
[ -z "$(git -C "$drive/clone-of-clone" status --porcelain)" ] || wrong "git status after the second clone"
rm -rf "$drive/clone-of-clone"
fine

part "go build in the clone, caches on the drive too"
(
  cd "$drive/clone"
  export GOCACHE=$drive/gocache GOPATH=$drive/gopath GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 GOTMPDIR=$drive/gotmp
  mkdir -p "$GOTMPDIR"
  "$GO" build -o "$drive/built" .
)
[ "$("$drive/built")" = "built on the drive" ] || wrong "the program built on the drive does not run"
fine

part "sqlite3: journals delete, truncate, persist and wal, four writers"
for mode in delete truncate persist wal; do
  db=$drive/$mode.db
  [ "$(sqlite3 "$db" "pragma journal_mode=$mode; create table t(id integer primary key, who text, pad blob);")" = "$mode" ] || wrong "sqlite3 refuses journal_mode=$mode"
  writers=()
  for who in 1 2 3 4; do
    for n in $(seq 40); do echo "insert into t(who, pad) values('$who', randomblob(2000));"; done |
      sqlite3 -cmd '.timeout 60000' -cmd 'pragma mmap_size=67108864;' "$db" > "$work/sqlite.$who" 2>&1 & writers+=($!)
  done
  for writer in "${writers[@]}"; do wait "$writer" || wrong "sqlite3, $mode: $(cat "$work"/sqlite.?)"; done
  result=$(sqlite3 "$db" 'pragma integrity_check; select count(*), count(distinct who) from t;')
  [ "$result" = $'ok\n160|4' ] || wrong "sqlite3, $mode: $result"
  sqlite3 "$db" 'delete from t where id % 2; vacuum; pragma integrity_check;' | grep -qx ok || wrong "sqlite3, $mode: after vacuum"
done
[ ! -e "$drive/wal.db-shm" ] || wrong "sqlite3 left its shared memory"
fine

part "zip, unzip, tar"
(cd "$drive" && zip -qr archive.zip tree && unzip -qt archive.zip > /dev/null && mkdir unzipped && unzip -q archive.zip -d unzipped)
diff -r "$work/tree" "$drive/unzipped/tree" || wrong "unzip: differs"
tar -C "$drive" -czf "$drive/archive.tar.gz" tree
mkdir "$drive/untarred"
tar -C "$drive/untarred" -xzf "$drive/archive.tar.gz"
diff -r "$work/tree" "$drive/untarred/tree" || wrong "tar: differs"
tar -C "$drive" -dzf "$drive/archive.tar.gz" 2> "$work/tar.out" | grep -v 'Mode differs' && wrong "tar -d: differs"
rm -r "$drive/unzipped" "$drive/untarred"
fine

part "saving as editors do"
mkdir "$drive/edit"
for copy in auto yes no; do
  for backup in "nobackup nowritebackup" "backup writebackup" "nobackup writebackup"; do
    printf 'first\nsecond\n' > "$drive/edit/text.txt"
    settings=(); for s in $backup; do settings+=(-c "set $s"); done
    vim -Nu NONE -es -c "set backupcopy=$copy undofile" "${settings[@]}" -c '%s/second/third/' -c wq "$drive/edit/text.txt" < /dev/null > /dev/null 2>&1 ||
      wrong "vim with backupcopy=$copy $backup"
    [ "$(cat "$drive/edit/text.txt")" = $'first\nthird' ] || wrong "vim with backupcopy=$copy $backup saved something else"
  done
done
printf 'old\n' > "$drive/edit/a.txt"
exec 8< "$drive/edit/a.txt"                                                 # a reader that has it open meanwhile
printf 'new\n' > "$drive/edit/a.txt.tmp"; sync "$drive/edit/a.txt.tmp"; mv "$drive/edit/a.txt.tmp" "$drive/edit/a.txt"
[ "$(cat <&8)" = old ] || wrong "a reader of the replaced file reads something else"
exec 8<&-
[ "$(cat "$drive/edit/a.txt")" = new ] || wrong "temporary file and rename"
cp -p "$drive/edit/a.txt" "$drive/edit/a.txt~"; printf 'in place\n' > "$drive/edit/a.txt"                    # backup, write in place
mv "$drive/edit/a.txt" "$drive/edit/a.bak"; printf 'office\n' > "$drive/edit/a.tmp"; mv "$drive/edit/a.tmp" "$drive/edit/a.txt"; rm "$drive/edit/a.bak"
[ "$(cat "$drive/edit/a.txt" "$drive/edit/a.txt~")" = $'office\nnew' ] || wrong "backup and rename"
sed -i 's/office/sed/' "$drive/edit/a.txt"
[ "$(cat "$drive/edit/a.txt")" = sed ] || wrong "sed -i"
for n in $(seq 200); do echo "version $n" > "$drive/edit/.t"; mv -f "$drive/edit/.t" "$drive/edit/settings.json"; done
[ "$(cat "$drive/edit/settings.json")" = "version 200" ] || wrong "the 200th save"
for n in $(seq 300); do echo "line $n" >> "$drive/edit/log"; done
[ "$(sha256sum < "$drive/edit/log")" = "$(for n in $(seq 300); do echo "line $n"; done | sha256sum)" ] || wrong "a log appended to line by line"
fine

part "dd with many block sizes and flags"
head -c 20000003 /dev/urandom > "$plain/random"
for how in bs=517 bs=4k bs=64k bs=1M bs=3000001 "bs=1M oflag=direct" "bs=64k oflag=direct" "bs=1M oflag=sync" "bs=256k oflag=dsync" \
  "bs=1M conv=fsync" "bs=64k conv=sparse" "bs=7k oflag=append conv=notrunc"; do
  rm -f "$drive/dd"
  # shellcheck disable=SC2086
  case $how in
    *direct*) dd if="$plain/random" of="$drive/dd" count=10 $how 2> "$work/dd.out" && dd if="$drive/dd" bs=1M iflag=direct 2> "$work/dd.out" | cmp - <(head -c "$(stat -c %s "$drive/dd")" "$plain/random") ;;
    *) dd if="$plain/random" of="$drive/dd" $how 2> "$work/dd.out" && cmp "$plain/random" "$drive/dd" ;;
  esac || wrong "dd $how: $(cat "$work/dd.out")"
done
for target in "$plain" "$drive"; do
  cp "$plain/random" "$target/patched"
  dd if="$plain/random" of="$target/patched" bs=1000 seek=3333 skip=77 count=2001 conv=notrunc 2> /dev/null
  dd if=/dev/zero of="$target/patched" bs=1 seek=30000000 count=0 2> /dev/null       # truncates upwards
  dd if="$plain/random" of="$target/patched" bs=4k seek=9000 count=3 conv=notrunc 2> /dev/null
done
cmp "$plain/patched" "$drive/patched" || wrong "dd with seek, skip and notrunc"
touch "$drive/huge"
refused truncate -s 4294967296 "$drive/huge"
[ ! -s "$drive/huge" ] || wrong "a refused truncate changed the size"
rm "$drive/huge"
fine

part "memory maps, random operations against a model"
mkdir "$drive/exercise"
exercise -dir "$drive/exercise" -fat -operations "${EXERCISE_OPERATIONS:-2000}" -seeds 2 > "$work/exercise.out" 2>&1 || wrong "$(tail -80 "$work/exercise.out")"
fine

part "names, attributes, what FAT cannot do"
cd "$drive"
mkdir names && cd names
echo x > 'ein längerer Name, größer als 8.3 – 日本語 😀.txt'
[ "$(ls)" = 'ein längerer Name, größer als 8.3 – 日本語 😀.txt' ] || wrong "ls shows $(ls)"
echo case > Name.txt; mv Name.txt NAME.TXT; [ "$(ls -1 | grep -i name.txt)" = NAME.TXT ] || wrong "a rename that changes case only: $(ls)"
refused mkdir name.TXT
refused ln -s NAME.TXT link
refused ln NAME.TXT hard
refused mkfifo fifo
refused touch 'a:b'
refused touch "$(printf 'n%.0s' $(seq 256))"
touch "$(printf 'n%.0s' $(seq 255))"
chmod a-w NAME.TXT; [ ! -w NAME.TXT ] || wrong "chmod a-w did nothing"; chmod u+w NAME.TXT; [ -w NAME.TXT ] || wrong "chmod u+w did nothing"
touch -d '2019-05-06 07:08:10' NAME.TXT; [ "$(stat -c %Y NAME.TXT)" = "$(date -d '2019-05-06 07:08:10' +%s)" ] || wrong "touch -d"
mkdir -p deep/er/and/deeper && rmdir -p deep/er/and/deeper
refused rmdir "$drive/tree"
(exec 9<> open; rm open; echo still >&9; [ ! -e open ]) || wrong "a removed open file"
[ -z "$(find "$drive" -name '.fuse_hidden*')" ] || wrong "a .fuse_hidden file"
cd "$work"
fine

part "lock; the volume inside is sound for fsck.vfat"
(cd "$drive" && find . -type f -print0 | sort -z | xargs -0 sha256sum) > "$work/before"
(cd "$drive" && find . -mindepth 1 -printf '%p %s %T@\n' | sort) > "$work/before-stat"
lock
coffer_dump() { with_password coffer dump "$image" "$work/dump.raw" > /dev/null; }
coffer_dump
fsck.vfat -n "$work/dump.raw" > "$work/fsck.out" 2>&1 || wrong "fsck.vfat: $(cat "$work/fsck.out")"
[ "$(wc -l < "$work/fsck.out")" -eq 2 ] || wrong "fsck.vfat has something to say: $(cat "$work/fsck.out")"
rm "$work/dump.raw"
with_password coffer check "$image" > "$work/check.out" || wrong "coffer check: $(cat "$work/check.out")"
fine

part "unlock read-only: everything is as it was"
sum=$(sha256sum < "$image")
unlock --read-only
(cd "$drive" && sha256sum --quiet -c "$work/before") || wrong "content changed by locking"
(cd "$drive" && find . -mindepth 1 -printf '%p %s %T@\n' | sort) | diff "$work/before-stat" - || wrong "sizes or times changed by locking"
refused touch "$drive/new"
refused rm "$drive/edit/a.txt"
lock
[ "$(sha256sum < "$image")" = "$sum" ] || wrong "reading changed the image"
fine
