package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asStranger runs a shell script as an ordinary user of a name space of its own, in which setup has been run by its root.
func asStranger(t *testing.T, folder, setup, script string) (code int, stdout, stderr string) {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatalf("%v: install the Debian package util-linux", err)
	}
	command := exec.Command(unshare, "-Urm", "sh", "-ec", setup+`; exec unshare -U --map-user=65534 --map-group=65534 sh -c "$1"`, "sh", script)
	return startCommand(t, folder, command).wait()
}

// TestFusermountFails: the reason that fusermount3 gives is told, with the exit code for systems that cannot mount or not;
// nothing is left behind, and what needs no drive works.
func TestFusermountFails(t *testing.T) {
	d := withDrives(t, "32MiB")
	real, err := exec.LookPath("fusermount3")
	if err != nil {
		t.Fatalf("%v: install the Debian package fuse3", err)
	}
	bin := filepath.Join(d.folder, "bin")
	unlock := program + " unlock a.img mnt --password-file pw"
	for _, c := range []struct {
		says string // what a helper in its place says; "": there is none
		want string
		code int
	}{
		{"fusermount3: mount failed: Operation not permitted", "fusermount3: mount failed: Operation not permitted\nhint: without it `coffer unlock --no-mount`", 10},
		{"fusermount3: user has no write access to mountpoint /x", "no write access to mountpoint /x\nhint: name an empty folder", 1},
		{"fusermount3: too many FUSE filesystems mounted", "mnt: fusermount3: too many FUSE filesystems mounted\n", 1},
		{"", "fusermount3 is missing: install the package fuse3\nhint: without it `coffer unlock --no-mount`", 10},
	} {
		setup, script := "mount --bind /dev/null "+real, unlock
		if c.says != "" {
			path := filepath.Join(bin, "fusermount3")
			writeFile(t, path, []byte("#!/bin/sh\necho 'fusermount3: a warning' >&2\necho '"+c.says+"' >&2\nexit 1\n"))
			if err := os.Chmod(path, 0o700); err != nil {
				t.Fatal(err)
			}
			setup, script = "true", "PATH="+bin+":$PATH "+unlock
		}
		code, out, stderr := asStranger(t, d.folder, setup, script)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "a warning") {
			t.Errorf("exit code %d, want %d and %q\n%s%s", code, c.code, c.want, out, stderr)
		}
		if _, err := os.Lstat(d.point); !os.IsNotExist(err) {
			t.Errorf("the mount point is left: %v", err)
		}
		d.tidy()
	}
	code, out, stderr := asStranger(t, d.folder, "mount --bind /dev/null "+real,
		program+" unlock a.img --no-mount --password-file pw && "+program+" ls a.img:/ && "+program+" lock a.img")
	if code != 0 {
		t.Errorf("without a drive: exit code %d\n%s%s", code, out, stderr)
	}
}
