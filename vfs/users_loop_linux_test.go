package vfs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestLoopDevicesAreUsers(t *testing.T) {
	blocks := t.TempDir()
	for name, content := range map[string]string{
		"loop0/loop/backing_file": "/mnt/drive/disk\n", "loop0/ro": "0\n",
		"loop1/loop/backing_file": "/mnt/drive/a (deleted)\n", "loop1/ro": "1\n",
		"loop2/loop/backing_file": "/mnt/drive2/disk\n", "loop2/ro": "0\n",
		"loop3/ro": "0\n", "sda/ro": "0\n",
	} {
		path := filepath.Join(blocks, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, content)
	}
	s := &userSearch{mount: mountIdentity{point: "/mnt/drive"}}
	s.loopDevices(blocks)
	want := []User{{Program: "/dev/loop0", Path: "/mnt/drive/disk", Write: true}, {Program: "/dev/loop1", Path: "/mnt/drive/a"}}
	if !slices.Equal(s.found, want) {
		t.Errorf("%+v, want %+v", s.found, want)
	}
}
