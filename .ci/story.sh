# Sourced by ./run after .ci/package.sh: the story of a person and the window, with real events on a display without a screen. See .ci/story/story.py.

# story [--screenshots|--measure]: by default one variant, which is what the integration machine runs.
story() {
  need Xvfb:xvfb openbox:openbox xdotool:xdotool import:imagemagick xprop:x11-utils dbus-daemon:dbus fusermount3:fuse3 \
    "/usr/lib/$(uname -m)-linux-gnu/dri:libgl1-mesa-dri" /usr/bin/python3:python3 \
    /usr/lib/python3/dist-packages/gi:python3-gi "$(typelib):gir1.2-gtk-3.0" pngquant:pngquant
  window_needs
  scratch 5000000000
  mkdir "$work/bin"
  build
  cp bin/coffer "$work/bin/"
  say "coffer-window, with the probe"
  local measured=()
  if [[ " $* " == *" --measure "* ]]; then measured_loop; measured=(-modfile "$work/measured.mod"); fi
  go build -tags probe -ldflags "$(window_flags "$(version_of_checkout)")" "${measured[@]}" -o "$work/bin/coffer-window" ./app/coffer-window
  local apart=()
  if [[ " $* " == *" --screenshots "* ]] && unshare --mount true 2>/dev/null; then apart=(unshare --mount env COFFER_STORY_PLACES=1); fi
  "${apart[@]}" /usr/bin/python3 .ci/story/story.py --work "$work" --programs "$work/bin" "$@"
}

# typelib is where GTK 3 is described for Python.
typelib() { printf '/usr/lib/%s-linux-gnu/girepository-1.0/Gtk-3.0.typelib' "$(uname -m)"; }

# measured_loop makes $work/measured.mod for go build -modfile: Fyne with the time of each part of its loop noted.
measured_loop() {
  local fyne=$work/fyne driver
  cp -r "$(go list -m -f '{{.Dir}}' fyne.io/fyne/v2)" "$fyne"
  chmod -R u+w "$fyne"
  driver=$fyne/internal/driver/glfw
  sed -i -e 's/^\(\t*\)d\.pollEvents()$/\1spent(spentEvents, d.pollEvents)/' \
    -e 's/^\(\t*\)d\.drawSingleFrame()$/\1spent(spentDrawing, d.drawSingleFrame)/' \
    -e 's/^\(\t*\)f\.f()$/\1spent(spentPosted, f.f)/' "$driver/loop.go"
  [ "$(grep -c 'spent(spent' "$driver/loop.go")" = 3 ] || die "Fyne's loop has changed: see measured_loop in .ci/story.sh"
  cp .ci/story/loop_measured.go.txt "$driver/loop_measured.go"
  cp go.mod "$work/measured.mod"; cp go.sum "$work/measured.sum"
  go mod edit -replace "fyne.io/fyne/v2=$fyne" "$work/measured.mod"
}
