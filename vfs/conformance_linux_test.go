package vfs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/fat32/fattest"
	"coffer/vfs/internal/conformance"
)

// pointVariable tells TestConformanceCases where the drive is.
const pointVariable = "COFFER_CONFORMANCE_POINT"

// TestConformance runs the suite that every binding must pass, over the one of this build, in a process of its own: a page
// fault in a mapped file stops a thread of the program where its runtime cannot tell, and if that program is also the one that
// serves the drive, both wait for each other sooner or later.
func TestConformance(t *testing.T) {
	v, _ := newVolume(t, 128<<20)
	m := mountTest(t, v, Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t), self, "-test.run=^TestConformanceCases$", "-test.v", "-test.short="+strconv.FormatBool(testing.Short()))
	cmd.Env = append(os.Environ(), pointVariable+"="+m.Point())
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), passedCase); err != nil || n != len(conformance.Cases()) {
		t.Fatalf("%d of %d cases passed: %v\n%s", n, len(conformance.Cases()), err, out)
	}
	t.Logf("%s", out)
}

// passedCase is what the suite prints for every case that passed.
const passedCase = "    --- PASS: TestConformanceCases/"

// TestConformanceCases is the process of TestConformance.
func TestConformanceCases(t *testing.T) {
	if point, ok := os.LookupEnv(pointVariable); ok {
		conformance.Run(t, point)
	}
}

// userID is whom the tests stand for as an ordinary user: nobody.
const userID = "65534"

// TestConformanceAsUser runs this test program again as an ordinary user, who mounts through fusermount3.
func TestConformanceAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // TestConformance has been that
	}
	dir := userDir(t)
	cmd := exec.Command(fattest.Tool(t, "setpriv", "util-linux"), "--reuid="+userID, "--regid="+userID, "--clear-groups", "--inh-caps=-all",
		filepath.Join(dir, "vfs.test"), "-test.run=^TestConformance$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), passedCase); n != len(conformance.Cases()) {
		t.Errorf("%d of %d cases passed as an ordinary user:\n%s", n, len(conformance.Cases()), out)
	}
}

// userDir makes a folder for the ordinary user with a copy of this test program in it.
func userDir(t *testing.T) string {
	t.Helper()
	if info, err := os.Stat("/dev/fuse"); err != nil || info.Mode().Perm() != 0o666 {
		t.Fatalf("/dev/fuse is not open to ordinary users, as distributions have it: chmod 666 /dev/fuse (%v)", err)
	}
	dir, err := os.MkdirTemp("", "coffer-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vfs.test"), self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	return dir
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
