// Package fattest lets tests ask other programs about FAT volumes.
package fattest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tool returns the path of a program that the test needs, also where only root has it on its PATH. Without it the test fails
// and names the Debian package.
func Tool(t testing.TB, name, debian string) string {
	t.Helper()
	for _, folder := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(folder + name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing: apt-get install %s", name, debian)
	return ""
}

// Saver is a device that can be written to a file.
type Saver interface{ Save(path string) error }

// Save writes a device into a file that goes with the test.
func Save(t testing.TB, device Saver) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "volume.img")
	if err := device.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

var fsckSummary = regexp.MustCompile(`^.*: \d+ files, \d+/\d+ clusters$`)

// Fsck returns what fsck.vfat -n says of the volume in a file, without banner and summary, and its exit code unless that is
// 0: "" if it finds nothing at all.
func Fsck(t testing.TB, path string) string {
	t.Helper()
	out, err := exec.Command(Tool(t, "fsck.vfat", "dosfstools"), "-n", path).CombinedOutput()
	var rest []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "fsck.fat ") && !fsckSummary.MatchString(line) {
			rest = append(rest, line)
		}
	}
	if err != nil {
		rest = append(rest, err.Error())
	}
	return strings.TrimSpace(strings.Join(rest, "\n"))
}

// FsckDevice is Fsck of a device.
func FsckDevice(t testing.TB, device Saver) string {
	t.Helper()
	path := Save(t, device)
	defer os.Remove(path)
	return Fsck(t, path)
}
