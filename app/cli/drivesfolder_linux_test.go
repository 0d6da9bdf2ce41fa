package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDrivesFolder: a drive without a mount point of its own appears in the folder of the settings, which is made, and its own
// folder goes with it; the folder and what else is in it stay.
func TestDrivesFolder(t *testing.T) {
	d := withDrives(t, "8MiB")
	config := filepath.Join(d.folder, "coffer") // where run has the configuration
	root := filepath.Join(d.folder, "my", "drives")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`{"drives": %q}`, root)
	if err := os.WriteFile(filepath.Join(config, "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, d.folder, 0, "unlock", "a.img", "--password-file", "pw")
	all := d.unlocked()
	want := filepath.Join(root, "a")
	if len(all) != 1 || all[0]["mountPoint"] != want {
		t.Fatalf("unlocked: %v, want a drive at %s", all, want)
	}
	if err := os.WriteFile(filepath.Join(want, "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, d.folder, 0, "lock", "a.img")
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("left in the folder of drives: %v, %v", left, err)
	}
	d.tidy()
}
