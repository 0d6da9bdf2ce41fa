package container_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
)

// cheap is the least a keyslot can cost: tests are about formats, not about
// the strength of passwords.
var cheap = kdf.Cost{MemoryKiB: 64, Iterations: 1, Threads: 1}

// password makes a credential that tries every slot.
func password(t testing.TB, text string) container.Credential {
	t.Helper()
	b, err := secret.FromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Destroy)
	return container.Credential{Password: b, Slot: container.AnySlot}
}

func TestCreateOpen(t *testing.T) {
	for _, f := range []container.Format{container.LUKS2, container.Raw} {
		t.Run(string(f), func(t *testing.T) {
			ctx, path := context.Background(), filepath.Join(t.TempDir(), "a.img")
			o := container.CreateOptions{Format: f, SizeBytes: 3 << 20, KDF: cheap, Label: "holiday"}
			v, err := container.Create(ctx, path, o, password(t, "one"))
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Repeat([]byte("0123456789"), 70_000)
			if _, err := v.WriteAt(want, 12_345); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(v.Sync(), v.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := container.Create(ctx, path, o, password(t, "one")); !errors.Is(err, container.ErrExist) {
				t.Fatalf("create over an existing file: %v", err)
			}
			v, err = container.Open(ctx, path, container.OpenOptions{Format: f}, password(t, "one"))
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			got := make([]byte, len(want))
			if _, err := v.ReadAt(got, 12_345); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("read back: %v, equal %v", err, bytes.Equal(got, want))
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 || fi.Size() != 3<<20 {
				t.Errorf("image: %v %v", fi, err)
			}
			if _, err := container.Open(ctx, path, container.OpenOptions{Format: f}, password(t, "one")); !errors.Is(err, container.ErrInUse) {
				t.Errorf("second open: %v", err)
			}
		})
	}
}
