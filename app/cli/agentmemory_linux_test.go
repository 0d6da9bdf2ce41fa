package cli_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSecretsOfAgent searches the memory of an agent whose drive is in use: the password and the content of a key file
// must be nowhere, the volume key only in memory that is locked and left out of dumps. Nobody but root may look at all.
// After the lock there is no process, nothing in the folder for temporary files, nothing in the runtime folder.
func TestSecretsOfAgent(t *testing.T) {
	for _, how := range []string{"drive", "raw"} {
		t.Run(how, func(t *testing.T) {
			d := withDrives(t, "32MiB")
			temporary := filepath.Join(d.folder, "tmp")
			if err := os.Mkdir(temporary, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", temporary)
			password, keyfile := []byte("unmistakable pass phrase 8f31c7"), randomBytes(600, 71)
			writeFile(t, filepath.Join(d.folder, "secret"), append(bytes.Clone(password), '\n'))
			writeFile(t, filepath.Join(d.folder, "keyfile"), keyfile)
			run(t, d.folder, 0, "key", "add", "a.img", "--password-file", "pw", "--new-password-file", "secret",
				"--new-keyfile", "keyfile", "--kdf-memory=64KiB", "--kdf-time=1")
			key := volumeKey(t, d.image, filepath.Join(d.folder, "pw"))

			args := []string{"unlock", "a.img", "mnt", "--password-file", "secret", "--keyfile", "keyfile"}
			file := filepath.Join(d.point, "file")
			if how == "raw" {
				args, file = append(args, "--raw"), filepath.Join(d.point, "disk")
			}
			run(t, d.folder, 0, args...)
			pid := agents(t)[0]
			shuffle(t, file)
			ofFile := sha512.Sum512(keyfile)
			mac := hmac.New(sha512.New, ofFile[:])
			mac.Write(append([]byte("coffer key files and password, version 1\x00"), password...))
			passphrase := mac.Sum(nil)
			searchAgent(t, pid, map[string][]byte{"password": password, "password's half": password[:len(password)/2],
				"key file": keyfile[:64], "key file, its end": keyfile[540:], "hash of the key file": ofFile[:32],
				"passphrase of both": passphrase[:32], "passphrase in hexadecimal": []byte(hex.EncodeToString(passphrase)[:64]),
				"volume key, first half": key[:32], "volume key, second half": key[32:]})

			run(t, d.folder, 0, "lock", "mnt")
			ended(t, pid, 5*time.Second)
			for _, verb := range []string{"agent", "kdf-child", "unlock"} {
				if left := processes(t, verb); len(left) != 0 {
					t.Errorf("after the lock %q still runs: %v", verb, left)
				}
			}
			d.tidy()
			if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
				t.Errorf("temporary files: %v (%v)", left, err)
			}
			for _, line := range strings.Split(hostStrings(t, d.folder), "\n") {
				if strings.Contains(line, string(password)) && !strings.HasSuffix(strings.SplitN(line, ":", 2)[0], "/secret") {
					t.Errorf("the password is in a file: %s", line)
				}
			}
		})
	}
}

// volumeKey asks cryptsetup for the key that encrypts the payload.
func volumeKey(t *testing.T, image, password string) []byte {
	t.Helper()
	// cryptsetup takes a key file as it is: without the line end.
	text, err := os.ReadFile(password)
	if err != nil {
		t.Fatal(err)
	}
	dump := exec.Command("cryptsetup", "luksDump", "--dump-volume-key", "--batch-mode", "--key-file", "-", image)
	dump.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	dump.Stdin = bytes.NewReader(bytes.TrimSuffix(text, []byte("\n")))
	out, err := dump.CombinedOutput()
	if err != nil {
		t.Fatalf("cryptsetup (package cryptsetup-bin): %v\n%s", err, out)
	}
	_, after, found := strings.Cut(string(out), "MK dump:")
	if !found {
		_, after, found = strings.Cut(string(out), "Volume key:")
	}
	var key []byte
	for _, word := range strings.Fields(after) {
		var b byte
		if n, err := fmt.Sscanf(word, "%02x", &b); err != nil || n != 1 || len(word) != 2 {
			break
		}
		key = append(key, b)
	}
	if !found || len(key) != 64 {
		t.Fatalf("%d bytes of key in what cryptsetup says:\n%s", len(key), out)
	}
	return key
}

// shuffle writes and reads enough that every worker of the cipher has had the key in hand.
func shuffle(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content := randomBytes(8<<20, 3)
	for range 3 {
		if _, err := f.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(content, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// searchAgent looks for secrets in all memory of a process. What is called a volume key may be in locked memory, and must
// be there: else the search would find nothing at all.
func searchAgent(t *testing.T, pid int, secrets map[string][]byte) {
	t.Helper()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if os.Getuid() != 0 {
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("another process of the same user could read the memory: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	locked, image, read := map[string]int{}, false, 0
	for _, r := range memoryRegions(t, pid) {
		content := make([]byte, r.to-r.from)
		n, _ := memory.ReadAt(content, r.from) // parts that were never touched cannot be read
		read, image = read+n, image || bytes.Contains(content[:n], []byte("a.img"))
		for what, secret := range secrets {
			found := bytes.Count(content[:n], secret)
			switch {
			case found == 0:
			case strings.HasPrefix(what, "volume key") && strings.Contains(r.flags, " lo ") && strings.Contains(r.flags, " dd "):
				locked[what] += found
			default:
				t.Errorf("the %s is in memory %d times, in %s, flags%s", what, found, r.line, r.flags)
			}
		}
	}
	for what := range secrets {
		if n := locked[what]; strings.HasPrefix(what, "volume key") && n != 1 {
			t.Errorf("the %s is in locked memory %d times, want once: in the key schedule", what, n)
		}
	}
	if read < 1<<20 || !image {
		t.Fatalf("%d bytes of memory were read, the image's name found: %v; the test looks at nothing", read, image)
	}
	t.Logf("%d KiB searched", read>>10)
}

// memoryRegion is a part of the memory of a process that can be read.
type memoryRegion struct {
	from, to int64
	line     string
	flags    string // " rd wr ... lo ", as the kernel names them
}

func memoryRegions(t *testing.T, pid int) []memoryRegion {
	t.Helper()
	file, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []memoryRegion
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		var r memoryRegion
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &r.from, &r.to, &rights); n == 3 {
			r.line = line
			all = append(all, r)
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
			all[len(all)-1].flags = strings.TrimRight(flags, " ") + " "
		}
	}
	var readable []memoryRegion
	for _, r := range all {
		if strings.Contains(r.flags, " rd ") && !strings.Contains(r.line, "[vvar") && r.to-r.from < 1<<30 {
			readable = append(readable, r)
		}
	}
	return readable
}

// hostStrings is every line with a secret's words in the files of a folder, except in the drive and the image.
func hostStrings(t *testing.T, folder string) string {
	t.Helper()
	search := exec.Command("grep", "-raH", "--exclude=*.img", "unmistakable pass", folder)
	out, err := search.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	return string(out)
}
