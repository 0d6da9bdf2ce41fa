# Sourced by .ci/test.sh: the ways of mounting that are not the one of this system's own build.

# test_bindings: the drive through libfuse 2 and 3 (the code of macOS and FreeBSD, and most of that of Windows), then the
# program for Windows under Wine.
test_bindings() {
  need /usr/include/fuse/fuse.h:libfuse-dev /usr/include/fuse3/fuse.h:libfuse3-dev /usr/lib/wine/wine64:wine64 \
    fusermount3:fuse3 gcc:gcc
  local tags
  for tags in cgofuse cgofuse,fuse3; do
    step "the drive through libfuse (-tags $tags)"
    CGO_ENABLED=1 go vet -tags "$tags" ./vfs
    CGO_ENABLED=1 go tool staticcheck -tags "$tags" ./vfs
    CGO_ENABLED=1 go test -short -count=1 -tags "$tags" ./vfs
  done
  test_wine
}

# test_wine: as far as Wine goes. It has no WinFsp and no unix sockets, so that there is no drive and no agent, and
# cannot remove files the way Go does, so that tests with temporary folders fail: what is left are these packages, and the
# command line on a container of its own.
test_wine() {
  step "the program for Windows under Wine"
  scratch 1500000000
  local folder=$work
  export WINEPREFIX="$folder/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" WINESERVER=/usr/lib/wine/wineserver64
  trap '"$WINESERVER" -k -w 2>/dev/null; rm -rf -- "$work"' EXIT # this folder's server only
  wine_prefix
  wine_test vfs '^TestWindows'
  wine_test app/agent/autolock .
  wine_test fat32 '^(TestFoldName|TestCheckName|TestShortNames|TestForeignNames|TestErrors|TestIdentity|TestFaults|TestRenameCaseOnly|TestReadOnly|TestBarriers|TestDirtyMarks)$'
  wine_test container/aesxts .
  wine_test container/secret .
  wine_test container/block .
  wine_test transfer/rate .
  wine_program "$folder"
  "$WINESERVER" -k -w || true
  trap 'rm -rf -- "$work"' EXIT
  rm -rf "$folder"
  unset WINEPREFIX WINEDEBUG WINEDLLOVERRIDES WINESERVER
}

# wine_prefix: a Windows in the folder $WINEPREFIX that Go programs start on.
wine_prefix() {
  timeout 120 /usr/lib/wine/wine64 wineboot -i >/dev/null 2>&1 || die "wine does not start"
  go run .ci/winedll.go "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
  # Windows without a screen: else no window can be made, and messages of the system come to a window.
  timeout 60 /usr/lib/wine/wine64 reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f >/dev/null 2>&1
  "$WINESERVER" -k -w || true # what the desktop was begun with would go on for a while
}

# wine_test PACKAGE TESTS: its tests for Windows, in its folder.
wine_test() {
  CGO_ENABLED=0 GOOS=windows go test -c -o "$WINEPREFIX/test.exe" "./$1"
  local out
  out=$(cd "$1" && timeout 300 /usr/lib/wine/wine64 "$WINEPREFIX/test.exe" -test.short -test.v -test.run "$2" 2>&1) ||
    die "$1 under wine: $out"
  say "$1: $(grep -c '^--- PASS' <<<"$out") tests"
  grep -q '^--- PASS' <<<"$out" || die "$1 under wine: no test ran: $out"
}

# wine_program FOLDER: create, copy in, read; a drive is refused with what to install; Linux finds the container clean and
# what is in it complete. (Copying out ends with the removal of a file, which Wine cannot.)
wine_program() {
  local folder=$1 out code=0
  CGO_ENABLED=0 GOOS=windows go build -o "$folder/coffer.exe" ./app/coffer
  coffer_wine() { (cd "$folder" && echo "a password for wine" | timeout 120 /usr/lib/wine/wine64 coffer.exe "$@" --password-stdin); }
  mkdir "$folder/in" && cp README.md LICENSE "$folder/in"
  out=$(coffer_wine create w.img --size 64MiB --kdf-memory 64MiB 2>&1) || die "create under wine: $out"
  out=$(coffer_wine copy in w.img:/ --verify 2>&1) || die "copy in under wine: $out"
  coffer_wine cat w.img:/in/README.md >"$folder/cat" || die "cat under wine"
  cmp README.md "$folder/cat" || die "what wine reads differs"
  out=$(coffer_wine unlock w.img 2>&1) || code=$?
  [ "$code" -eq 10 ] && grep -q 'install WinFsp' <<<"$out" || die "unlock without WinFsp: exit code $code: $out"
  coffer_here() { echo "a password for wine" | bin/coffer "$@" --password-stdin --quiet; }
  coffer_here check "$folder/w.img" || die "what wine made is not clean"
  coffer_here copy "$folder/w.img:/in" "$folder/out" || die "copy out of what wine made"
  diff -r "$folder/in" "$folder/out" || die "what wine wrote differs"
  say "coffer.exe: create, copy in, read; unlock names WinFsp; Linux reads what it wrote"
}
