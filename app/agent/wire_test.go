package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"coffer/app/session"
	"coffer/container/secret"
)

func secretOf(t *testing.T, text string) *secret.Buffer {
	t.Helper()
	b, err := secret.Copy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Destroy)
	return b
}

// TestRequestRoundTrip: settings and credentials arrive as they were sent, also in single bytes, and nothing behind them
// is taken from the pipe.
func TestRequestRoundTrip(t *testing.T) {
	settings := Settings{Image: "/i\nmage", Named: "i", Format: "luks2", ReadOnly: true, MountPoint: "/mnt", Idle: Duration(time.Minute), Slot: 3}
	for name, c := range map[string]session.Credential{
		"none":           {Slot: 3},
		"password":       {Slot: 3, Password: secretOf(t, "correct horse")},
		"key files":      {Slot: 3, Keyfiles: []*secret.Buffer{secretOf(t, "one"), secretOf(t, strings.Repeat("two", 100_000))}},
		"both":           {Slot: 3, Password: secretOf(t, "p"), Keyfiles: []*secret.Buffer{secretOf(t, "k")}},
		"empty password": {Slot: 3, Password: secretOf(t, "")},
	} {
		var pipe bytes.Buffer
		if err := writeRequest(&pipe, settings, c); err != nil {
			t.Fatal(err)
		}
		pipe.WriteByte(keep)
		r := iotest.OneByteReader(&pipe)
		gotSettings, got, err := readRequest(r)
		if err != nil || !reflect.DeepEqual(gotSettings, settings) {
			t.Errorf("%s: %+v, %v", name, gotSettings, err)
		}
		if (got.Password == nil) != (c.Password == nil) || !bytes.Equal(got.Password.Bytes(), c.Password.Bytes()) || len(got.Keyfiles) != len(c.Keyfiles) || got.Slot != 3 {
			t.Errorf("%s: another credential arrived", name)
		}
		for i := range got.Keyfiles {
			if !bytes.Equal(got.Keyfiles[i].Bytes(), c.Keyfiles[i].Bytes()) {
				t.Errorf("%s: another key file arrived", name)
			}
		}
		if rest, err := io.ReadAll(r); err != nil || string(rest) != string(keep) {
			t.Errorf("%s: %q is left in the pipe, want what comes after", name, rest)
		}
		got.Destroy()
	}
}

// TestBadRequests: a request cut anywhere, or with lengths that cannot be, is an error and takes no memory for them.
func TestBadRequests(t *testing.T) {
	var pipe bytes.Buffer
	if err := writeRequest(&pipe, Settings{Image: "/i"}, session.Credential{Password: secretOf(t, "pass"), Keyfiles: []*secret.Buffer{secretOf(t, "key")}}); err != nil {
		t.Fatal(err)
	}
	whole := pipe.Bytes()
	for cut := range len(whole) {
		if _, _, err := readRequest(bytes.NewReader(whole[:cut])); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", cut, len(whole))
		}
	}
	for name, request := range map[string]string{
		"no JSON":           "hello\n",
		"endless settings":  strings.Repeat("x", maxSettings+10),
		"no magic":          "{}\nNOTMAGIC\x00\x00\x00\x01p\x00\x00\x00\x00",
		"long password":     "{}\n" + wireMagic + "\x00\x10\x00\x00",
		"longest password":  "{}\n" + wireMagic + "\xff\xff\xff\xfe",
		"many key files":    "{}\n" + wireMagic + "\xff\xff\xff\xff\x00\x01\x00\x00",
		"a large key file":  "{}\n" + wireMagic + "\xff\xff\xff\xff\x00\x00\x00\x01\x7f\xff\xff\xff",
		"a missing keyfile": "{}\n" + wireMagic + "\xff\xff\xff\xff\x00\x00\x00\x02\x00\x00\x00\x01k",
	} {
		_, c, err := readRequest(strings.NewReader(request))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if c.Password != nil || len(c.Keyfiles) != 0 {
			t.Errorf("%s: secrets were left", name)
		}
	}
}

// TestSettingsHoldNoSecret: nothing of the settings line could carry a credential.
func TestSettingsHoldNoSecret(t *testing.T) {
	text, err := json.Marshal(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"password", "keyfile", "secret", "key\""} {
		if strings.Contains(strings.ToLower(string(text)), word) {
			t.Errorf("the settings have a field about %s: %s", word, text)
		}
	}
}

// TestErrorsSurviveTheWire: what the agent explains is explained the same by its client.
func TestErrorsSurviveTheWire(t *testing.T) {
	for _, p := range []session.Problem{
		{Sentence: "open photos.img: wrong password or key", Hint: "look", Code: session.WrongKey},
		{Sentence: "lock a.img: in use by vim (process 1), which writes /mnt/a: b", Code: session.InUse},
		{Sentence: "something", Code: session.Failed},
	} {
		if got := session.Explain(asError(p)); got != p {
			t.Errorf("%+v became %+v", p, got)
		}
	}
	if got := session.Explain(asError(session.Problem{Sentence: "x"})); got.Code != session.Failed {
		t.Errorf("a problem without a code became %d", got.Code)
	}
}

func TestPick(t *testing.T) {
	entries := []Entry{{ID: "1", Image: "/images/a.img", MountPoint: "/drives/a"}, {ID: "2", Image: "/images/b.img"}}
	for named, want := range map[string]string{
		"/drives/a": "1", "/drives/../drives/a/": "1", "/images/a.img": "1", "/images/b.img": "2", "/images/c.img": "", "/drives": "", "": "",
	} {
		e, ok := pick(entries, named)
		if ok != (want != "") || e.ID != want {
			t.Errorf("%q finds %q, want %q", named, e.ID, want)
		}
	}
}

func TestMeterRates(t *testing.T) {
	var m meter
	begin := time.Now()
	at := func(second float64, read int64) counts {
		c := counts{at: begin.Add(time.Duration(second * float64(time.Second)))}
		c.fileSystem.read, c.backing.written = read, 2*read
		return c
	}
	if fs, image := m.traffic(at(0, 5)); fs.ReadRate != 0 || fs.BytesRead != 5 || image.BytesWritten != 10 {
		t.Errorf("without samples: %+v %+v", fs, image)
	}
	for second := range 10 {
		m.sample(at(float64(second), int64(second)*1000))
	}
	fs, image := m.traffic(at(9.5, 9500))
	if fs.ReadRate < 999 || fs.ReadRate > 1001 || image.WriteRate < 1999 || image.WriteRate > 2001 || fs.WriteRate != 0 {
		t.Errorf("steady: %+v %+v", fs, image)
	}
	if len(m.samples) > 5 {
		t.Errorf("%d samples are kept", len(m.samples))
	}
	for second := 10; second < 20; second++ {
		m.sample(at(float64(second), 10_000))
	}
	if fs, _ := m.traffic(at(19.5, 10_000)); fs.ReadRate != 0 || fs.BytesRead != 10_000 {
		t.Errorf("after the end: %+v", fs)
	}
}
