# Sourced by ./run: everything that must hold before a change lands. Prints each stage and its time.

run_tests() {
  # The referees that tests call. A test never skips because one is missing.
  need cryptsetup:cryptsetup-bin dmsetup:dmsetup fsck.vfat:dosfstools mcopy:mtools qemu-img:qemu-utils \
    qemu-aarch64-static:qemu-user-static linux.uml:user-mode-linux modprobe:kmod busybox:busybox-static strace:strace \
    openssl:openssl fio:fio setpriv:util-linux faketime:faketime file:file git:git gcc:gcc \
    chromium:chromium python3:python3 sqlite3:sqlite3 fusermount3:fuse3 curl:curl mke2fs:e2fsprogs fuse2fs:fuse2fs ntfs-3g:ntfs-3g mkfs.exfat:exfatprogs dbus-daemon:dbus
  export PATH="$PATH:/usr/sbin:/sbin"
  local started=$SECONDS
  [ -e /dev/fuse ] || die "/dev/fuse is missing: this kernel or container has no FUSE"
  if [ "$(id -u)" -eq 0 ] && [ "$(stat -c %a /dev/fuse)" != 666 ]; then
    say "chmod 666 /dev/fuse, as distributions have it"
    chmod 666 /dev/fuse
  fi

  . .ci/package.sh
  window_needs

  step "formatting, vet, staticcheck"
  local unformatted; unformatted=$(git ls-files '*.go' | xargs -r gofmt -l)
  [ -z "$unformatted" ] || die "gofmt would change: $unformatted"
  go vet ./...
  go vet -tags probe ./app/window
  go tool staticcheck ./...

  step "the program is one static executable"
  build
  if ldd bin/coffer >/dev/null 2>&1; then die "bin/coffer is a dynamic executable"; fi
  file bin/coffer | grep -q 'statically linked' || die "bin/coffer is not statically linked: $(file bin/coffer)"
  say "bin/coffer: $(du -h bin/coffer | cut -f1), statically linked"

  step "other systems and the portable engine"
  local target
  for target in windows/amd64 windows/arm64 darwin/arm64 darwin/amd64 freebsd/amd64 linux/arm64; do
    say "build $target"
    CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go build -o /dev/null ./app/coffer
  done
  for target in windows/amd64 darwin/arm64 freebsd/amd64; do
    say "vet $target, tests included"
    # All but the window, which needs a C compiler of that system; its Windows build is made by ./run package.
    CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go list -e -f '{{if or .GoFiles .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v -e ^coffer/app/window -e ^coffer/app/coffer-window |
      CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} xargs go vet
  done
  say "build -tags purego"
  CGO_ENABLED=0 go build -tags purego -o bin/coffer-purego ./app/coffer
  go test -short -count=1 -tags purego ./container/aesxts/... ./container/luks/... ./container

  step "tests"
  go test -count=1 -timeout 40m ./...

  test_as_root TestOtherUsers ./app/window/instance

  . .ci/bindings.sh
  test_bindings

  step "tests under the race detector"
  go test -count=1 -short -race -timeout 40m ./fat32/... ./container/... ./transfer/... ./app/session/... ./app/agent/jobs ./app/client ./app/window/model

  (. .ci/drive.sh; drive_programs)

  step "the window, with real events on a display without a screen"
  (. .ci/package.sh; . .ci/story.sh; story)

  step "done"
  say "everything passed in $((SECONDS - started)) s"
}

# test_as_root TEST PACKAGE: the one kind of test that skips for an ordinary user at a desk. Here it must run, and pass.
test_as_root() {
  local root=() folder
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || die "$1 needs root: run this as root, or install sudo"
    root=(sudo)
  fi
  folder=$(mktemp -d)
  go test -c -o "$folder/test" "$2"
  if ! "${root[@]}" "$folder/test" -test.v -test.run "^$1\$" >"$folder/out" 2>&1 || ! grep -q "^--- PASS: $1 " "$folder/out"; then
    cat "$folder/out"
    rm -rf -- "$folder"
    die "$1 did not run and pass as root"
  fi
  rm -rf -- "$folder"
  say "$1 ran as root, and passed"
}
