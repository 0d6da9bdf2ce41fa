package container_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"coffer/container"
	"coffer/container/kdf"
)

// writeFile makes a file of the test's own and returns its path.
func writeFile(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKeyfileAlone: the bytes of one key file are what cryptsetup takes.
func TestKeyfileAlone(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path, key := filepath.Join(dir, "a.img"), filepath.Join(dir, "key")
	if err := container.NewKeyfile(key); err != nil {
		t.Fatal(err)
	}
	if err := container.NewKeyfile(key); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing key file: %v", err)
	}
	if fi, err := os.Stat(key); err != nil || fi.Size() != container.NewKeyfileBytes || fi.Mode().Perm() != 0o600 {
		t.Errorf("key file %v %v", fi, err)
	}
	c := container.Credential{Keyfiles: []string{key}, Slot: container.AnySlot}
	v, err := container.Create(ctx, path, container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, c)
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	mustCryptsetup(t, "", "open", "--test-passphrase", "--key-file", key, path)
	mustOpen(t, path, c)
}

// TestKeyfilesAndPassword repeats the construction of ADR 0001 with the shell.
func TestKeyfilesAndPassword(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("openssl is missing: apt-get install openssl")
	}
	one := writeFile(t, dir, "one", []byte("first\n\x00file"))
	two := writeFile(t, dir, "two", bytes.Repeat([]byte("second"), 10_000))
	const script = `
key=$(for f in "$@"; do sha512sum "$f" | cut -c1-128; done | tr -d '\n')
{ printf 'coffer key files and password, version 1\0'; printf %s "$PASSWORD"; } |
    openssl dgst -sha512 -mac HMAC -macopt hexkey:$key -r | cut -c1-128 | tr -d '\n'`
	for i, c := range []struct {
		password string
		files    []string
	}{{"pass", []string{one}}, {"", []string{one, two}}, {"pass", []string{two, one}}} {
		path := filepath.Join(dir, string(rune('a'+i))+".img")
		cred := container.Credential{Keyfiles: c.files, Slot: container.AnySlot}
		if c.password != "" {
			cred.Password = password(t, c.password).Password
		}
		v, err := container.Create(ctx, path, container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, cred)
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
		cmd := exec.Command("sh", append([]string{"-ec", script, "sh"}, c.files...)...)
		cmd.Env = append(os.Environ(), "PASSWORD="+c.password)
		combined, err := cmd.Output()
		if err != nil || len(combined) != 128 {
			t.Fatalf("%q %v", combined, err)
		}
		mustCryptsetup(t, string(combined), "open", "--test-passphrase", "--key-file=-", path)
		mustOpen(t, path, cred).Close()
		for name, wrong := range map[string]container.Credential{
			"first file only": {Keyfiles: c.files[:1], Slot: container.AnySlot},
			"password only":   {Password: password(t, "pass").Password, Slot: container.AnySlot},
			"other order":     {Password: cred.Password, Keyfiles: []string{two, one, one}, Slot: container.AnySlot},
		} {
			if _, err := container.Open(ctx, path, container.OpenOptions{}, wrong); !errors.Is(err, container.ErrWrongKey) {
				t.Errorf("%v with %s: %v", c, name, err)
			}
		}
	}
}

// TestUnicodePassword: composed and decomposed spellings are the same
// password, and a passphrase that cryptsetup stored decomposed still opens.
func TestUnicodePassword(t *testing.T) {
	const composed, decomposed = "Gr\u00f6\u00dfe", "Gro\u0308\u00dfe"
	path := filepath.Join(t.TempDir(), "a.img")
	create(t, path, container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, decomposed)
	mustOpen(t, path, password(t, composed)).Close()
	mustOpen(t, path, password(t, decomposed)).Close()
	mustCryptsetup(t, composed, "open", "--test-passphrase", "--key-file=-", path)

	theirs := filepath.Join(t.TempDir(), "b.img")
	if err := errors.Join(os.WriteFile(theirs, nil, 0o600), os.Truncate(theirs, 20<<20)); err != nil {
		t.Fatal(err)
	}
	mustCryptsetup(t, decomposed, append(cheapFlags(kdf.Argon2id), "luksFormat", "-q", "--type", "luks2", "--key-file=-", theirs)...)
	mustOpen(t, theirs, password(t, decomposed)).Close()
	if _, err := container.Open(context.Background(), theirs, container.OpenOptions{}, password(t, composed)); !errors.Is(err, container.ErrWrongKey) {
		t.Errorf("another byte sequence: %v", err)
	}
	// Not UTF-8 at all: the bytes are the password.
	create(t, path+"2", container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, "\xff\xfe")
	mustOpen(t, path+"2", password(t, "\xff\xfe")).Close()
}

// TestBadCredentials: what cannot be used is refused before any work, and no
// file is left behind.
func TestBadCredentials(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "a.img")
	empty := writeFile(t, dir, "empty", nil)
	big := writeFile(t, dir, "big", make([]byte, container.MaxKeyfileBytes+1))
	for name, c := range map[string]struct {
		cred container.Credential
		want error
	}{
		"nothing":               {container.Credential{}, container.ErrNoCredential},
		"empty key file":        {container.Credential{Keyfiles: []string{empty}}, container.ErrBadCredential},
		"key file over 8 MiB":   {container.Credential{Keyfiles: []string{big}}, container.ErrBadCredential},
		"missing key file":      {container.Credential{Keyfiles: []string{dir + "/none"}}, os.ErrNotExist},
		"long password":         {password(t, string(make([]byte, 513))), container.ErrBadCredential},
		"recovery and password": {container.Credential{Password: password(t, "x").Password, RecoveryKey: password(t, "y").Password}, container.ErrBadCredential},
	} {
		if _, err := container.Create(ctx, path, container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, c.cred); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Fatalf("%s: a file was left", name)
		}
	}
}
