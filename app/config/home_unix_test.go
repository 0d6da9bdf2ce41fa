//go:build unix

package config

import (
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
