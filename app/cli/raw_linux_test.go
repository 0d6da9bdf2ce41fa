package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rawLab is a folder in which the documented commands run as they stand: "coffer" on its PATH is the real program, given
// the password a person would type.
type rawLab struct {
	t      *testing.T
	folder string
	env    []string
	blocks map[string]string // documented commands by name
	prefix []string          // of every command: who runs it
}

// rawTools are the programs that the documentation of raw mounts calls, and their Debian packages.
var rawTools = map[string]string{
	"mke2fs": "e2fsprogs", "e2fsck": "e2fsprogs", "debugfs": "e2fsprogs", "fuse2fs": "fuse2fs", "fusermount3": "fuse3",
	"mkntfs": "ntfs-3g", "ntfs-3g": "ntfs-3g", "ntfsfix": "ntfs-3g", "ntfscp": "ntfs-3g", "setpriv": "util-linux", "unshare": "util-linux",
	"mkfs.exfat": "exfatprogs", "fsck.exfat": "exfatprogs",
}

// newRawLab makes the folder, with some real files in ~/Documents. What is mounted or unlocked in it at the end of the
// test is put away.
func newRawLab(t *testing.T) *rawLab {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for tool, pkg := range rawTools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v: install the Debian package %s", err, pkg)
		}
	}
	folder, err := os.MkdirTemp("", "raw") // short: the name of a socket ends at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	l := &rawLab{t: t, folder: folder, blocks: documentedBlocks(t, "../../vfs/docs/raw.md")}
	l.write("pw", []byte("correct horse\n"))
	executable, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	l.write("real/coffer", executable) // where an ordinary user can reach it
	l.write("bin/coffer", fmt.Appendf(nil, `#!/bin/sh
verb=$1; shift
case $verb in
create) exec %[1]s/real/coffer create "$@" --password-file %[1]s/pw --kdf-memory=64KiB --kdf-time=1 ;;
unlock|check|dump) exec %[1]s/real/coffer "$verb" "$@" --password-file %[1]s/pw ;;
esac
exec %[1]s/real/coffer "$verb" "$@"
`, folder))
	for _, name := range []string{"bin/coffer", "real/coffer"} {
		if err := os.Chmod(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.env = append(os.Environ(), "PATH="+folder+"/bin:"+os.Getenv("PATH"), "HOME="+folder+"/home", "XDG_RUNTIME_DIR="+folder+"/run",
		"XDG_DATA_HOME="+folder+"/home/data", "XDG_CONFIG_HOME="+folder+"/home/config", "XDG_STATE_HOME="+folder+"/home/state")
	l.write("home/Documents/notes.txt", []byte("the notes\n"))
	for i := range 40 {
		l.write(fmt.Sprintf("home/Documents/folder %d/Übung №%d.bin", i%5, i), randomBytes(i*i*997, uint64(i)))
	}
	l.write("home/Documents/big.bin", randomBytes(24<<20, 99))
	t.Cleanup(func() {
		if out, err := l.try("fusermount3 -uz drive 2>&- || true; coffer lock --all --force"); err != nil {
			t.Errorf("lock what is left: %v\n%s", err, out)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return l
}

// ordinaryUser is somebody without rights, whom every system knows.
const ordinaryUser = 65534

// ordinary gives the lab to a user without rights, who runs all of it. Without root that is who runs the tests.
func (l *rawLab) ordinary() {
	l.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(l.folder, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, ordinaryUser, ordinaryUser))
	})
	if err != nil {
		l.t.Fatal(err)
	}
	id := strconv.Itoa(ordinaryUser)
	l.prefix = []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}
}

// documentedBlocks reads the commands of a document: a fenced block after <!-- tested: NAME -->.
func documentedBlocks(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, found := range regexp.MustCompile("(?s)<!-- tested: ([a-z0-9 ]+) -->\n```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks[found[1]] = found[2]
	}
	if fences := strings.Count(string(text), "```sh"); fences != len(blocks) || fences == 0 {
		t.Fatalf("%s has %d blocks of commands, and %d of them are tested", path, fences, len(blocks))
	}
	return blocks
}

func (l *rawLab) write(name string, content []byte) {
	l.t.Helper()
	writeFile(l.t, filepath.Join(l.folder, name), content)
}

// try runs commands in the lab and gives what they wrote.
func (l *rawLab) try(commands string) (string, error) {
	words := append(slices.Clone(l.prefix), "bash", "-c", "set -eu -o pipefail\n"+commands)
	shell := exec.Command(words[0], words[1:]...)
	shell.Dir, shell.Env = l.folder, l.env
	shell.SysProcAttr = noTerminal()
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	shell.WaitDelay = time.Second // programs that stay behind may keep the output open
	err := shell.Start()
	if err != nil {
		return "", err
	}
	timer := time.AfterFunc(2*time.Minute, func() { _ = syscall.Kill(shell.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	err = shell.Wait()
	if err != nil && shell.ProcessState != nil && shell.ProcessState.Success() {
		err = nil // only the output was left open
	}
	return out.String(), err
}

// do is try for commands that must succeed.
func (l *rawLab) do(commands string) string {
	l.t.Helper()
	out, err := l.try(commands)
	if err != nil {
		l.t.Fatalf("%v\n%s---\n%s", err, commands, out)
	}
	return out
}

// documented runs a block of the document.
func (l *rawLab) documented(name string) string {
	l.t.Helper()
	commands, ok := l.blocks[name]
	if !ok {
		l.t.Fatalf("the document has no commands called %q", name)
	}
	return l.do(commands)
}

// agent is the process that holds the container open.
func (l *rawLab) agent() int {
	l.t.Helper()
	out := l.do(`coffer list --json`)
	found := regexp.MustCompile(`"pid": ?([0-9]+)`).FindStringSubmatch(out)
	if found == nil {
		l.t.Fatalf("no agent in the list: %s", out)
	}
	pid, err := strconv.Atoi(found[1])
	if err != nil {
		l.t.Fatal(err)
	}
	return pid
}

// TestRawDocumented runs every documented command, compares what went in with what is found later, and lets the tools of
// each system check it.
func TestRawDocumented(t *testing.T) {
	for _, c := range []struct{ system, image, mount, check string }{
		{"ext4", "linux.img", "fuse2fs device/disk drive -o ro,fakeroot", "e2fsck -f -n device/disk"},
		{"ntfs", "windows.img", "ntfs-3g -o ro device/disk drive", "ntfsfix -n device/disk"},
		{"ntfstools", "windows.img", "", "ntfsfix -n device/disk\ndiff copy.txt home/Documents/notes.txt"},
		{"exfat", "camera.img", "", "fsck.exfat -n device/disk"},
	} {
		t.Run(c.system, func(t *testing.T) {
			l := newRawLab(t)
			if c.system != "ntfs" {
				l.ordinary()
			} else if os.Getuid() != 0 {
				t.Fatal("ntfs-3g needs root (./run test in CI has it)")
			}
			for _, stage := range []string{"make", "use", "read"} {
				if _, ok := l.blocks[c.system+" "+stage]; ok || stage == "make" {
					l.documented(c.system + " " + stage)
				}
			}
			if out := l.do("coffer list --json"); strings.Contains(out, `"pid"`) {
				t.Errorf("still unlocked: %s", out)
			}
			before, err := os.Stat(filepath.Join(l.folder, c.image))
			if err != nil {
				t.Fatal(err)
			}
			look := c.check
			if c.mount != "" {
				look += "\n" + c.mount + "\ndiff -r home/Documents drive/Documents\nfusermount3 -u drive"
			}
			l.do("coffer unlock --raw --read-only " + c.image + " device\n" + look + "\ncoffer lock " + c.image)
			after, err := os.Stat(filepath.Join(l.folder, c.image))
			if err != nil || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("reading changed the container: %v, before %v (%v)", after.ModTime(), before.ModTime(), err)
			}
		})
	}
}

// TestReadmeDrive runs what the first page of the documentation shows about drives.
func TestReadmeDrive(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)\n## A drive\n\n```sh\n(.*?)```").FindStringSubmatch(string(text))
	if found == nil || !strings.Contains(found[1], "coffer unlock photos.img ~/photos") {
		t.Fatalf("the commands are not where this test looks: %q", found)
	}
	l := newRawLab(t)
	l.write("home/Pictures/a.jpg", randomBytes(100_000, 9))
	l.ordinary()
	out := l.do(found[1])
	for _, line := range []string{"/home/photos\n", "photos.img", "locked "} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in:\n%s", line, out)
		}
	}
	l.do("test ! -e ~/photos; coffer unlock photos.img ~/photos; cmp ~/Pictures/a.jpg ~/photos/Pictures/a.jpg; coffer lock ~/photos")
}

// TestRawKilledUnderFuse2fs kills the agent while fuse2fs has the device: the stale mount is cleaned up, e2fsck is content,
// and what was synced is there.
func TestRawKilledUnderFuse2fs(t *testing.T) {
	l := newRawLab(t)
	l.ordinary()
	l.documented("ext4 make")
	l.do(`coffer unlock --raw linux.img device
		fuse2fs device/disk drive -o fakeroot
		cp -r drive/Documents drive/again
		sync -f drive
		cp home/Documents/big.bin drive/unsynced`)
	if err := syscall.Kill(l.agent(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	out := l.do(`coffer list 2>&1; fusermount3 -u drive || fusermount3 -uz drive; mount`)
	if strings.Contains(out, l.folder) && !strings.Contains(out, "was detached") || strings.Contains(out, l.folder+"/device type") {
		t.Errorf("after the kill:\n%s", out)
	}
	// e2fsck says 1 for what it has put in order; 4 and above are errors.
	l.do(`coffer unlock --raw linux.img device
		e2fsck -f -y device/disk || test $? -eq 1
		e2fsck -f -n device/disk
		fuse2fs device/disk drive -o ro,fakeroot
		diff -r home/Documents drive/Documents
		diff -r home/Documents drive/again
		fusermount3 -u drive
		coffer lock linux.img`)
}

// TestRawJournal has a real kernel's ext4 on the device, and kills the agent while files are written and synced. The
// journal is left open, e2fsck replays it, and every file whose fsync had returned is there, byte for byte.
func TestRawJournal(t *testing.T) {
	umlrun, err := filepath.Abs("../../.ci/umlrun")
	if err != nil {
		t.Fatal(err)
	}
	l := newRawLab(t)
	l.write("writer", []byte(`cd "$1"
losetup /dev/loop0 device/disk || exit 3
mount -t ext4 -o commit=1 /dev/loop0 /mnt || exit 4
for i in $(seq 10000); do
  mkdir -p /mnt/d$((i % 7)) && head -c $((i * 7919 % 100000)) /dev/urandom > /mnt/d$((i % 7))/f$i &&
  sync /mnt/d$((i % 7))/f$i && (cd /mnt && sha256sum d$((i % 7))/f$i) > line && cat line >> synced || exit 5
done
`))
	l.write("synced", nil)
	l.do(`coffer create journal.img --size 300MiB
		mkdir device drive
		coffer unlock --raw journal.img device
		mke2fs -q -F -t ext4 device/disk`)
	writer := exec.Command(umlrun, filepath.Join(l.folder, "writer"), l.folder)
	var said bytes.Buffer
	writer.Stdout, writer.Stderr, writer.SysProcAttr = &said, &said, noTerminal()
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- writer.Wait() }()
	deadline := time.Now().Add(2 * time.Minute)
	for l.synced() < 25 {
		select {
		case err := <-ended:
			t.Fatalf("the writer ended after %d files: %v\n%s", l.synced(), err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("only %d files in two minutes", l.synced())
		}
	}
	if err := syscall.Kill(l.agent(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the writer noticed nothing")
	}
	l.do(`coffer unlock --raw journal.img device`)
	if out := l.do(`dumpe2fs -h device/disk`); !strings.Contains(out, "needs_recovery") {
		t.Errorf("no journal was left open, so this tests nothing:\n%s", out)
	}
	if out, err := l.try(`e2fsck -p device/disk || test $? -eq 1`); err != nil || !strings.Contains(out, "recovering journal") {
		t.Fatalf("e2fsck: %v\n%s", err, out)
	}
	l.do(`e2fsck -f -n device/disk
		fuse2fs device/disk drive -o ro,fakeroot
		(cd drive && sha256sum --quiet -c ../synced)
		fusermount3 -u drive
		coffer lock journal.img`)
	t.Logf("%d files were synced before the kill", l.synced())
}

// synced is the number of files whose fsync had returned.
func (l *rawLab) synced() int {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.folder, "synced"))
	if err != nil {
		l.t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// TestRawLockWaits: an unforced lock waits for the program of an inner drive that was unmounted, says after a while who
// is in the way when it does not end, and gives way at once to SIGTERM.
func TestRawLockWaits(t *testing.T) {
	l := newRawLab(t)
	l.do("coffer create w.img --size 32MiB; mkdir device drive; coffer unlock --raw w.img device")
	hold := func(seconds string) {
		l.do("sleep " + seconds + " <> device/disk >&- 2>&- & sleep 0.2")
	}
	hold("1.5")
	begin := time.Now()
	l.do("coffer lock w.img")
	if took := time.Since(begin); took < time.Second {
		t.Errorf("locked after %v, while a program still had the device", took)
	}
	l.do("coffer unlock --raw w.img device")
	hold("30")
	out, err := l.try("coffer lock w.img")
	if err == nil || !regexp.MustCompile(`in use by sleep \(process [0-9]+\), which writes .*/device/disk`).MatchString(out) {
		t.Errorf("%v: %s", err, out)
	}
	pid, waiting := l.agent(), make(chan error, 1)
	go func() {
		_, err := l.try("coffer lock w.img")
		waiting <- err
	}()
	time.Sleep(time.Second)
	begin = time.Now()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, pid, 5*time.Second)
	t.Logf("ended %v after SIGTERM", time.Since(begin))
	<-waiting
}
