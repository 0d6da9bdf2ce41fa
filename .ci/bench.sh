# Sourced by ./run: the figures the project is judged by. Pairs are interleaved within one run, since noise is large on
# shared machines: look at the medians with their spread. BENCH_PAIRS says how many pairs of copies (11).

bench() {
  need openssl:openssl
  step "cipher engine, one thread, against openssl speed -evp aes-256-xts, interleaved"
  scratch 5000000000
  go run ./container/aesxts/internal/vsopenssl | tee "$work/printed"
  step "copies against cp --reflink=never --sparse=never + sync, ${BENCH_PAIRS:-11} pairs, interleaved"
  go test ./transfer/internal/versuscp -count=1 -run TestVersusCp -v -timeout 90m -versuscp.dir "$work" -versuscp.rounds "${BENCH_PAIRS:-11}" | tee -a "$work/printed"
  keep_results
}

# keep_results: what was printed goes into the project's table.
keep_results() {
  go run ./transfer/lab/internal/results -release "$(git describe --tags --always)" -to transfer/lab/results.md < "$work/printed"
  say "kept in transfer/lab/results.md"
}

# bench_drive ROUNDS: the mounted drive beside the plain file system and gocryptfs; 3 rounds take under 9 minutes.
bench_drive() {
  need fio:fio gocryptfs:gocryptfs fusermount3:fuse3
  [ "$(id -u)" -eq 0 ] || die "run this as root: cold reads need all caches of the kernel dropped"
  step "the mounted drive beside plain and gocryptfs, ${1:-3} rounds, interleaved"
  scratch 9000000000
  go run ./vfs/internal/versusplain -coffer "$PWD/bin/coffer" -dir "$work" -rounds "${1:-3}" | tee "$work/printed"
  keep_results
}
