#!/bin/sh
# install.sh: Coffer for this user alone, without root: programs into ~/.local/bin, the entry of the menu, the file type and the
# icons into ~/.local/share.  install.sh --remove takes all of it away; containers, settings and reports stay.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
bin=${XDG_BIN_HOME:-$HOME/.local/bin}
share=${XDG_DATA_HOME:-$HOME/.local/share}
id=org.coffer.Coffer

# refresh tells the desktop, as far as the tools for that are there.
refresh() {
  if command -v update-mime-database >/dev/null 2>&1; then update-mime-database "$share/mime" || true; fi
  if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database "$share/applications" || true; fi
  if command -v gtk-update-icon-cache >/dev/null 2>&1; then gtk-update-icon-cache -qtf "$share/icons/hicolor" || true; fi
}

case "${1:-}" in
  --remove)
    rm -f "$bin/coffer" "$bin/coffer-window" "$share/applications/$id.desktop" "$share/mime/packages/$id.xml"
    find "$share/icons/hicolor" \( -name "$id.png" -o -name "$id.svg" \) -exec rm -f {} + 2>/dev/null || true
    refresh
    echo "Coffer is removed. Containers, settings and reports are where they were."
    exit 0 ;;
  "") ;;
  *) echo "usage: $0 [--remove]" >&2; exit 2 ;;
esac

mkdir -p "$bin" "$share/applications" "$share/mime/packages" "$share/icons"
for program in coffer coffer-window; do # a new file and a rename: one that runs is not written to
  cp "$here/bin/$program" "$bin/.$program.new"
  chmod 755 "$bin/.$program.new"
  mv -f "$bin/.$program.new" "$bin/$program"
done
# The menu may not know ~/.local/bin.
awk -v program="$bin/coffer-window" '
  /^Exec=coffer-window/ { rest = substr($0, length("Exec=coffer-window") + 1); print "Exec=\"" program "\"" rest; next }
  /^TryExec=/ { print "TryExec=" program; next }
  { print }' "$here/share/applications/$id.desktop" >"$share/applications/$id.desktop"
cp "$here/share/mime/packages/$id.xml" "$share/mime/packages/"
cp -R "$here/share/icons/hicolor" "$share/icons/"
refresh
echo "Coffer is installed: $bin/coffer-window, or Coffer in the menu."
command -v fusermount3 >/dev/null 2>&1 || echo "For drives, install the package fuse3. Without it the window still gets files in and out."
case ":$PATH:" in *":$bin:"*) ;; *) echo "For the command line, add $bin to the PATH." ;; esac
