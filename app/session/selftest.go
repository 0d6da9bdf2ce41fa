package session

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"coffer/container/aesxts"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
)

// TestResult is one part of the self-test; Error is "" when it passed.
type TestResult struct {
	Name  string `json:"name"`
	Error string `json:"error,omitempty"`
}

// EngineName is the implementation of AES-XTS this processor uses.
func EngineName() string {
	if names := aesxts.Implementations(); len(names) > 0 {
		return names[0]
	}
	return "generic"
}

// SelfTest checks on this computer what everything else rests on: cipher and KDF against published vectors, and a small
// container through make, fill, close, open, read and check. The error is about not being able to run at all.
func SelfTest(ctx context.Context) ([]TestResult, error) {
	var results []TestResult
	run := func(name string, test func() error) {
		result := TestResult{Name: name}
		if err := test(); err != nil {
			result.Error = err.Error()
		}
		results = append(results, result)
	}
	run("AES-XTS vectors ("+strings.Join(aesxts.Implementations(), ", ")+")", aesxts.SelfTest)
	for _, vector := range kdfVectors() {
		run("KDF vector "+vector.params.Kind, func() error { return vector.check(ctx, kdf.InProcess{}) })
		run("KDF vector "+vector.params.Kind+" in a child process", func() error { return vector.check(ctx, deriver()) })
	}
	folder, err := os.MkdirTemp("", "coffer-selftest-*")
	if err != nil {
		return results, wrap("selftest", err)
	}
	defer os.RemoveAll(folder)
	run("container: make, fill, read back, check", func() error { return selfTestContainer(ctx, folder) })
	return results, ctx.Err()
}

// kdfVector is a derivation with a known result.
type kdfVector struct {
	params         kdf.Params
	password, want string // want in hexadecimal
}

func kdfVectors() []kdfVector {
	return []kdfVector{
		// Test suite of the Argon2 reference implementation, version 0x13.
		{kdf.Params{Kind: kdf.Argon2id, Iterations: 2, MemoryKiB: 256, Threads: 1, Salt: []byte("somesalt")}, "password",
			"9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"},
		// RFC 7914, section 11.
		{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 80000, Salt: []byte("NaCl")}, "Password",
			"4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"},
	}
}

func (v kdfVector) check(ctx context.Context, d kdf.Deriver) error {
	want, err := hex.DecodeString(v.want)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if err := d.Derive(ctx, v.params, []byte(v.password), got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("wrong result")
	}
	return nil
}

// selfTestContainer makes a LUKS2 container with a random password, writes 1 MiB of random bytes into it, and reads them
// back after closing and opening it.
func selfTestContainer(ctx context.Context, folder string) error {
	password, err := secret.New(32)
	if err != nil {
		return err
	}
	defer password.Destroy()
	rand.Read(password.Bytes())
	content := make([]byte, 1<<20)
	rand.Read(content)
	credential := Credential{Password: password, Slot: -1}
	target := Target{Path: filepath.Join(folder, "test.img"), Format: FormatLUKS2}
	if _, err := Create(ctx, CreateRequest{Target: target, UsableBytes: 8 << 20, KDF: KDFCost{MemoryBytes: 64 << 10, Passes: 1}}, credential); err != nil {
		return err
	}
	if err := selfTestWrite(ctx, target, credential, content); err != nil {
		return err
	}
	s, err := Open(ctx, target, OpenOptions{ReadOnly: true}, credential)
	if err != nil {
		return err
	}
	var back bytes.Buffer
	err = s.Cat(ctx, "/renamed.bin", &back)
	if err == nil && !bytes.Equal(back.Bytes(), content) {
		err = errors.New("the bytes read back differ")
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	device, err := OpenDevice(ctx, target, true, credential)
	if err != nil {
		return err
	}
	result, err := device.Check(ctx, CheckRequest{})
	if err == nil && !result.Clean {
		err = fmt.Errorf("check found %d problems", len(result.Findings))
	}
	return errors.Join(err, device.Close())
}

func selfTestWrite(ctx context.Context, target Target, credential Credential, content []byte) error {
	s, err := Open(ctx, target, OpenOptions{}, credential)
	if err != nil {
		return err
	}
	file, err := s.Volume.OpenFile("/written.bin", fat32.WriteOnly|fat32.Create|fat32.Exclusive)
	if err == nil {
		_, err = file.WriteAt(content, 0)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = s.Volume.Rename("/written.bin", "/renamed.bin", false)
	}
	return errors.Join(err, s.Close())
}
