# Sourced by ./run: the packages people install. Needs step, say, die, need and scratch of ./run.
#
#   dist/coffer-VERSION-linux-ARCH.tar.gz      both programs, install.sh for a user without root
#   dist/coffer_VERSION_ARCH.deb
#   dist/coffer-VERSION-windows-amd64.zip
#
# What macOS needs is in app/docs/packaging.md.

# window_needs: what the window is built with on Linux.
window_needs() {
  need gcc:gcc pkg-config:pkg-config /usr/include/GL/gl.h:libgl1-mesa-dev /usr/include/X11/Xlib.h:libx11-dev /usr/include/X11/Xcursor/Xcursor.h:libxcursor-dev \
    /usr/include/X11/extensions/Xrandr.h:libxrandr-dev /usr/include/X11/extensions/Xinerama.h:libxinerama-dev \
    /usr/include/X11/extensions/XInput2.h:libxi-dev /usr/include/X11/extensions/xf86vmode.h:libxxf86vm-dev \
    /usr/include/xkbcommon/xkbcommon.h:libxkbcommon-dev
}

# window_flags VERSION: what the linker is told of the window.
window_flags() { printf '%s' "-X coffer/app/window/settings.version=$1"; }

# package_version: the version in FyneApp.toml; with the revision behind it unless that is the version's own, by its tag.
package_version() {
  local version; version=$(awk -F'"' '/^Version/ { print $2 }' FyneApp.toml)
  if [ "$(git describe --tags --exact-match 2>/dev/null)" != "v$version" ] || [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    version+="+git$(git log -1 --format=%cd --date=format:%Y%m%d).$(git rev-parse --short=8 HEAD)"
  fi
  printf '%s' "$version"
}

package() {
  window_needs
  need rsvg-convert:librsvg2-bin dpkg-deb:dpkg gzip:gzip desktop-file-validate:desktop-file-utils update-mime-database:shared-mime-info \
    x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 zip:zip unzip:unzip /usr/lib/wine/wine64:wine64 lintian:lintian objdump:binutils
  scratch 2000000000
  local version arch; version=$(package_version) arch=$(go env GOARCH)
  mkdir -p dist
  package_linux
  package_deb
  package_windows
  (cd dist && sha256sum ./*"$version"* >"coffer-$version.sha256")
  step "done"
  ls -l dist/*"$version"*
}

# package_icons: the pictures in assets/icons, from the drawings. They are kept in the repository: building needs none of this.
package_icons() {
  need rsvg-convert:librsvg2-bin
  local size
  for size in 16 24 32 48 64 128 256 512; do rsvg-convert -w $size -h $size assets/icons/coffer.svg -o assets/icons/coffer-$size.png; done
  rsvg-convert -w 64 -h 64 assets/icons/tray.svg -o assets/icons/tray.png
}

# fill_share SHARE: what a desktop wants of a program, in the folder SHARE.
fill_share() {
  local id=org.coffer.Coffer size
  install -Dm644 assets/packaging/$id.desktop "$1/applications/$id.desktop"
  install -Dm644 assets/packaging/$id.xml "$1/mime/packages/$id.xml"
  install -Dm644 assets/icons/coffer.svg "$1/icons/hicolor/scalable/apps/$id.svg"
  for size in 16 24 32 48 64 128 256 512; do install -Dm644 assets/icons/coffer-$size.png "$1/icons/hicolor/${size}x$size/apps/$id.png"; done
  desktop-file-validate "$1/applications/$id.desktop"
}

package_linux() {
  step "Linux: tarball"
  local name=coffer-$version-linux-$arch tree=$work/linux
  tree+=/$name
  mkdir -p "$tree/bin"
  CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X coffer/app/cli.version=$version" -o "$tree/bin/coffer" ./app/coffer
  CGO_ENABLED=1 go build -trimpath -ldflags "-s -w $(window_flags "$version")" -o "$tree/bin/coffer-window" ./app/coffer-window
  fill_share "$tree/share"
  install -m755 assets/packaging/install.sh "$tree/install.sh"
  install -m644 README.md LICENSE "$tree"
  tar -C "$work/linux" --owner=0 --group=0 --sort=name -czf "dist/$name.tar.gz" "$name"
  check_tarball
}

# check_tarball: unpacked and installed for a user with an empty home, it works, and is gone after --remove.
check_tarball() {
  local home=$work/home
  mkdir -p "$home" "$work/unpacked"
  tar -C "$work/unpacked" -xzf "dist/coffer-$version-linux-$arch.tar.gz"
  as_user() { env -i HOME="$home" PATH="$home/.local/bin:/usr/bin:/bin:/usr/sbin" LANG=en_US.UTF-8 "$@"; }
  as_user "$work/unpacked/coffer-$version-linux-$arch/install.sh" >/dev/null
  [ "$(as_user coffer version | head -n 1)" = "coffer $version" ] || die "the installed coffer says $(as_user coffer version)"
  [ "$(as_user coffer-window --version)" = "coffer-window $version" ] || die "the installed window says $(as_user coffer-window --version)"
  as_user desktop-file-validate "$home/.local/share/applications/org.coffer.Coffer.desktop"
  grep -q "^Exec=\"$home/.local/bin/coffer-window\" %F" "$home/.local/share/applications/org.coffer.Coffer.desktop" || die "the entry of the menu does not name the installed window"
  grep -q 'x-coffer-container' "$home/.local/share/mime/globs2" || die "the file type is not known after the installation"
  as_user "$work/unpacked/coffer-$version-linux-$arch/install.sh" --remove >/dev/null
  local left; left=$(find "$home/.local" -name '*coffer*' -print)
  [ -z "$left" ] || die "install.sh --remove leaves $left"
  say "installed for a user, started, removed"
}

# least_libc PROGRAM: the oldest C library that has all it asks for.
least_libc() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2; }

package_deb() {
  step "Debian package"
  local tree=$work/deb deb_arch from=$work/linux/coffer-$version-linux-$arch doc
  deb_arch=$(dpkg --print-architecture)
  doc=$tree/usr/share/doc/coffer
  mkdir -p "$tree/DEBIAN" "$doc"
  install -Dm755 -t "$tree/usr/bin" "$from/bin/coffer" "$from/bin/coffer-window"
  cp -R "$from/share" "$tree/usr/"
  install -m644 README.md "$doc"
  { printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Coffer\n\nFiles: *\nCopyright: 2026 The Coffer authors\nLicense: Expat\n'
    sed -e '1,4d' -e 's/^$/./' -e 's/^/ /' LICENSE; } >"$doc/copyright"
  printf 'coffer (%s) unstable; urgency=medium\n\n  * Built from revision %s.\n\n -- The Coffer authors <coffer@localhost>  %s\n' \
    "$version" "$(git rev-parse --short=8 HEAD)" "$(date -Rd "@$(git log -1 --format=%ct)")" | gzip -9n >"$doc/changelog.gz"
  install -d "$tree/usr/share/bash-completion/completions" "$tree/usr/share/zsh/vendor-completions" "$tree/usr/share/fish/vendor_completions.d"
  "$from/bin/coffer" completion bash >"$tree/usr/share/bash-completion/completions/coffer"
  "$from/bin/coffer" completion zsh >"$tree/usr/share/zsh/vendor-completions/_coffer"
  "$from/bin/coffer" completion fish >"$tree/usr/share/fish/vendor_completions.d/coffer.fish"
  package_manuals "$tree/usr/share/man/man1" "$from/bin"
  # The desktop's databases are brought up to date by triggers of their own packages: no scripts are needed here. The window opens
  # the libraries of X11 below by name when it starts, so no tool finds them.
  cat >"$tree/DEBIAN/control" <<EOF
Package: coffer
Version: $version
Architecture: $deb_arch
Maintainer: The Coffer authors <coffer@localhost>
Installed-Size: $(du -k -s --exclude=DEBIAN "$tree" | cut -f1)
Depends: libc6 (>= $(least_libc "$from/bin/coffer-window")), libgl1, libx11-6, libxcursor1, libxrandr2, libxinerama1, libxi6, libxxf86vm1
Recommends: fuse3, xdg-utils
Section: utils
Priority: optional
Description: encrypted drives in a file
 Coffer keeps files in an encrypted container: one ordinary file, opened with a
 password, that becomes a drive every program can use. It needs no root and no
 system service, and its copy tool verifies what it copied and records how
 fast.
 .
 This package has the command line, coffer, and the window, coffer-window.
EOF
  (cd "$tree" && find usr -type f -printf '%P\n' | sort | sed 's|^|usr/|' | xargs -d '\n' md5sum >DEBIAN/md5sums)
  find "$tree" -type d -exec chmod 755 {} +
  local deb=dist/coffer_${version}_$deb_arch.deb
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$deb" >/dev/null
  check_deb "$deb"
}

# package_manuals MAN BIN: pages that name the help of the programs, which says everything.
package_manuals() {
  mkdir -p "$1"
  local program
  for program in coffer coffer-window; do
    { printf '.TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n' "${program^^}" "$program" \
        "$([ $program = coffer ] && echo 'encrypted containers in a file' || echo 'the window of Coffer')"
      env -i HOME=/nonexistent LANG=en_US.UTF-8 "$2/$program" --help 2>/dev/null | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
      printf '.fi\n'; } | gzip -9n >"$1/$program.1.gz"
  done
}

# check_deb FILE: what is in it runs from where it was unpacked; what it depends on is what the programs ask for; lintian.
check_deb() {
  local tree=$work/deb-unpacked
  dpkg-deb -x "$1" "$tree"
  [ "$("$tree/usr/bin/coffer" version | head -n 1)" = "coffer $version" ] || die "coffer of the package says $("$tree/usr/bin/coffer" version)"
  [ "$(LANG=en_US.UTF-8 "$tree/usr/bin/coffer-window" --version)" = "coffer-window $version" ] || die "the window of the package does not start"
  local library
  for library in $(objdump -p "$tree/usr/bin/coffer-window" | awk '$1 == "NEEDED" { print $2 }'); do
    case $library in libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | ld-linux*) ;; libGL.so.1 | libX11.so.6) ;; *) die "the package does not depend on $library, which the window needs" ;; esac
  done
  # One program is static on purpose, Go links without -z now, and the project has no address of its own yet.
  LC_ALL=C.UTF-8 lintian --tag-display-limit 0 --allow-root --fail-on error \
    --suppress-tags statically-linked-binary,hardening-no-pie,hardening-no-bindnow,bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs "$1" ||
    die "lintian finds faults in $1"
  say "$1: $(du -h "$1" | cut -f1), unpacked and started"
}

package_windows() {
  step "Windows: zip"
  local name=coffer-$version-windows-amd64 tree=$work/windows cc=x86_64-w64-mingw32
  tree+=/$name
  mkdir -p "$tree"
  CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build -trimpath -ldflags "-s -w -X coffer/app/cli.version=$version" -o "$tree/coffer.exe" ./app/coffer
  cp assets/packaging/windows.rc assets/packaging/coffer-window.manifest "$work"
  go run .ci/winico.go "$work/coffer.ico" assets/icons/coffer-{16,24,32,48,64,128,256}.png
  (cd "$work" && $cc-windres windows.rc -O coff -o windows.o)
  CGO_ENABLED=1 GOOS=windows GOARCH=amd64 CC=$cc-gcc go build -trimpath \
    -ldflags "-s -w -H windowsgui $(window_flags "$version") -extldflags '-static $work/windows.o'" -o "$tree/coffer-window.exe" ./app/coffer-window
  cp assets/packaging/associate.cmd "$tree"
  sed 's/$/\r/' LICENSE >"$tree/LICENSE.txt"
  cp README.md "$tree"
  rm -f "dist/$name.zip"
  (cd "$work/windows" && zip -qr9X "$OLDPWD/dist/$name.zip" "$name")
  check_windows "$tree"
}

# check_windows FOLDER: the programs start under Wine and say their version, the window has its icon and no library that Windows
# does not have. Wine draws no OpenGL without a display, so the window itself is not looked at here.
check_windows() {
  local library
  for library in $(objdump -p "$1/coffer-window.exe" | awk '/DLL Name/ { print tolower($3) }' | sort -u); do
    case $library in
      kernel32.dll | user32.dll | gdi32.dll | shell32.dll | opengl32.dll | msvcrt.dll | advapi32.dll | ole32.dll | winmm.dll | api-ms-win-* | ucrtbase.dll | ws2_32.dll) ;;
      *) die "coffer-window.exe needs $library, which Windows does not have" ;;
    esac
  done
  objdump -h "$1/coffer-window.exe" | grep -q '\.rsrc' || die "coffer-window.exe has no icon"
  . .ci/bindings.sh
  export WINEPREFIX="$work/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" WINESERVER=/usr/lib/wine/wineserver64
  trap '"$WINESERVER" -k -w 2>/dev/null; rm -rf -- "$work"' EXIT # this folder's server only
  wine_prefix
  local program said
  for program in coffer-window.exe coffer.exe; do
    said=$(cd "$1" && timeout 120 /usr/lib/wine/wine64 "./$program" "$([ $program = coffer.exe ] && echo version || echo --version)" 2>/dev/null | tr -d '\r' | head -n 1)
    [ "$said" = "${program%.exe} $version" ] || die "$program under wine says: $said"
  done
  "$WINESERVER" -k -w || true
  trap 'rm -rf -- "$work"' EXIT
  unset WINEPREFIX WINEDEBUG WINEDLLOVERRIDES WINESERVER
  say "dist/coffer-$version-windows-amd64.zip: both programs start under wine"
}
