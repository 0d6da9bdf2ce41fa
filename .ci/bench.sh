# Sourced by ./run: the figures the project is judged by. Ratios are taken within one run, interleaved; noise is large on
# shared machines, so look at the medians with their spread.

bench() {
  need openssl:openssl
  step "cipher engine (one thread), against openssl speed -evp aes-256-xts"
  go test -run '^$' -bench . -benchtime 1s ./container/aesxts
  openssl speed -evp aes-256-xts -bytes 4096 -seconds 3 2>/dev/null | tail -n 1
  openssl speed -evp aes-256-xts -bytes 512 -seconds 3 2>/dev/null | tail -n 1
  step "copies against cp --reflink=never --sparse=never + sync, ${BENCH_PAIRS:-11} pairs, interleaved"
  scratch 6000000000
  export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
  bench_copies
}

# seconds COMMAND...: wall time of a command, in seconds.
seconds() { local begin end; begin=$(date +%s.%N); "$@" >/dev/null; end=$(date +%s.%N); awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f\n", b - a }'; }

# median FILE: median and range of the first column.
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f (%.2f to %.2f, %d pairs)\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR], NR }'; }

# drop PATH...: forget cached pages of the files, so that the next read is cold.
drop() { sync; find "$@" -type f -exec dd if={} iflag=nocache count=0 status=none \; ; if [ -w /proc/sys/vm/drop_caches ]; then echo 1 > /proc/sys/vm/drop_caches; fi; }

plain_copy() { cp -r --reflink=never --sparse=never "$1" "$2" && sync -f "$2"; }

bench_copies() {
  local coffer=$PWD/bin/coffer image=$work/bench.img set i n
  password=bench
  pass() { "$@" --quiet --password-fd 3 3< <(printf '%s\n' "$password"); }
  say "making the workloads: [a] one file of 658 MB, [b] 2140 files in nested folders, 667 MB, [c] 20,000 files of 1 KB"
  mkdir -p "$work/a" "$work/b" "$work/c"
  head -c 658000000 /dev/urandom > "$work/a/film.bin"
  for ((i = 0; i < 2140; i++)); do
    n="$work/b/$((i / 500))/$((i / 50))"; mkdir -p "$n"
    head -c $((311000 + i % 7 * 200)) /dev/urandom > "$n/file-$i.dat"
  done
  for ((i = 0; i < 20000; i++)); do
    [ $((i % 1000)) = 0 ] && mkdir -p "$work/c/$((i / 1000))"
    printf '%01000d' "$i" > "$work/c/$((i / 1000))/$i.txt"
  done
  printf '%s\n' "$password" | "$coffer" create "$image" --size 1600MiB --kdf-memory 64KiB --kdf-time 1 --password-stdin --quiet >/dev/null
  for set in a b c; do
    : > "$work/in"; : > "$work/out"
    for ((i = 0; i < ${BENCH_PAIRS:-11}; i++)); do
      find "$work/$set" -type f -print0 | xargs -0 cat > /dev/null
      local plain ours
      plain=$(seconds plain_copy "$work/$set" "$work/plain")
      ours=$(seconds pass "$coffer" copy "$work/$set" "$image:/")
      awk -v a="$plain" -v b="$ours" 'BEGIN { print a / b }' >> "$work/in"
      drop "$work/plain" "$image"
      plain=$(seconds plain_copy "$work/plain" "$work/plain-out")
      drop "$image"
      ours=$(seconds pass "$coffer" copy "$image:/$set" "$work/ours-out")
      awk -v a="$plain" -v b="$ours" 'BEGIN { print a / b }' >> "$work/out"
      diff -r "$work/$set" "$work/ours-out" || die "copies differ"
      rm -rf "$work/plain" "$work/plain-out" "$work/ours-out"
      pass "$coffer" rm -r "$image:/$set"
    done
    say "[$set] in:  speed of cp + sync = 1, coffer = $(median "$work/in")"
    say "[$set] out: speed of cp + sync = 1, coffer = $(median "$work/out")"
  done
}
