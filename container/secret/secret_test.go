package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"coffer/container/secret"
)

func TestBuffer(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 4097, 300_000} {
		b, err := secret.New(n)
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() != n || !bytes.Equal(b.Bytes(), make([]byte, n)) {
			t.Errorf("%d bytes: %d, zeroed %v", n, b.Len(), bytes.Equal(b.Bytes(), make([]byte, n)))
		}
		if n > 0 && n <= 4096 && !b.Locked() {
			t.Errorf("%d bytes could not be locked", n)
		}
		for i := range b.Bytes() {
			b.Bytes()[i] = byte(i + 1)
		}
		b.Wipe()
		if !bytes.Equal(b.Bytes(), make([]byte, n)) {
			t.Errorf("%d bytes: not wiped", n)
		}
		b.Destroy()
		b.Destroy()
		if b.Bytes() != nil || b.Len() != 0 {
			t.Error("destroyed buffer has bytes")
		}
	}
	for _, n := range []int{-1, secret.MaxBytes + 1} {
		if _, err := secret.New(n); !errors.Is(err, secret.ErrTooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	var none *secret.Buffer
	none.Destroy()
	if none.Len() != 0 || none.Locked() {
		t.Error("nil is not empty")
	}
}

func TestFromBytes(t *testing.T) {
	p := []byte("correct horse")
	b, err := secret.FromBytes(p)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy()
	if !b.Equal([]byte("correct horse")) || b.Equal([]byte("correct house")) || b.Equal([]byte("correct")) {
		t.Error("content is wrong")
	}
	if !bytes.Equal(p, make([]byte, len(p))) {
		t.Errorf("source is %q, want zeros", p)
	}
	b.Truncate(7)
	if string(b.Bytes()) != "correct" || cap(b.Bytes()) != 7 {
		t.Errorf("truncated: %q", b.Bytes())
	}
}

// TestNeverPrints: no verb and no encoding shows the content.
func TestNeverPrints(t *testing.T) {
	b, err := secret.FromBytes([]byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy()
	holder := struct {
		Password *secret.Buffer
		List     []*secret.Buffer
	}{b, []*secret.Buffer{b}}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%c", "%U", "%t"} {
		fmt.Fprintf(&out, verb+"\n", b)
		fmt.Fprintf(&out, verb+"\n", holder)
	}
	j, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(j)
	fmt.Fprintln(&out, fmt.Errorf("error with %v", b), b.String(), b.GoString())
	for _, leak := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), "104 117 110", "0x68, 0x75", "aHVudGVyMg"} {
		if strings.Contains(strings.ToLower(out.String()), strings.ToLower(leak)) {
			t.Errorf("%q is in:\n%s", leak, &out)
		}
	}
}

func TestRead(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 4097, 8191, 8192, 100_000} {
		want := bytes.Repeat([]byte("k"), n)
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(want), "bytewise": iotest.OneByteReader(bytes.NewReader(want)), "data and EOF": iotest.DataErrReader(bytes.NewReader(want))} {
			b, err := secret.Read(r, 100_000)
			if err != nil || !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s, %d bytes: %d %v", name, n, b.Len(), err)
			}
			b.Destroy()
		}
	}
	for _, limit := range []int{0, 10, 4096, 99_999} {
		if _, err := secret.Read(bytes.NewReader(make([]byte, limit+1)), limit); !errors.Is(err, secret.ErrTooLarge) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if b, err := secret.Read(bytes.NewReader(make([]byte, limit)), limit); err != nil || b.Len() != limit {
			t.Errorf("limit %d reached: %v", limit, err)
		}
	}
	if _, err := secret.Read(iotest.ErrReader(io.ErrClosedPipe), 10); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("failing reader: %v", err)
	}
}

func TestReadLine(t *testing.T) {
	for in, want := range map[string]string{
		"pass\n": "pass", "pass\r\n": "pass", "pass": "pass", "pass\nrest": "pass", "\nrest": "", "a\rb\n": "a\rb",
		"0123456789\n": "0123456789", "0123456789\r\n": "0123456789", "0123456789": "0123456789",
	} {
		r := strings.NewReader(in)
		b, err := secret.ReadLine(r, 10)
		if err != nil || string(b.Bytes()) != want {
			t.Errorf("%q: %q %v", in, b.Bytes(), err)
		}
		if rest, _ := io.ReadAll(r); strings.HasSuffix(in, "rest") != (string(rest) == "rest") {
			t.Errorf("%q: %q is left", in, rest)
		}
		b.Destroy()
	}
	for _, in := range []string{"0123456789x", "0123456789x\n", "0123456789xyz\n"} {
		if _, err := secret.ReadLine(strings.NewReader(in), 10); !errors.Is(err, secret.ErrTooLarge) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, err := secret.ReadLine(strings.NewReader(""), 10); err != io.EOF {
		t.Errorf("no input: %v", err)
	}
}
