package container_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"coffer/container"
	"coffer/container/block/blocktest"
	"coffer/container/kdf"
)

// TestSizes: what each size gives, from the smallest on.
func TestSizes(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		o                     container.CreateOptions
		image, usable, offset int64
		sector                int
	}{
		"smallest":         {container.CreateOptions{SizeBytes: container.MinImageBytes}, mib + 256<<10, 256 << 10, mib, 512},
		"3 MiB":            {container.CreateOptions{SizeBytes: 3*mib + 5000}, 3*mib + 4096, 2*mib + 4096, mib, 512},
		"8 MiB":            {container.CreateOptions{SizeBytes: 8 * mib}, 8 * mib, 6 * mib, 2 * mib, 512},
		"32 MiB":           {container.CreateOptions{SizeBytes: 32 * mib}, 32 * mib, 16 * mib, 16 * mib, 512},
		"100 MB":           {container.CreateOptions{SizeBytes: 100_000_000}, 99_999_744, 99_999_744 - 16*mib, 16 * mib, 512},
		"last with 512":    {container.CreateOptions{UsableBytes: 272*mib - 4096}, 288*mib - 4096, 272*mib - 4096, 16 * mib, 512},
		"first with 4096":  {container.CreateOptions{UsableBytes: 272 * mib}, 288 * mib, 272 * mib, 16 * mib, 4096},
		"usable, tiny":     {container.CreateOptions{UsableBytes: 256<<10 - 1}, mib + 256<<10, 256 << 10, mib, 512},
		"big metadata":     {container.CreateOptions{UsableBytes: 2 * mib, MetadataSizeBytes: 4 * mib}, 12 * mib, 2 * mib, 10 * mib, 512},
		"many keyslots":    {container.CreateOptions{UsableBytes: 2 * mib, KeyslotsSizeBytes: 9 * mib}, 12 * mib, 2 * mib, 10 * mib, 512},
		"100 GB":           {container.CreateOptions{SizeBytes: 100_000_000_000}, 99_999_997_952, 99_999_997_952 - 16*mib, 16 * mib, 4096},
		"sector asked for": {container.CreateOptions{SizeBytes: 32 * mib, SectorSizeBytes: 2048}, 32 * mib, 16 * mib, 16 * mib, 2048},
		"raw":              {container.CreateOptions{Format: container.Raw, SizeBytes: 1_474_560 + 3}, 1_474_560, 1_474_560, 0, 512},
	} {
		path := filepath.Join(t.TempDir(), "a.img")
		c.o.KDF = cheap
		start := time.Now()
		v, err := container.Create(context.Background(), path, c.o, password(t, "pw"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		i := v.Info()
		if i.ImageBytes != c.image || i.UsableBytes != c.usable || v.Size() != c.usable || i.PayloadOffset != c.offset || i.SectorSizeBytes != c.sector {
			t.Errorf("%s: %+v", name, i)
		}
		if v.KnownZero() != (c.o.Format == container.Raw) {
			t.Errorf("%s: known zero is %v", name, v.KnownZero())
		}
		v.Close()
		if c.o.Format != container.Raw {
			mustCryptsetup(t, "pw", "open", "--test-passphrase", "--key-file=-", path)
		}
		start = time.Now()
		v, err = container.Open(context.Background(), path, container.OpenOptions{Format: c.o.Format}, password(t, "pw"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if took := time.Since(start); took > 300*time.Millisecond*loadAllowance {
			t.Errorf("%s: open took %v", name, took)
		}
		v.Close()
	}
}

// loadAllowance stretches time limits for machines that do other work too.
const loadAllowance = 5

// TestRefusedCreations: clear errors, and never a file left behind.
func TestRefusedCreations(t *testing.T) {
	const mib = 1 << 20
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		o    container.CreateOptions
		want error
	}{
		"no size":          {nil, container.CreateOptions{}, container.ErrInvalid},
		"two sizes":        {nil, container.CreateOptions{SizeBytes: 4 * mib, UsableBytes: 4 * mib}, container.ErrInvalid},
		"negative size":    {nil, container.CreateOptions{SizeBytes: -1}, container.ErrInvalid},
		"absurd size":      {nil, container.CreateOptions{UsableBytes: 1<<63 - 1}, container.ErrInvalid},
		"over host limit":  {nil, container.CreateOptions{SizeBytes: 1<<63 - 1}, container.ErrFileTooLarge},
		"too small":        {nil, container.CreateOptions{SizeBytes: container.MinImageBytes - 4096}, container.ErrTooSmall},
		"cipher":           {nil, container.CreateOptions{SizeBytes: 4 * mib, Cipher: "rot13"}, container.ErrUnsupported},
		"sector":           {nil, container.CreateOptions{SizeBytes: 4 * mib, SectorSizeBytes: 8192}, container.ErrUnsupported},
		"metadata":         {nil, container.CreateOptions{SizeBytes: 64 * mib, MetadataSizeBytes: 20_000}, container.ErrUnsupported},
		"keyslots":         {nil, container.CreateOptions{SizeBytes: 64 * mib, KeyslotsSizeBytes: 4097}, container.ErrUnsupported},
		"few keyslots":     {nil, container.CreateOptions{SizeBytes: 64 * mib, KeyslotsSizeBytes: 4096}, container.ErrTooSmall},
		"label":            {nil, container.CreateOptions{SizeBytes: 4 * mib, Label: string(make([]byte, 48))}, container.ErrUnsupported},
		"native":           {nil, container.CreateOptions{SizeBytes: 4 * mib, Format: container.Native}, container.ErrUnsupported},
		"unknown format":   {nil, container.CreateOptions{SizeBytes: 4 * mib, Format: "zip"}, container.ErrUnsupported},
		"raw with cipher":  {nil, container.CreateOptions{SizeBytes: 4 * mib, Format: container.Raw, Cipher: "aes-256-xts"}, container.ErrInvalid},
		"8 GiB for a key":  {nil, container.CreateOptions{SizeBytes: 4 * mib, KDF: kdf.Cost{MemoryKiB: 8 << 20, Iterations: 3}}, nil},
		"canceled":         {canceled, container.CreateOptions{SizeBytes: 4 * mib, KDF: cheap}, context.Canceled},
		"derivation fails": {nil, container.CreateOptions{SizeBytes: 4 * mib, KDF: cheap, Deriver: kdf.Child{Executable: "/nonexistent"}}, os.ErrNotExist},
	} {
		dir := t.TempDir()
		ctx := c.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		_, err := container.Create(ctx, filepath.Join(dir, "a.img"), c.o, password(t, "pw"))
		if err == nil || (c.want != nil && !errors.Is(err, c.want)) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: %v was left", name, left)
		}
	}
}

// TestNotContainers: other files are refused, and raw is never guessed.
func TestNotContainers(t *testing.T) {
	dir := t.TempDir()
	raw := filepath.Join(dir, "raw.img")
	v, err := container.Create(context.Background(), raw, container.CreateOptions{Format: container.Raw, SizeBytes: 1 << 20}, container.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	luks1 := filepath.Join(dir, "luks1.img")
	if err := errors.Join(os.WriteFile(luks1, nil, 0o600), os.Truncate(luks1, 4<<20)); err != nil {
		t.Fatal(err)
	}
	mustCryptsetup(t, "pw", "luksFormat", "-q", "--type", "luks1", "--pbkdf-force-iterations", "1000", "--key-file=-", luks1)
	for path, want := range map[string]error{
		raw: container.ErrNotContainer, luks1: container.ErrUnsupported,
		writeFile(t, dir, "empty", nil): container.ErrNotContainer, writeFile(t, dir, "short", []byte("LUKS")): container.ErrNotContainer,
		writeFile(t, dir, "cut", []byte("LUKS\xba\xbe\x00\x02")): nil, dir: nil, filepath.Join(dir, "none"): os.ErrNotExist,
	} {
		if _, err := container.Open(context.Background(), path, container.OpenOptions{}, password(t, "pw")); err == nil || (want != nil && !errors.Is(err, want)) {
			t.Errorf("open %s: %v", filepath.Base(path), err)
		}
		if _, err := container.Inspect(path, container.Auto); err == nil || (want != nil && !errors.Is(err, want)) {
			t.Errorf("inspect %s: %v", filepath.Base(path), err)
		}
	}
}

// TestHostile: an image of 4 MiB of brackets or members, in both copies, is
// refused quickly and with little memory.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "[", "empty arrays": "[],", "numbers": "1,", "members": `"a":`, "long string": "a", "escapes": `\u0061`,
	} {
		dev := blocktest.NewMem(64 << 20)
		c, err := container.CreateDevice(context.Background(), dev, container.CreateOptions{MetadataSizeBytes: 4 << 20, KDF: cheap}, password(t, "pw"))
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		prefix := map[string]string{"brackets": "", "long string": `{"a":"`, "escapes": `{"a":"`, "members": "{"}[name]
		if name == "empty arrays" || name == "numbers" {
			prefix = `{"keyslots":[`
		}
		fillJSON(t, dev, prefix, text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err = container.OpenDevice(context.Background(), dev, container.OpenOptions{}, password(t, "pw"))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, container.ErrDamagedHeader) {
			t.Errorf("%s: %v", name, err)
		}
		if grown, took := after.TotalAlloc-before.TotalAlloc, time.Since(start); grown > 128<<20 || took > 2*time.Second {
			t.Errorf("%s: %d MiB allocated in total, %v", name, grown>>20, took)
		}
	}
}

// TestReadOnlyDevice: a read-only open writes nothing, repaired headers
// included, and refuses every write.
func TestReadOnlyDevice(t *testing.T) {
	mem := blocktest.NewMem(4 << 20)
	v, err := container.CreateDevice(context.Background(), mem, container.CreateOptions{KDF: cheap}, password(t, "pw"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.WriteAt([]byte("kept"), 77); err != nil {
		t.Fatal(err)
	}
	v.Close()
	if _, err := mem.WriteAt(make([]byte, 512), 0); err != nil {
		t.Fatal(err)
	}
	dev := blocktest.NewFault(mem)
	v, err = container.OpenDevice(context.Background(), dev, container.OpenOptions{ReadOnly: true}, password(t, "pw"))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := v.WriteAt([]byte("x"), 0); !errors.Is(err, container.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	got := make([]byte, 4)
	if _, err := v.ReadAt(got, 77); (err != nil && err != io.EOF) || string(got) != "kept" {
		t.Errorf("read %q %v", got, err)
	}
	if err := errors.Join(v.Sync(), v.Discard(0, 512)); err != nil {
		t.Errorf("sync and discard: %v", err)
	}
	if n := dev.Count(blocktest.OpWrite) + dev.Count(blocktest.OpSync) + dev.Count(blocktest.OpDiscard); n != 0 {
		t.Errorf("%d writes", n)
	}
}
