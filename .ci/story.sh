# Sourced by ./run: the story of a person and the window, with real events on a display without a screen. See .ci/story/story.py.

# story [--screenshots|--measure]: by default one variant, which is what the integration machine runs.
story() {
  need Xvfb:xvfb openbox:openbox xdotool:xdotool import:imagemagick xprop:x11-utils dbus-daemon:dbus fusermount3:fuse3 \
    "/usr/lib/$(uname -m)-linux-gnu/dri:libgl1-mesa-dri" /usr/bin/python3:python3 gcc:gcc pkg-config:pkg-config \
    /usr/lib/python3/dist-packages/gi:python3-gi "$(typelib):gir1.2-gtk-3.0" pngquant:pngquant
  need_window
  scratch 5000000000
  mkdir "$work/bin"
  build
  cp bin/coffer "$work/bin/"
  say "coffer-window, with the probe"
  local measured=()
  if [[ " $* " == *" --measure "* ]]; then measured_loop; measured=(-overlay "$work/overlay.json"); fi
  go build -tags probe "${measured[@]}" -o "$work/bin/coffer-window" ./app/coffer-window
  /usr/bin/python3 .ci/story/story.py --work "$work" --programs "$work/bin" "$@"
}

# typelib is where GTK 3 is described for Python.
typelib() { printf '/usr/lib/%s-linux-gnu/girepository-1.0/Gtk-3.0.typelib' "$(uname -m)"; }

# measured_loop makes $work/overlay.json for go build: Fyne's loop of events, with the time of each part noted.
measured_loop() {
  local driver; driver=$(go list -f '{{.Dir}}' fyne.io/fyne/v2/internal/driver/glfw)
  sed -e 's/^\(\t*\)d\.pollEvents()$/\1spent(spentEvents, d.pollEvents)/' \
    -e 's/^\(\t*\)d\.drawSingleFrame()$/\1spent(spentDrawing, d.drawSingleFrame)/' \
    -e 's/^\(\t*\)f\.f()$/\1spent(spentPosted, f.f)/' "$driver/loop.go" > "$work/loop.go"
  [ "$(grep -c 'spent(spent' "$work/loop.go")" = 3 ] || die "Fyne's loop has changed: see measured_loop in .ci/story.sh"
  cp .ci/story/loop_measured.go.txt "$work/loop_measured.go"
  printf '{"Replace": {"%s": "%s", "%s": "%s"}}\n' "$driver/loop.go" "$work/loop.go" "$driver/loop_measured.go" "$work/loop_measured.go" > "$work/overlay.json"
}
