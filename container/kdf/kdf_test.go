package kdf_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"coffer/container/kdf"
)

// TestMain serves as the child process of Child when started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "kdf-child":
			if kdf.ServeChild(os.Stdin, os.Stdout) != nil {
				os.Exit(1)
			}
			return
		case "kdf-dies":
			os.Exit(7)
		case "kdf-hangs":
			time.Sleep(time.Minute)
			return
		}
	}
	os.Exit(m.Run())
}

// vectors: PBKDF2 from RFC 6070 and RFC 7914 section 11; Argon2 from the
// reference implementation's test.c (version 0x13).
var vectors = []struct {
	p        kdf.Params
	password string
	want     string
}{
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha1", Iterations: 1, Salt: []byte("salt")}, "password", "0c60c80f961f0e71f3a9b524af6012062fe037a6"},
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha1", Iterations: 4096, Salt: []byte("salt")}, "password", "4b007901b765489abead49d926f721d065a429c1"},
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha1", Iterations: 4096, Salt: []byte("saltSALTsaltSALTsaltSALTsaltSALTsalt")}, "passwordPASSWORDpassword", "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"},
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha1", Iterations: 4096, Salt: []byte("sa\x00lt")}, "pass\x00word", "56fa6aa75548099dcc37d7f03425e0c3"},
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 1, Salt: []byte("salt")}, "passwd", "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"},
	{kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 80000, Salt: []byte("NaCl")}, "Password", "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"},
	{kdf.Params{Kind: kdf.Argon2id, Iterations: 2, MemoryKiB: 65536, Threads: 1, Salt: []byte("somesalt")}, "password", "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"},
	{kdf.Params{Kind: kdf.Argon2i, Iterations: 2, MemoryKiB: 65536, Threads: 1, Salt: []byte("somesalt")}, "password", "c1628832147d9720c5bd1cfd61367078729f6dfb6f8fea9ff98158e0d7816ed0"},
}

func TestVectors(t *testing.T) {
	for name, d := range map[string]kdf.Deriver{"in process": kdf.InProcess{}, "child": kdf.Child{Executable: os.Args[0], Args: []string{"kdf-child"}}} {
		for _, v := range vectors {
			out := make([]byte, len(v.want)/2)
			if err := d.Derive(context.Background(), v.p, []byte(v.password), out); err != nil {
				t.Fatalf("%s, %v: %v", name, v.p, err)
			}
			if got := hex.EncodeToString(out); got != v.want {
				t.Errorf("%s, %v: %s, want %s", name, v.p, got, v.want)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	l := kdf.DefaultLimits()
	for name, c := range map[string]struct {
		p     kdf.Params
		field string // of the LimitError, "" for another error
		is    error
	}{
		"memory":      {kdf.Params{Kind: kdf.Argon2id, Iterations: 1, MemoryKiB: 1<<20 + 1, Threads: 1}, "memory", nil},
		"time":        {kdf.Params{Kind: kdf.Argon2id, Iterations: 65, MemoryKiB: 1 << 20, Threads: 1}, "time", nil},
		"time alone":  {kdf.Params{Kind: kdf.Argon2i, Iterations: 1 << 31, MemoryKiB: 32, Threads: 1}, "time", nil},
		"cpus":        {kdf.Params{Kind: kdf.Argon2id, Iterations: 1, MemoryKiB: 1 << 20, Threads: 17}, "cpus", nil},
		"iterations":  {kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 100_000_001}, "iterations", nil},
		"salt":        {kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 1, Salt: make([]byte, 1025)}, "salt", nil},
		"no passes":   {kdf.Params{Kind: kdf.Argon2id, MemoryKiB: 64, Threads: 1}, "", kdf.ErrInvalid},
		"no threads":  {kdf.Params{Kind: kdf.Argon2id, MemoryKiB: 64, Iterations: 1}, "", kdf.ErrInvalid},
		"few blocks":  {kdf.Params{Kind: kdf.Argon2id, MemoryKiB: 31, Iterations: 1, Threads: 4}, "", kdf.ErrInvalid},
		"no rounds":   {kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256"}, "", kdf.ErrInvalid},
		"hash":        {kdf.Params{Kind: kdf.PBKDF2, Hash: "md5", Iterations: 1}, "", kdf.ErrUnsupported},
		"kind":        {kdf.Params{Kind: "scrypt", Iterations: 1}, "", kdf.ErrUnsupported},
		"no kind":     {kdf.Params{}, "", kdf.ErrUnsupported},
		"1 GiB, 4":    {kdf.Params{Kind: kdf.Argon2id, Iterations: 4, MemoryKiB: 1 << 20, Threads: 4}, "none", nil},
		"10 M rounds": {kdf.Params{Kind: kdf.PBKDF2, Hash: "sha512", Iterations: 10_000_000}, "none", nil},
	} {
		err := c.p.Check(l)
		var limit *kdf.LimitError
		switch {
		case c.field == "none":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case c.field != "":
			if !errors.As(err, &limit) || limit.Field != c.field || !strings.Contains(err.Error(), c.field) {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, c.is):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCancel: a long derivation stops soon, in process and in a child.
func TestCancel(t *testing.T) {
	long := []kdf.Params{
		{Kind: kdf.PBKDF2, Hash: "sha512", Iterations: 100_000_000, Salt: []byte("salt")},
		{Kind: kdf.Argon2id, MemoryKiB: 64 << 10, Iterations: 20, Threads: 1, Salt: []byte("salt")},
	}
	for name, d := range map[string]kdf.Deriver{
		"in process": kdf.InProcess{},
		"child":      kdf.Child{Executable: os.Args[0], Args: []string{"kdf-child"}},
		"hanging":    kdf.Child{Executable: os.Args[0], Args: []string{"kdf-hangs"}},
	} {
		for _, p := range long {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			start := time.Now()
			err := d.Derive(ctx, p, []byte("password"), make([]byte, 32))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %v: %v", name, p, err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s, %v: took %v", name, p, took)
			}
		}
	}
}

// TestChildErrors: a child that refuses, dies or does not exist is an error
// that says so.
func TestChildErrors(t *testing.T) {
	ctx, out := context.Background(), make([]byte, 32)
	bad := kdf.Params{Kind: "scrypt", Iterations: 1}
	good := kdf.Params{Kind: kdf.PBKDF2, Hash: "sha256", Iterations: 1, Salt: []byte("s")}
	for name, c := range map[string]struct {
		d    kdf.Child
		p    kdf.Params
		want string
	}{
		"refuses": {kdf.Child{Executable: os.Args[0], Args: []string{"kdf-child"}}, bad, `"scrypt"`},
		"dies":    {kdf.Child{Executable: os.Args[0], Args: []string{"kdf-dies"}}, good, "exit status 7"},
		"missing": {kdf.Child{Executable: "/nonexistent/coffer"}, good, "start the key derivation process"},
	} {
		if err := c.d.Derive(ctx, c.p, []byte("secret-password"), out); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-password") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServeChildMalformed: whatever comes in, the answer is an error.
func TestServeChildMalformed(t *testing.T) {
	for _, in := range []string{"", "COFKDF1\n", "NOTKDF1\n\x00\x00\x00\x00", "COFKDF1\n\xff\xff\xff\xff", "COFKDF1\n\x00\x00\x00\x02\xff\xff", "COFKDF1\n\x00\x00\x00\x00"} {
		var out strings.Builder
		if err := kdf.ServeChild(strings.NewReader(in), &out); err == nil || !strings.HasPrefix(out.String(), "\x01") {
			t.Errorf("%q: %v, answer %q", in, err, out.String())
		}
	}
}

// fakeDeriver takes time in proportion to the work without doing it.
type fakeDeriver struct{ perMiBPass time.Duration }

func (f fakeDeriver) Derive(_ context.Context, p kdf.Params, _, _ []byte) error {
	if p.Kind == kdf.PBKDF2 {
		time.Sleep(time.Duration(p.Iterations) * time.Microsecond / 10)
		return nil
	}
	time.Sleep(time.Duration(p.MemoryKiB*p.Iterations/1024) * f.perMiBPass)
	return nil
}

func TestChoose(t *testing.T) {
	choose := func(per time.Duration, c kdf.Cost) kdf.Params {
		t.Helper()
		p, err := kdf.Choose(context.Background(), fakeDeriver{per}, c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// 256 MiB x 3 at 1.3 ms each is a second.
	if p := choose(1300*time.Microsecond, kdf.Cost{}); p.Kind != kdf.Argon2id || p.MemoryKiB < 160<<10 || p.MemoryKiB > 256<<10 || p.Iterations != 3 || p.Threads < 1 || p.Threads > 4 {
		t.Errorf("usual machine: %v", p)
	}
	if p := choose(10*time.Millisecond, kdf.Cost{}); p.MemoryKiB != kdf.FloorMemoryKiB || p.Iterations != kdf.FloorPasses {
		t.Errorf("slow machine: %v, want the floor", p)
	}
	if p := choose(50*time.Microsecond, kdf.Cost{}); p.MemoryKiB < 512<<10 || p.MemoryKiB > kdf.CeilingMemoryKiB || p.Iterations < 3 {
		t.Errorf("fast machine: %v", p)
	}
	if p := choose(50*time.Microsecond, kdf.Cost{Target: 3 * time.Second}); p.MemoryKiB*p.Iterations <= choose(50*time.Microsecond, kdf.Cost{}).MemoryKiB*3 {
		t.Errorf("longer target: %v", p)
	}
	if p := choose(time.Hour, kdf.Cost{MemoryKiB: 64, Iterations: 1, Threads: 1}); p.MemoryKiB != 64 || p.Iterations != 1 || p.Threads != 1 {
		t.Errorf("all given: %v", p)
	}
	if p := choose(0, kdf.Cost{Kind: kdf.PBKDF2}); p.Hash != "sha256" || p.Iterations < 5_000_000 || p.Iterations > 10_000_000 || p.MemoryKiB != 0 || p.Threads != 0 {
		t.Errorf("pbkdf2 at 10 rounds a microsecond: %v", p)
	}
	if _, err := kdf.Choose(context.Background(), fakeDeriver{}, kdf.Cost{Kind: "scrypt"}); !errors.Is(err, kdf.ErrUnsupported) {
		t.Errorf("unknown kind: %v", err)
	}
	if _, err := kdf.Choose(context.Background(), fakeDeriver{}, kdf.Cost{MemoryKiB: 8 << 20, Iterations: 3}); err == nil {
		t.Error("8 GiB was accepted")
	}
}
