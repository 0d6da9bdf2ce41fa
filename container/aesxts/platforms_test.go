//go:build linux && amd64 && !purego

package aesxts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// These tests build this package's tests for another platform and run them:
// what the machine at hand would never execute gets the same table.

func TestOnARM64(t *testing.T) {
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Fatal("qemu-aarch64-static is missing: install the Debian package qemu-user-static")
	}
	program := buildTests(t, nil, "GOOS=linux", "GOARCH=arm64")
	// -short: 1,000 random cases instead of 10,000, for time.
	out := run(t, emulator, program, "-test.short", "-test.v")
	want(t, out, "implementations: [arm64 generic]", "1000 cases for each of [arm64 generic]")
}

// What lesser processors get: x/sys/cpu drops a feature at GODEBUG's word.
func TestDispatch(t *testing.T) {
	have := kinds()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		off  string
		left []kind
	}{
		{"avx512vaes", []kind{kindVAES, kindAESNI, kindGeneric}},
		{"avx512bw", []kind{kindVAES, kindAESNI, kindGeneric}},
		{"avx2", []kind{kindAESNI, kindGeneric}},
		{"bmi2", []kind{kindAESNI, kindGeneric}},
		{"aes", []kind{kindGeneric}},
	} {
		var names []string
		for _, k := range c.left {
			if slices.Contains(have, k) {
				names = append(names, k.String())
			}
		}
		test := exec.Command(program, "-test.run", "^TestSelfTest$|^TestDefaultIsTheFastest$", "-test.v")
		test.Env = append(os.Environ(), "GODEBUG=cpu."+c.off+"=off")
		out, err := test.CombinedOutput()
		if err != nil {
			t.Errorf("without %s: %v\n%s", c.off, err, out)
		}
		want(t, string(out), "implementations: ["+strings.Join(names, " ")+"]")
	}
}

func TestPurego(t *testing.T) {
	program := buildTests(t, []string{"-tags", "purego"})
	out := run(t, program, "-test.v")
	want(t, out, "implementations: [generic]", "10000 cases for each of [generic]")
}

// The committed assembly is what the generator writes.
func TestGeneratedIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("_asm/generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("_asm/generate.sh: %v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*_amd64.*"))
	if err != nil || len(made) != 6 {
		t.Fatalf("the generator wrote %v (%v), want 6 files", made, err)
	}
	for _, path := range made {
		fresh, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh, committed) {
			t.Errorf("%s is not what _asm/generate.sh writes", filepath.Base(path))
		}
	}
}

func buildTests(t *testing.T, args []string, env ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "aesxts.test")
	build := exec.Command("go", append(append([]string{"test", "-c", "-o", program}, args...), ".")...)
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return program
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func want(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("the output lacks %q:\n%s", text, out)
		}
	}
}
