package secret_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"coffer/container/secret"
)

// TestMain runs the helper when the test binary was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "secret-helper" {
		helper()
		return
	}
	os.Exit(m.Run())
}

// helper hardens itself, touches the page behind a secret and prints what
// happened. The fault kills it.
func helper() {
	if err := secret.HardenProcess(); err != nil {
		fmt.Println(err)
		return
	}
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	var limit unix.Rlimit
	err2 := unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	fmt.Println("dumpable", dumpable, err, "core", limit.Cur, limit.Max, err2)
	b, err := secret.New(4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	behind := unsafe.Add(unsafe.Pointer(&b.Bytes()[0]), 4096)
	fmt.Println("guard", *(*byte)(behind))
}

// TestHardenAndGuard: a hardened process leaves no core, and running over the
// end of a secret ends the program instead of reading on.
func TestHardenAndGuard(t *testing.T) {
	out, err := exec.Command(os.Args[0], "secret-helper").CombinedOutput()
	if !strings.HasPrefix(string(out), "dumpable 0 <nil> core 0 0 <nil>\n") {
		t.Errorf("hardening: %s", out)
	}
	if err == nil || strings.Contains(string(out), "guard 0") {
		t.Errorf("the page behind a secret can be read: %s", out)
	}
}

// TestMappingFlags looks at the kernel's view: locked and not dumped.
func TestMappingFlags(t *testing.T) {
	b, err := secret.New(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, entry, found := strings.Cut(string(smaps), fmt.Sprintf("%08x-", uintptr(unsafe.Pointer(&b.Bytes()[0]))))
	if !found {
		t.Fatal("the mapping is not listed on its own")
	}
	_, flags, _ := strings.Cut(entry, "VmFlags:")
	flags, _, _ = strings.Cut(flags, "\n")
	for _, want := range []string{" lo ", " dd "} { // locked, don't dump
		if !strings.Contains(flags+" ", want) {
			t.Errorf("flags %q lack %q", flags, want)
		}
	}
}
