package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// directIO reads and writes past the kernel's cache and mixes that with cached access.
func directIO(t *testing.T, dir string) {
	p := filepath.Join(dir, "direct")
	want := bytes.Repeat([]byte("direct! "), 3*4096/8)
	must(t, os.WriteFile(p, want, 0o600))
	f, err := os.OpenFile(p, os.O_RDWR|syscall.O_DIRECT, 0)
	must(t, err)
	defer f.Close()
	buf := make([]byte, 2*4096)
	if skip := int(uintptr(unsafe.Pointer(&buf[0])) & 4095); skip > 0 {
		buf = buf[4096-skip:]
	}
	buf = buf[:4096]
	_, err = f.ReadAt(buf, 4096)
	must(t, err)
	if !bytes.Equal(buf, want[4096:8192]) {
		t.Error("a direct read differs")
	}
	copy(buf, bytes.Repeat([]byte("DIRECT! "), 512))
	_, err = f.WriteAt(buf, 4096)
	must(t, err)
	copy(want[4096:], buf)
	wantFile(t, p, string(want))
}
