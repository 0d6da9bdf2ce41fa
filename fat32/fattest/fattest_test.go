package fattest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/fat32/fattest"
)

// TestFsck: nothing is said of a sound volume, and something of one whose two FATs differ.
func TestFsck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a volume: 1 files.img")
	if err := os.WriteFile(path, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(fattest.Tool(t, "mkfs.vfat", "dosfstools"), "-F", "16", path).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.vfat: %v\n%s", err, out)
	}
	if said := fattest.Fsck(t, path); said != "" {
		t.Errorf("of a sound volume: %q", said)
	}
	volume, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reserved := int(volume[14]) | int(volume[15])<<8
	volume[reserved*512+20] ^= 0x55
	if err := os.WriteFile(path, volume, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := fattest.Fsck(t, path); !strings.Contains(said, "exit status 1") || !strings.Contains(said, "FATs differ") {
		t.Errorf("of a damaged volume: %q", said)
	}
}
