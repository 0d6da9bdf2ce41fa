package container_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/container"
	"coffer/container/kdf"
)

// cryptsetup runs the reference implementation with input on standard input
// and returns what it prints.
func cryptsetup(t testing.TB, input string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("cryptsetup")
	if err != nil {
		t.Fatal("cryptsetup is missing: apt-get install cryptsetup-bin")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("cryptsetup %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

func mustCryptsetup(t testing.TB, input string, args ...string) string {
	t.Helper()
	out, err := cryptsetup(t, input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// create makes a container and closes it.
func create(t testing.TB, path string, o container.CreateOptions, pass string) {
	t.Helper()
	v, err := container.Create(context.Background(), path, o, password(t, pass))
	if err == nil {
		err = v.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mustOpen opens a container and closes it at the end of the test.
func mustOpen(t testing.TB, path string, c container.Credential) *container.Volume {
	t.Helper()
	v, err := container.Open(context.Background(), path, container.OpenOptions{}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// cheapFlags make cryptsetup's keyslots as cheap as it allows.
func cheapFlags(kind string) []string {
	if kind == kdf.PBKDF2 {
		return []string{"--pbkdf", kind, "--pbkdf-force-iterations", "1000"}
	}
	return []string{"--pbkdf", kind, "--pbkdf-force-iterations", "4", "--pbkdf-memory", "32", "--pbkdf-parallel", "1"}
}

// metadataSizes are all the specification allows.
var metadataSizes = []int64{16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20}

// TestCryptsetupReadsOurs: every combination of options makes a container that
// cryptsetup reads, opens and edits, and that we open after its edit.
func TestCryptsetupReadsOurs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.img")
	for _, metadata := range metadataSizes {
		for _, cipher := range []string{"aes-256-xts", "aes-128-xts"} {
			for i, sector := range []int{512, 1024, 2048, 4096} {
				cost := cheap
				if i%2 == 1 {
					cost = kdf.Cost{Kind: kdf.PBKDF2, Hash: []string{"sha256", "sha512"}[i/2], Iterations: 1000}
				}
				name := fmt.Sprintf("%d-%s-%d-%s", metadata, cipher, sector, cost.Kind)
				create(t, path, container.CreateOptions{UsableBytes: 1 << 20, Cipher: cipher, SectorSizeBytes: sector, MetadataSizeBytes: metadata, KDF: cost, Label: "of ours"}, "one")
				dump := mustCryptsetup(t, "", "luksDump", path)
				bits := map[string]string{"aes-256-xts": "512", "aes-128-xts": "256"}[cipher]
				for _, want := range []string{"Version: 2", "Metadata area: " + strconv.FormatInt(metadata, 10) + " [bytes]", "Label: of ours",
					"cipher: aes-xts-plain64", "sector: " + strconv.Itoa(sector) + " [bytes]", "Key: " + bits + " bits"} {
					if !strings.Contains(strings.Join(strings.Fields(dump), " "), want) {
						t.Errorf("%s: no %q in\n%s", name, want, dump)
					}
				}
				mustCryptsetup(t, "one", "open", "--test-passphrase", "--key-file=-", path)
				if _, err := cryptsetup(t, "two", "open", "--test-passphrase", "--key-file=-", path); err == nil {
					t.Errorf("%s: opens with a wrong password", name)
				}
				second := filepath.Join(dir, "second")
				if err := os.WriteFile(second, []byte("two"), 0o600); err != nil {
					t.Fatal(err)
				}
				mustCryptsetup(t, "one", append(cheapFlags(kdf.Argon2id), "luksAddKey", "--key-file=-", path, second)...)
				mustOpen(t, path, password(t, "two")).Close()
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestWeOpenCryptsetups: every combination of cryptsetup's options.
func TestWeOpenCryptsetups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	for m, metadata := range metadataSizes {
		for _, bits := range []string{"256", "512"} {
			for _, sector := range []string{"512", "1024", "2048", "4096"} {
				for k, kind := range []string{kdf.PBKDF2, kdf.Argon2i, kdf.Argon2id} {
					// In short mode every value of every option still appears,
					// but not every combination.
					if testing.Short() && (m+len(sector)+k)%3 != 0 {
						continue
					}
					size := 4*metadata + 20<<20
					if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
						t.Fatal(err)
					}
					args := append(cheapFlags(kind), "luksFormat", "-q", "--type", "luks2", "--key-file=-", "--key-size", bits, "--sector-size", sector,
						"--luks2-metadata-size", strconv.FormatInt(metadata>>10, 10)+"k", "--label", "theirs", path)
					mustCryptsetup(t, "passphrase", args...)
					v := mustOpen(t, path, password(t, "passphrase"))
					info := v.Info()
					if info.Label != "theirs" || strconv.Itoa(info.SectorSizeBytes) != sector || info.MetadataSizeBytes != metadata ||
						strconv.Itoa(info.Slots[0].KeyBits) != bits || info.Slots[0].KDF != kind || info.UsableBytes != size-info.PayloadOffset {
						t.Errorf("metadata %d, %s bits, sector %s, %s: %+v", metadata, bits, sector, kind, info)
					}
					v.Close()
				}
			}
		}
	}
}

// TestCryptsetupEdits: key and header operations of both, alternating on one
// container.
func TestCryptsetupEdits(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "a.img")
	file := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	opens := func(pass string, want bool) {
		t.Helper()
		_, ours := container.TestKey(ctx, path, password(t, pass), container.KeyOptions{})
		_, theirs := cryptsetup(t, pass, "open", "--test-passphrase", "--key-file=-", path)
		if (ours == nil) != want || (theirs == nil) != want {
			t.Errorf("%q: want %v, we: %v, cryptsetup: %v", pass, want, ours, theirs)
		}
	}
	o := container.KeyOptions{KDF: cheap}
	create(t, path, container.CreateOptions{SizeBytes: 20 << 20, KDF: cheap}, "one")
	if slot, err := container.AddKey(ctx, path, password(t, "one"), password(t, "two"), o); err != nil || slot != 1 {
		t.Fatal(slot, err)
	}
	mustCryptsetup(t, "two", append(cheapFlags(kdf.PBKDF2), "luksAddKey", "--key-slot", "7", "--key-file=-", path, file("3", "three"))...)
	opens("three", true)
	// Tokens are not ours to understand, but ours to keep.
	mustCryptsetup(t, `{"type":"someone-elses","keyslots":["7"],"note":"\u00e4\/b"}`, "token", "import", path)
	if slot, err := container.ChangeKey(ctx, path, password(t, "two"), password(t, "two changed"), o); err != nil || slot != 1 {
		t.Fatal(slot, err)
	}
	opens("two", false)
	opens("two changed", true)
	if got := mustCryptsetup(t, "", "token", "export", "--token-id", "0", path); !strings.Contains(got, "someone-elses") || !strings.Contains(got, `["7"]`) {
		t.Errorf("token after our rewrite: %s", got)
	}
	mustCryptsetup(t, "one", append(cheapFlags(kdf.Argon2id), "luksChangeKey", "--key-slot", "0", "--key-file=-", path, file("1", "one changed"))...)
	opens("one", false)
	opens("one changed", true)
	mustCryptsetup(t, "", "luksKillSlot", "-q", path, "1")
	opens("two changed", false)
	if err := container.RemoveKey(path, 7, o); err != nil {
		t.Fatal(err)
	}
	opens("three", false)
	if err := container.RemoveKey(path, 0, o); !errors.Is(err, container.ErrLastSlot) {
		t.Errorf("removing the last slot: %v", err)
	}
	opens("one changed", true)
	mustCryptsetup(t, "", "config", "--label", "theirs now", path)
	if info, err := container.Inspect(path, container.Auto); err != nil || info.Label != "theirs now" || info.HeaderState[0] != "good" || info.HeaderState[1] != "good" {
		t.Errorf("after config: %+v %v", info, err)
	}
}

// TestBackupInterop: backups of either tool restore with either tool.
func TestBackupInterop(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	for name, c := range map[string]struct{ backup, restore func(img, b string) error }{
		"ours-theirs": {container.BackupHeader, func(img, b string) error {
			_, err := cryptsetup(t, "", "luksHeaderRestore", "-q", "--header-backup-file", b, img)
			return err
		}},
		"theirs-ours": {func(img, b string) error {
			_, err := cryptsetup(t, "", "luksHeaderBackup", "--header-backup-file", b, img)
			return err
		}, func(img, b string) error { return container.RestoreHeader(img, b, container.RestoreOptions{}) }},
		"ours-ours": {container.BackupHeader, func(img, b string) error { return container.RestoreHeader(img, b, container.RestoreOptions{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			img, backup := filepath.Join(dir, name+".img"), filepath.Join(dir, name+".backup")
			create(t, img, container.CreateOptions{SizeBytes: 18 << 20, KDF: cheap}, "one")
			if err := c.backup(img, backup); err != nil {
				t.Fatal(err)
			}
			if _, err := container.ChangeKey(ctx, img, password(t, "one"), password(t, "two"), container.KeyOptions{KDF: cheap}); err != nil {
				t.Fatal(err)
			}
			if err := c.restore(img, backup); err != nil {
				t.Fatal(err)
			}
			mustOpen(t, img, password(t, "one")).Close()
			mustCryptsetup(t, "one", "open", "--test-passphrase", "--key-file=-", img)
			if _, err := container.TestKey(ctx, img, password(t, "two"), container.KeyOptions{}); !errors.Is(err, container.ErrWrongKey) {
				t.Errorf("the replaced password: %v", err)
			}
			// Into an image whose header is gone.
			if err := container.Destroy(ctx, img); err != nil {
				t.Fatal(err)
			}
			if _, err := container.Inspect(img, container.Auto); !errors.Is(err, container.ErrNotContainer) {
				t.Errorf("after destroy: %v", err)
			}
			if err := container.RestoreHeader(img, backup, container.RestoreOptions{}); !errors.Is(err, container.ErrMismatch) {
				t.Errorf("restore onto noise without force: %v", err)
			}
			if err := container.RestoreHeader(img, backup, container.RestoreOptions{Force: true}); err != nil {
				t.Fatal(err)
			}
			mustOpen(t, img, password(t, "one")).Close()
			// Another container's backup.
			other := filepath.Join(dir, name+".other")
			create(t, other, container.CreateOptions{SizeBytes: 18 << 20, KDF: cheap}, "three")
			if err := container.RestoreHeader(other, backup, container.RestoreOptions{}); !errors.Is(err, container.ErrMismatch) {
				t.Errorf("restore of another's backup: %v", err)
			}
			mustOpen(t, other, password(t, "three")).Close()
		})
	}
}

// TestRepairInterop: either tool mends what the other one made.
func TestRepairInterop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	damage := func(off int64) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt(make([]byte, 600), off)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	states := func() string {
		info, err := container.Inspect(path, container.Auto)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(info.HeaderState, " ")
	}
	create(t, path, container.CreateOptions{SizeBytes: 18 << 20, KDF: cheap}, "one")
	for _, c := range []struct {
		off  int64
		want string
	}{{0, "missing good"}, {4096, "damaged good"}, {16 << 10, "good missing"}, {20 << 10, "good damaged"}} {
		damage(c.off)
		if got := states(); got != c.want {
			t.Errorf("damage at %d: %s, want %s", c.off, got, c.want)
		}
		// A read-only open works and leaves the damage alone.
		before, _ := os.ReadFile(path)
		v, err := container.Open(context.Background(), path, container.OpenOptions{ReadOnly: true}, password(t, "one"))
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("a read-only open wrote")
		}
		mustOpen(t, path, password(t, "one")).Close()
		if got := states(); got != "good good" {
			t.Errorf("damage at %d, after a writable open: %s", c.off, got)
		}
		mustCryptsetup(t, "one", "open", "--test-passphrase", "--key-file=-", path)
		damage(c.off)
		mustCryptsetup(t, "", "repair", "-q", path)
		if got := states(); got != "good good" {
			t.Errorf("damage at %d, after cryptsetup repair: %s", c.off, got)
		}
		mustOpen(t, path, password(t, "one")).Close()
	}
}

// TestDmCrypt: the kernel decrypts what we encrypt, and we decrypt what it
// encrypts, for every sector and key size.
func TestDmCrypt(t *testing.T) {
	umlrun, err := filepath.Abs("../.ci/umlrun")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pw"), []byte("pass"), 0o600); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 1<<20)
	rng := rand.NewChaCha8([32]byte{1})
	sums := map[string]string{}
	for _, sector := range []int{512, 1024, 2048, 4096} {
		for _, cipher := range []string{"aes-256-xts", "aes-128-xts"} {
			name := fmt.Sprintf("%d-%s", sector, cipher)
			rng.Read(payload)
			ours := filepath.Join(dir, "ours-"+name+".img")
			create(t, ours, container.CreateOptions{UsableBytes: int64(len(payload)), SectorSizeBytes: sector, Cipher: cipher, KDF: cheap}, "pass")
			v := mustOpen(t, ours, password(t, "pass"))
			if _, err := v.WriteAt(payload, 0); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(v.Sync(), v.Close()); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(payload)
			sums[name] = hex.EncodeToString(sum[:])

			theirs := filepath.Join(dir, "theirs-"+name)
			bits := map[string]string{"aes-256-xts": "512", "aes-128-xts": "256"}[cipher]
			if err := errors.Join(os.WriteFile(theirs+".img", nil, 0o600), os.Truncate(theirs+".img", 3<<20), os.WriteFile(theirs+".plain", payload, 0o600)); err != nil {
				t.Fatal(err)
			}
			mustCryptsetup(t, "pass", append(cheapFlags(kdf.Argon2id), "luksFormat", "-q", "--type", "luks2", "--key-file=-", "--key-size", bits,
				"--sector-size", strconv.Itoa(sector), "--luks2-keyslots-size", "1015808", theirs+".img")...)
		}
	}
	out, err := exec.Command(umlrun, "testdata/dmcrypt.sh", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("dm-crypt in a user-mode kernel (apt-get install user-mode-linux kmod busybox-static cryptsetup-bin dmsetup): %v\n%s", err, out)
	}
	for name, want := range sums {
		sum, err := os.ReadFile(filepath.Join(dir, "ours-"+name+".sum"))
		if err != nil || !bytes.HasPrefix(sum, []byte(want)) {
			t.Errorf("dm-crypt reads ours-%s as %.64s, want %s (%v)", name, sum, want, err)
		}
		plain, err := os.ReadFile(filepath.Join(dir, "theirs-"+name+".plain"))
		if err != nil {
			t.Fatal(err)
		}
		v := mustOpen(t, filepath.Join(dir, "theirs-"+name+".img"), password(t, "pass"))
		got := make([]byte, len(plain))
		if _, err := v.ReadAt(got, 0); err != nil || !slices.Equal(got, plain) {
			t.Errorf("theirs-%s: we read something else (%v)", name, err)
		}
		v.Close()
	}
}
