package vfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"coffer/container/block/blocktest"
)

// hasWinFsp: these tests hold on a machine with WinFsp and on one without.
func hasWinFsp() bool {
	_, err := winfspPath()
	return err == nil
}

// TestWindowsProbe: where WinFsp is missing, that is an error that says what to install, never a panic of cgofuse.
func TestWindowsProbe(t *testing.T) {
	err := Probe()
	if hasWinFsp() {
		if err != nil {
			t.Errorf("WinFsp is installed: %v", err)
		}
		return
	}
	if !errors.Is(err, ErrNoFUSE) || !strings.Contains(err.Error(), "install WinFsp") {
		t.Errorf("probe: %v", err)
	}
	v := openVolume(t, blocktest.NewMem(64<<20), 64<<20)
	defer v.Close()
	if _, err := MountVolume(context.Background(), v, "Q:", Options{}); !errors.Is(err, ErrNoFUSE) {
		t.Errorf("mount: %v", err)
	}
	// Somebody forgot to probe.
	if _, err := bindFS(newFS(v, Options{}, false), "Q:", Options{}); !errors.Is(err, ErrNoFUSE) {
		t.Errorf("bind: %v", err)
	}
}

// TestWindowsSecurity: the access list that is put on every file is one Windows understands, and lets in who it should.
func TestWindowsSecurity(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	for _, others := range []bool{false, true} {
		args := cgoArgs(Options{AllowOther: others})
		sddl, ok := strings.CutPrefix(args[len(args)-1], "--FileSecurity=")
		if !ok {
			t.Fatalf("options %q", args)
		}
		sd, err := windows.SecurityDescriptorFromString(sddl)
		if err != nil {
			t.Fatalf("%s: %v", sddl, err)
		}
		control, _, err := sd.Control()
		if err != nil || control&windows.SE_DACL_PROTECTED == 0 {
			t.Errorf("%s inherits rights: %v", sddl, err)
		}
		dacl, _, err := sd.DACL()
		if err != nil || dacl.AceCount != 1 {
			t.Fatalf("%s: %v", sddl, err)
		}
		if mine := strings.Contains(sddl, user.User.Sid.String()); mine == others {
			t.Errorf("others %v: %s", others, sddl)
		}
		if strings.ContainsAny(sddl, `,\ `) {
			t.Errorf("%s would be cut by the parser of options", sddl)
		}
	}
}

// TestWindowsVolumeArgs: what Windows shows of the volume.
func TestWindowsVolumeArgs(t *testing.T) {
	c, v, _ := windowsFS(t)
	defer v.Close()
	if err := v.SetLabel("MY DRIVE"); err != nil {
		t.Fatal(err)
	}
	args := strings.Join(cgoVolumeArgs(c.fs), " ")
	for _, want := range []string{"ExactFileSystemName=FAT32", "volname=MY DRIVE", "SectorSize=512", "SectorsPerAllocationUnit=1", "VolumeSerialNumber="} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is not in %q", want, args)
		}
	}
}

// TestWindowsPoints: letters and folders to mount at.
func TestWindowsPoints(t *testing.T) {
	letter, err := DefaultPoint("", "ignored")
	if err != nil || !isLetter(letter) {
		t.Fatalf("%q, %v", letter, err)
	}
	for _, spelt := range []string{letter, strings.ToLower(letter), letter + `\`} {
		if at, _, err := preparePoint(spelt, ""); err != nil || at != letter {
			t.Errorf("%q: %q, %v", spelt, at, err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", `C:`, `C:\`, "C:\\a\x00b", here, filepath.Join(here, "no", "such", "folder"), filepath.Join(os.Getenv("SystemRoot"), "drive")} {
		if at, _, err := preparePoint(bad, ""); !errors.Is(err, ErrPoint) {
			t.Errorf("%q: %q, %v", bad, at, err)
		}
	}
	free := filepath.Join(here, "free name")
	if at, made, err := preparePoint(free, ""); err != nil || at != free || made {
		t.Errorf("%q: %q, %v, %v", free, at, made, err)
	}
}

// TestWindowsUsers: a process is described by the name of its program.
func TestWindowsUsers(t *testing.T) {
	self := int(windows.GetCurrentProcessId())
	if pid, name := describeProcess(self); pid != self || name == "" {
		t.Errorf("this process is %d %q", pid, name)
	}
	if pid, name := describeProcess(0); pid != 0 || name != "" {
		t.Errorf("nobody is %d %q", pid, name)
	}
	users := new(userFinder).find("X:", []openHandle{{pid: self, path: "/mine"}, {pid: 4, path: "/theirs", write: true}})
	if len(users) != 1 || users[0].PID != 4 || !users[0].Write {
		t.Errorf("users %+v", users)
	}
}
