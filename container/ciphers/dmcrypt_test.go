package ciphers

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dmJob is one encryption dm-crypt does too.
type dmJob struct {
	name          string
	algorithm     Algorithm
	spec          string // as the kernel has it
	keyBytes      int
	sectorBytes   int
	skipSectors   uint64 // of 512 bytes
	numberOfFirst Numbering
}

// dmJobs are all ciphers dm-crypt has, in every mode, with both sector sizes and with a first sector past 2^32.
func dmJobs() []dmJob {
	kernelNames := map[Cipher]string{TripleDES: "des3_ede"}
	var jobs []dmJob
	for _, a := range Algorithms() {
		if a.Cipher == Kuznyechik || a.Mode == NoMode || a.Mode == GCM || a.Mode == Poly1305 {
			continue // dm-crypt has none of them, or not in this way
		}
		name := kernelNames[a.Cipher]
		if name == "" {
			name = string(a.Cipher)
		}
		mode := string(a.Mode)
		if a.Mode == XTS {
			mode = "xts-plain64"
		}
		for _, c := range []struct {
			sectorBytes int
			skip        uint64
		}{{512, 0}, {4096, 8}, {512, 1<<32 + 5}} {
			jobs = append(jobs, dmJob{fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(a.Name(), ":", "-"), c.sectorBytes, c.skip), a, name + "-" + mode,
				a.KeyBytes(), c.sectorBytes, c.skip, Numbering{Base: c.skip, Step: uint64(c.sectorBytes / 512)}})
		}
	}
	return jobs
}

func (j dmJob) key() []byte { return randomBytes(byte(j.keyBytes), j.keyBytes) }

const dmPayloadBytes = 16384

func dmPlain() []byte { return randomBytes(9, dmPayloadBytes) }

// encrypt is the job by this package, put together as a format would.
func (j dmJob) encrypt(t *testing.T) []byte {
	t.Helper()
	key := j.key()
	var s Sectors
	var err error
	switch j.algorithm.Mode {
	case XTS:
		data, err1 := NewBlock(j.algorithm.Cipher, key[:len(key)/2])
		tweak, err2 := NewBlock(j.algorithm.Cipher, key[len(key)/2:])
		if err = errors.Join(err1, err2); err == nil {
			s, err = NewXTS(data, tweak, j.sectorBytes, j.numberOfFirst)
		}
	default:
		iv := Plain64()
		if j.algorithm.Mode == CBCESSIV {
			iv, err = ESSIV(j.algorithm.Cipher, key)
		}
		block, err2 := NewBlock(j.algorithm.Cipher, key)
		if err = errors.Join(err, err2); err == nil {
			s, err = NewCBC(block, iv, j.sectorBytes, j.numberOfFirst)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", j.name, err)
	}
	secret, _ := seal(t, s, dmPlain(), 0)
	back := make([]byte, len(secret))
	if err := s.Decrypt(back, nil, secret, 0); err != nil || !bytes.Equal(back, dmPlain()) {
		t.Errorf("%s: does not give back what it took: %v", j.name, err)
	}
	return secret
}

// TestDmCryptGolden compares with what dm-crypt wrote when testdata/dmcrypt.tsv was made by TestDmCrypt.
func TestDmCryptGolden(t *testing.T) {
	file, err := os.Open("testdata/dmcrypt.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	golden := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, sum, _ := strings.Cut(lines.Text(), "\t")
		golden[name] = sum
	}
	jobs := dmJobs()
	if len(jobs) < 80 {
		t.Fatalf("%d jobs: ciphers are missing", len(jobs))
	}
	for _, j := range jobs {
		if got := fmt.Sprintf("%x", sha256.Sum256(j.encrypt(t))); got != golden[j.name] {
			t.Errorf("%s: SHA-256 %s, dm-crypt wrote %s", j.name, got, golden[j.name])
		}
	}
}

// TestDmCrypt lets the kernel do every job again and compares each byte. With COFFER_GOLDEN=write it keeps the sums.
func TestDmCrypt(t *testing.T) {
	umlrun, err := filepath.Abs("../../.ci/umlrun")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	jobs := dmJobs()
	var table, plain bytes.Buffer
	const sectors = dmPayloadBytes / 512
	for i, j := range jobs {
		fmt.Fprintf(&table, "%d %d crypt %s %x %d LOOP %d 1 sector_size:%d\n", i*sectors, sectors, j.spec, j.key(), j.skipSectors, i*sectors, j.sectorBytes)
		plain.Write(dmPlain())
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "table"), table.Bytes(), 0o600), os.WriteFile(filepath.Join(dir, "plain"), plain.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(umlrun, "testdata/dmcrypt.sh", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("dm-crypt in a user-mode kernel (apt-get install user-mode-linux kmod busybox-static cryptsetup-bin dmsetup): %v\n%s", err, out)
	}
	secret, err := os.ReadFile(filepath.Join(dir, "cipher"))
	if err != nil || len(secret) != len(jobs)*dmPayloadBytes {
		t.Fatalf("dm-crypt wrote %d bytes: %v\n%s", len(secret), err, out)
	}
	var golden bytes.Buffer
	for i, j := range jobs {
		want := secret[i*dmPayloadBytes : (i+1)*dmPayloadBytes]
		if !bytes.Equal(j.encrypt(t), want) {
			t.Errorf("%s: not what dm-crypt writes for %s", j.name, j.spec)
		}
		fmt.Fprintf(&golden, "%s\t%x\n", j.name, sha256.Sum256(want))
	}
	if os.Getenv("COFFER_GOLDEN") == "write" && !t.Failed() {
		if err := os.WriteFile("testdata/dmcrypt.tsv", golden.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
