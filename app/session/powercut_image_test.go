package session

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/container"
	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/container/image"
	"coffer/container/kdf"
	"coffer/container/luks"
	"coffer/container/secret"
	"coffer/fat32"
)

// shape is a container and the volume in it, small so that hundreds of cuts can be looked at.
type shape struct {
	name    string
	usable  int64 // bytes of the payload
	unit    int   // data unit of the container, bytes
	format  fat32.FormatOptions
	discard bool // freed clusters are punched out of the image
	fill    bool // the workload fills the volume to the last clusters
}

// shapes are the kinds of volumes. The last but one has sectors smaller than the data unit, as foreign containers may:
// there every write of a sector rewrites a whole unit.
func shapes() []shape {
	return []shape{
		{name: "FAT12 4096", usable: 3 << 20, unit: 4096, format: fat32.FormatOptions{Type: fat32.FAT12, SectorSize: 4096}, fill: true},
		{name: "FAT16 512", usable: 3 << 20, unit: 512, format: fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512}, fill: true},
		{name: "FAT32 512", usable: 35 << 20, unit: 512, format: fat32.FormatOptions{Type: fat32.FAT32, ClusterSize: 512}},
		{name: "FAT16 discard", usable: 5 << 20, unit: 512, format: fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 1024}, discard: true, fill: true},
		{name: "FAT16 512 in 4096", usable: 5 << 20, unit: 4096, format: fat32.FormatOptions{Type: fat32.FAT16, SectorSize: 512, ClusterSize: 1024}, fill: true},
		{name: "FAT32 2048", usable: 35 << 20, unit: 2048, format: fat32.FormatOptions{Type: fat32.FAT32, SectorSize: 512, ClusterSize: 512}},
	}
}

// cheapKDF is the least a keyslot can cost: these tests are not about guessing.
var cheapKDF = kdf.Cost{MemoryKiB: 64, Iterations: 1, Threads: 1}

// passphrase makes a credential. The caller destroys it.
func passphrase(text string) (container.Credential, error) {
	password, err := secret.FromBytes([]byte(text))
	return container.Credential{Password: password, Slot: container.AnySlot}, err
}

// openImage unlocks the container on dev as `coffer` does, with a password.
func openImage(dev block.Device, text string, discard bool) (*container.Volume, error) {
	c, err := passphrase(text)
	if err != nil {
		return nil, err
	}
	defer c.Password.Destroy()
	return container.OpenDevice(context.Background(), dev, container.OpenOptions{Deriver: kdf.InProcess{}, AllowDiscard: discard}, c)
}

// makeImage creates a container with an empty volume in a new file.
func makeImage(t testing.TB, k shape, password string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	c, err := passphrase(password)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Password.Destroy()
	v, err := container.Create(context.Background(), path, container.CreateOptions{
		UsableBytes: k.usable, SectorSizeBytes: k.unit, KDF: cheapKDF, Deriver: kdf.InProcess{},
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fat32.Format(context.Background(), v, k.format)
	if err == nil {
		err = v.Sync()
	}
	if closeErr := v.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	return path
}

// recorder lies between an image file and the container: everything that changes the file is in its log, as ciphertext.
// Hints pass through unrecorded; they change nothing. What it does not have, the container cannot call:
// TestRecorderKnowsEveryCall fails when image files learn something new.
type recorder struct {
	*blocktest.Trace
	file *image.File
}

func record(t testing.TB, path string) *recorder {
	t.Helper()
	start, err := blocktest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := image.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{blocktest.NewTrace(f, start), f}
}

func (r *recorder) StartWriteback(off, n int64) error { return r.file.StartWriteback(off, n) }
func (r *recorder) Prefetch(off, n int64) error       { return r.file.Prefetch(off, n) }
func (r *recorder) DropCache(off, n int64) error      { return r.file.DropCache(off, n) }

// complete fails unless the log, replayed, gives the file byte for byte: nothing went past the recorder.
func (r *recorder) complete(t testing.TB) {
	t.Helper()
	replayed, err := r.Replay(r.Len())
	if err != nil {
		t.Fatal(err)
	}
	live, err := blocktest.Load(r.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := blocktest.Diff(replayed, live); err != nil {
		t.Fatalf("the log does not explain the image: %v", err)
	}
}

// TestRecorderKnowsEveryCall fails when image.File gets a method that nobody has sorted: one that changes the file would
// be missing from the logs.
func TestRecorderKnowsEveryCall(t *testing.T) {
	recorded := []string{"WriteAt", "Sync", "Truncate", "Discard", "Punch", "Close"}
	harmless := []string{"ReadAt", "Size", "Path", "ReadOnly", "AllocatedBytes", "FreeBytes", "StartWriteback", "Prefetch", "DropCache", "Traffic"}
	creation := []string{"SyncName", "Abandon"} // before a recording can begin
	trace := reflect.TypeFor[*recorder]()
	for _, name := range recorded {
		if _, ok := trace.MethodByName(name); !ok {
			t.Errorf("the recorder has no %s", name)
		}
	}
	known := slices.Concat(recorded, harmless, creation)
	file := reflect.TypeFor[*image.File]()
	for i := range file.NumMethod() {
		if name := file.Method(i).Name; !slices.Contains(known, name) {
			t.Errorf("image.File has a method %s that the recorder does not know", name)
		}
	}
}

// swapped is a device whose content is replaced between two uses, so that one unlocking serves many images with the same
// header: the payload is never cached by a container.
type swapped struct{ *blocktest.Mem }

// keyring is what is known of the passwords at some moment of a log.
type keyring struct {
	sure, gone map[string]bool
	either     []string // at least one of them opens, if there are any
}

// readMarks collects what the marks in events say: "key sure P", "key gone P", "key either P Q", "key maybe P".
func (k *keyring) readMarks(events []blocktest.Event) {
	for _, e := range events {
		words := strings.Fields(e.Label)
		if e.Kind != blocktest.Mark || len(words) < 3 || words[0] != "key" {
			continue
		}
		k.either = nil // every mark after "either" says how it ended
		for _, p := range words[2:] {
			delete(k.sure, p)
			delete(k.gone, p)
		}
		switch words[1] {
		case "sure":
			k.sure[words[2]] = true
		case "gone":
			k.gone[words[2]] = true
		case "either":
			k.either = words[2:]
		}
	}
}

// open unlocks an image with one of the passwords that must open it. With all set every password is tried, and must do
// what it has to.
func (k *keyring) open(dev block.Device, discard, all bool) (v *container.Volume, err error) {
	try := func(p string, must bool) error {
		w, err := openImage(dev, p, discard)
		switch {
		case err != nil && must:
			return fmt.Errorf("password %q: %w", p, err)
		case err != nil && !isAny(err, []error{container.ErrWrongKey}):
			return fmt.Errorf("password %q: %w, want at most a wrong key", p, err)
		case err == nil && k.gone[p]:
			return fmt.Errorf("password %q still opens the container", p)
		case err == nil && v == nil:
			v = w
		case err == nil:
			return w.Close()
		}
		return nil
	}
	opened := 0
	for _, p := range k.either {
		if err := try(p, false); err != nil {
			return v, err
		}
		if v != nil {
			opened++
		}
	}
	if len(k.either) > 0 && opened == 0 {
		return nil, fmt.Errorf("none of the passwords %q opens the container", k.either)
	}
	for p := range k.sure {
		if v == nil || all {
			if err := try(p, true); err != nil {
				return v, err
			}
		}
	}
	for p := range k.gone {
		if all {
			if err := try(p, false); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// editKeys runs a key operation on the image as the commands do it: the header read and repaired, the volume key taken
// out with the password.
func editKeys(dev block.Device, password string, edit func(h *luks.Header, key []byte, slot int, params kdf.Params) error) error {
	ctx := context.Background()
	h, err := luks.Read(dev)
	if err == nil {
		err = h.Repair(dev)
	}
	if err != nil {
		return err
	}
	key, slot, err := h.Unlock(ctx, dev, kdf.InProcess{}, kdf.DefaultLimits(), []byte(password), luks.AnySlot)
	if err != nil {
		return err
	}
	defer key.Destroy()
	params, err := kdf.Choose(ctx, kdf.InProcess{}, cheapKDF)
	if err != nil {
		return err
	}
	return edit(h, key.Bytes(), slot, params)
}

var fsckSummary = regexp.MustCompile(`^\S+: \d+ files, \d+/\d+ clusters$`)

// fsck runs fsck.vfat over the payload and returns what it says beside banner and summary.
func fsck(t testing.TB, d *Device) string {
	t.Helper()
	tool, err := exec.LookPath("fsck.vfat")
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if err != nil {
			tool, err = exec.LookPath(dir + "fsck.vfat")
		}
	}
	if err != nil {
		t.Fatal("fsck.vfat is missing: apt-get install dosfstools")
	}
	f, err := os.CreateTemp(t.TempDir(), "payload")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	err = d.Dump(context.Background(), f, nil)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	out, err := exec.Command(tool, "-n", f.Name()).CombinedOutput()
	var rest []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "fsck.fat ") && !fsckSummary.MatchString(line) {
			rest = append(rest, line)
		}
	}
	if err != nil {
		rest = append(rest, err.Error())
	}
	return strings.Join(rest, "\n")
}

// TestTornUnit cuts one write in the middle of a data unit at every 512 bytes: XTS keeps the damage to the 16-byte blocks
// that changed, so that each 512 bytes are as they were or as they were to be, and no byte beside the write changes.
func TestTornUnit(t *testing.T) {
	for _, unit := range []int{512, 2048, 4096} {
		for _, w := range []struct{ off, size int }{{0, unit}, {700, 100}, {unit + 16, 3 * unit}, {5, 2*unit - 9}, {2*unit - 1, 2}} {
			t.Run(fmt.Sprintf("unit %d, %d bytes at %d", unit, w.size, w.off), func(t *testing.T) {
				path := makeImage(t, shape{usable: 1 << 20, unit: unit, format: fat32.FormatOptions{Type: fat32.FAT12, SectorSize: unit}}, "torn")
				r := record(t, path)
				defer r.Close()
				v, err := openImage(r, "torn", false)
				if err != nil {
					t.Fatal(err)
				}
				tearOne(t, r, v, unit, w.off, w.size)
			})
		}
	}
}

func tearOne(t *testing.T, r *recorder, v *container.Volume, unit, off, size int) {
	const at = 64 << 10 // somewhere in the payload
	before := bytes.Repeat([]byte("old content "), 8*unit/12)
	write := func(p []byte, off int64) {
		if _, err := v.WriteAt(p, off); err != nil {
			t.Fatal(err)
		}
		if err := v.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	write(before, at)
	base := r.Len()
	write(bytes.Repeat([]byte{'N'}, size), int64(at+off))
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	after := bytes.Clone(before)
	copy(after[off:], bytes.Repeat([]byte{'N'}, size))
	states, mixed := 0, 0
	swap := &swapped{r.Start()}
	v, err := openImage(swap, "torn", false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for cut, m := range r.States(blocktest.StateOptions{From: base, Subsets: 6, Torn: true, Seed: uint64(unit + off)}) {
		swap.Mem = m
		got := make([]byte, len(before))
		if err := block.ReadFull(v, got, at); err != nil {
			t.Fatal(cut, err)
		}
		states++
		for s := 0; s < len(got); s += 512 {
			end := min(s+512, len(got))
			isOld, isNew := bytes.Equal(got[s:end], before[s:end]), bytes.Equal(got[s:end], after[s:end])
			if !isOld && !isNew {
				t.Fatalf("%v: the 512 bytes at %d are neither old nor new", cut, s)
			}
		}
		if !bytes.Equal(got, before) && !bytes.Equal(got, after) {
			mixed++
		}
	}
	if least := min(1, (off%512+size-1)/512); states < 3 || mixed < least {
		t.Fatalf("%d states, %d of them mixed, want at least %d", states, mixed, least)
	}
}
