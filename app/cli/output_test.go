package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "2GiB": 2 << 30, "2 GiB": 2 << 30, "2gib": 2 << 30, "1.5KiB": 1536, "700MB": 700e6,
		"1TB": 1e12, "16TiB": 16 << 40, "3kb": 3000, "5B": 5, " 1 MiB ": 1 << 20, "0.3B": 0, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "2G", "2M", "1e9", "0x10", "1.2.3", ".", "9223372036854775808", "9999999TiB", "1/2", "12 MiB x"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for sizeBytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 20 << 20: "20.0 MiB", 658e6: "628 MiB", 2 << 30: "2.00 GiB", 3 << 50: "3.00 PiB",
	} {
		if got := formatSize(sizeBytes); got != want {
			t.Errorf("%d: %s, want %s", sizeBytes, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain name.txt": "plain name.txt", "Zürich 日本": "Zürich 日本", "a\x1b[31mred": `a\x1b[31mred`, "two\nlines": `two\x0alines`,
		"bad\xff": `bad\xff`, "evil\u202egnp.exe": `evil\u202egnp.exe`, "\u009b31m": `\u009b31m`, "tab\t": `tab\x09`, "\U000e0001": `\U000e0001`,
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	harmless := func(raw []byte) bool {
		return !strings.ContainsFunc(escape(string(raw)), func(r rune) bool {
			return unicode.IsControl(r) || r == unicode.ReplacementChar && !bytes.ContainsRune(raw, r)
		})
	}
	if err := quick.Check(harmless, nil); err != nil {
		t.Error(err)
	}
}

func TestJSONReachesTheTerminalUnharmed(t *testing.T) {
	name := "a\u009b31m\u202egnp\x7f\U000e0001é日<&>"
	var buffer bytes.Buffer
	o := output{to: &buffer, json: true}
	if err := o.document(map[string]string{"name": name}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(buffer.String(), func(r rune) bool { return unsafeRune(r) && r != '\n' }) || !strings.Contains(buffer.String(), "é日<&>") {
		t.Errorf("printed %q", buffer.String())
	}
	var back map[string]string
	if err := json.Unmarshal(buffer.Bytes(), &back); err != nil || back["name"] != name {
		t.Errorf("read back %q, %v", back["name"], err)
	}
}

func TestOneDocument(t *testing.T) {
	var buffer bytes.Buffer
	o := output{to: &buffer, json: true}
	o.say("human text")
	o.chat("more")
	if err := o.document(map[string]string{"name": "<a&b>"}); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(buffer.Bytes(), &back); err != nil || back["name"] != "<a&b>" {
		t.Errorf("%s: %v", buffer.String(), err)
	}
	buffer.Reset()
	o = output{to: &buffer, quiet: true}
	o.say("result")
	o.chat("talk")
	if buffer.String() != "result\n" {
		t.Errorf("quiet printed %q", buffer.String())
	}
}
