//go:build unix && !darwin

package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDesktopEntry(t *testing.T) {
	e := desktopEntry{filepath.Join(t.TempDir(), "autostart", entryName)}
	is := func(want bool) {
		t.Helper()
		if on, err := e.enabled(); err != nil || on != want {
			t.Errorf("enabled: %v, %v", on, err)
		}
	}
	is(false)
	if err := e.disable(); err != nil {
		t.Errorf("switch off what is off: %v", err)
	}
	if err := e.enable("/opt/coffer/coffer-window"); err != nil {
		t.Fatal(err)
	}
	is(true)
	raw, err := os.ReadFile(e.path)
	if err != nil || !strings.Contains(string(raw), "\nExec=\"/opt/coffer/coffer-window\" --hidden\n") {
		t.Errorf("%s, %v", raw, err)
	}
	// As desktops switch it off.
	if err := os.WriteFile(e.path, append(raw, "Hidden=true\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	is(false)
	if err := e.enable("/opt/coffer/coffer-window"); err != nil {
		t.Fatal(err)
	}
	is(true)
	if err := e.disable(); err != nil {
		t.Fatal(err)
	}
	is(false)
	if err := e.enable("/opt/a\nExec=evil"); err == nil {
		t.Error("a path with a line end was written")
	}
}

// TestExecIsQuoted: whatever the path, the value stands for it and the flag, by the rules of the desktop entry format: first
// the escapes of a value, then the quotes of the key Exec.
func TestExecIsQuoted(t *testing.T) {
	for _, path := range []string{"/plain", "/with space/x", `/quo"te`, "/dollar$HOME", "/back`tick`", `/back\slash`, "/percent%f", "/semi;colon&x"} {
		value := strings.ReplaceAll(quoteExec(path), `\\`, `\`) // the escapes of a value: only this one is used
		// Double quotes of Exec are those of the shell, and %% is a percent sign.
		out, err := exec.Command("sh", "-c", "printf %s "+strings.ReplaceAll(value, "%%", "%")).Output()
		if err != nil || string(out) != path {
			t.Errorf("%q is written as %s, which is %q, %v", path, quoteExec(path), out, err)
		}
	}
}
