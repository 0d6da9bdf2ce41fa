//go:build unix

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/adrg/xdg"
)

// TestWithoutAHome: nothing is ever put into folders of the root.
func TestWithoutAHome(t *testing.T) {
	t.Cleanup(xdg.Reload) // after the variables are as they were
	t.Setenv("HOME", "")
	for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(variable, "")
	}
	t.Setenv("XDG_DATA_HOME", "/named")
	xdg.Reload()
	p := Locate("")
	if p.SettingsFile() != "" || p.LogFile() != "" || p.RecordsFolder() != "/named/coffer/records" {
		t.Errorf("settings %q, log %q, records %q", p.SettingsFile(), p.LogFile(), p.RecordsFolder())
	}
	if got, err := Load(p.SettingsFile()); err != nil || got != Defaults() {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("XDG_DATA_HOME", "relative")
	xdg.Reload()
	if p = Locate(""); p.RecordsFolder() != "" {
		t.Errorf("records %q", p.RecordsFolder())
	}
}

// TestRuntimeFolderFollowsTheSession: the folder of the session counts if it is this user's; else there is one for all
// sessions, and none in the root.
func TestRuntimeFolderFollowsTheSession(t *testing.T) {
	t.Cleanup(xdg.Reload)
	session := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", session)
	if got, err := RuntimeFolder(); err != nil || got != filepath.Join(session, "coffer") {
		t.Errorf("%q %v", got, err)
	}
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	xdg.Reload()
	common := []string{filepath.Join(state, "coffer", "run"), fmt.Sprintf("/run/user/%d/coffer", os.Geteuid())}
	for name, value := range map[string]string{"missing": filepath.Join(session, "missing"), "relative": ".", "unset": ""} {
		t.Setenv("XDG_RUNTIME_DIR", value)
		if got, err := RuntimeFolder(); err != nil || !slices.Contains(common, got) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if os.Geteuid() == 0 { // only root can make a folder of somebody else
		if err := os.Chown(session, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_RUNTIME_DIR", session)
		if got, err := RuntimeFolder(); err != nil || !slices.Contains(common, got) {
			t.Errorf("another user's: %q %v", got, err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(session, link); err != nil {
			t.Fatal(err)
		}
		if err := makePrivate(link); err == nil {
			t.Error("a link was taken for a folder")
		}
		if err := makePrivate(session); err == nil {
			t.Error("another user's folder was taken for ours")
		}
	}
	for _, mode := range []os.FileMode{0o755, 0o710, 0o701} {
		open := t.TempDir()
		if err := os.Chmod(open, mode); err != nil {
			t.Fatal(err)
		}
		if err := makePrivate(open); err == nil {
			t.Errorf("a folder with mode %v was taken for private", mode)
		}
	}
}
