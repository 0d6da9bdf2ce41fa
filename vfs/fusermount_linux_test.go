//go:build linux && !cgofuse

package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// TestHelperFails: what the helper says last is in the error, and tells what kind of failure it is.
func TestHelperFails(t *testing.T) {
	for _, c := range []struct {
		script, want string
		kind         error
	}{
		{"echo 'fusermount3: some warning' >&2; echo 'fusermount3: mount failed: Operation not permitted' >&2; exit 1", "fusermount3: mount failed: Operation not permitted", ErrNoFUSE},
		{"echo 'fusermount3: fuse device not found, try '\\''modprobe fuse'\\'' first'; exit 1", "fuse device not found", ErrNoFUSE},
		{"echo 'fusermount3: user has no write access to mountpoint /x' >&2; exit 1", "no write access to mountpoint /x", ErrPoint},
		{"echo 'fusermount3: mounting over filesystem type 0x1 is forbidden' >&2; exit 1", "is forbidden", ErrPoint},
		{"echo 'fusermount3: too many FUSE filesystems mounted; mount_max=N can be set in /etc/fuse.conf' >&2; exit 1", "too many FUSE filesystems mounted; mount_max=N can be set in /etc/fuse.conf", nil},
		{"exit 3", "said nothing: exit status 3", ErrNoFUSE},
		{"exit 0", "sent no device", nil},
		{"printf '%5000s' x >&2; printf 'a\\377b' >&2; exit 1", "a?b", nil},
		{"printf 'y%.0s' $(seq 5000) >&2; exit 1", "yyy...", nil},
		{"kill -9 $$", "signal: killed", ErrNoFUSE},
	} {
		helper := filepath.Join(t.TempDir(), "fusermount3")
		if err := os.WriteFile(helper, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := mountByHelper(helper, t.TempDir(), &fuse.MountOptions{Name: "coffer", MaxWrite: requestBytes})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %q", c.script, err, c.want)
			continue
		}
		if c.kind == nil && (errors.Is(err, ErrNoFUSE) || errors.Is(err, ErrPoint)) {
			t.Errorf("%s: taken for another kind: %v", c.script, err)
		}
		if len(err.Error()) > 500 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", c.script, err)
		}
	}
}

// TestHelperOptions: a name cannot smuggle in an option.
func TestHelperOptions(t *testing.T) {
	got := helperOptions(&fuse.MountOptions{Options: []string{"nosuid", "ro"}, FsName: `a,suid\,dev`, Name: "coffer", MaxWrite: 4096})
	if want := `nosuid,ro,fsname=a\,suid\\\,dev,subtype=coffer,max_read=4096`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := helperOptions(&fuse.MountOptions{AllowOther: true}); !strings.HasSuffix(got, ",allow_other") {
		t.Errorf("%s", got)
	}
}

// TestHelperLooksLikeItself: a file that cannot be run is no helper.
func TestHelperLooksLikeItself(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fusermount3"), []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if path, err := fusermount(); err != nil || strings.HasPrefix(path, dir) {
		t.Errorf("%q %v", path, err)
	}
	if err := os.Chmod(filepath.Join(dir, "fusermount3"), 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := fusermount(); err != nil || path != filepath.Join(dir, "fusermount3") {
		t.Errorf("%q %v", path, err)
	}
}
