package text

import (
	"testing"
	"time"
)

// speak chooses a language for a test.
func speak(t *testing.T, preferred ...string) {
	t.Helper()
	Use(preferred...)
	t.Cleanup(func() { Use() })
}

func TestUse(t *testing.T) {
	for _, one := range []struct {
		preferred []string
		want      string
	}{
		{nil, "Cancel"},
		{[]string{"en"}, "Cancel"},
		{[]string{"de"}, "Abbrechen"},
		{[]string{"de-AT"}, "Abbrechen"},
		{[]string{"de-Latn-DE"}, "Abbrechen"},
		{[]string{"es-MX"}, "Cancelar"},
		{[]string{"fr", "es"}, "Cancelar"},
		{[]string{"fr-CH"}, "Cancel"},
		{[]string{"", "no language"}, "Cancel"},
	} {
		speak(t, one.preferred...)
		if got := T("Cancel"); got != one.want {
			t.Errorf("%q: %q, want %q", one.preferred, got, one.want)
		}
	}
	for preferred, want := range map[string]string{"de-AT": "de", "es": "es", "en-GB": "en", "fr": "en"} {
		if speak(t, preferred); Language() != want {
			t.Errorf("%q: language %q, want %q", preferred, Language(), want)
		}
	}
}

func TestLanguages(t *testing.T) {
	var all []string
	for _, tag := range Languages() {
		all = append(all, tag.String())
	}
	if len(all) != 3 || all[0] != "en" || all[1] != "de" || all[2] != "es" {
		t.Errorf("languages %q, want English, German, Spanish", all)
	}
}

func TestNumbersFollowTheLanguage(t *testing.T) {
	for _, one := range []struct{ language, many, size, rate string }{
		{"en", "12,345 files", "1.5 GB", "12.3 MB/s"},
		{"de", "12.345 Dateien", "1,5 GB", "12,3 MB/s"},
		{"es", "12.345 archivos", "1,5 GB", "12,3 MB/s"},
	} {
		speak(t, one.language)
		if got := N(12345, "1 file", "%d files"); got != one.many {
			t.Errorf("%s: %q, want %q", one.language, got, one.many)
		}
		if got := Size(1_500_000_000); got != one.size {
			t.Errorf("%s: %q, want %q", one.language, got, one.size)
		}
		if got := Rate(12.3e6); got != one.rate {
			t.Errorf("%s: %q, want %q", one.language, got, one.rate)
		}
	}
	speak(t, "de")
	if got := N(1, "1 file", "%d files"); got != "1 Datei" {
		t.Errorf("one file is %q", got)
	}
	if got := T("%s of %s used, %s free", "1", "3", "2"); got != "1 von 3 belegt, 2 frei" {
		t.Errorf("values are %q", got)
	}
}

func TestSizesRatesSpans(t *testing.T) {
	speak(t, "en")
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9950: "10 kB", 999_500: "1.0 MB", 123_456_789: "123 MB",
		5_000_000_000_000_000_000: "5,000 PB"} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%d) = %q, want %q", bytes, got, want)
		}
	}
	for rate, want := range map[float64]string{0: "0 MB/s", 499: "0 MB/s", 500: "0.001 MB/s", 50_000: "0.050 MB/s", 99_600: "0.1 MB/s", 99.94e6: "99.9 MB/s", 99.96e6: "100 MB/s", 1.5e9: "1,500 MB/s"} {
		if got := Rate(rate); got != want {
			t.Errorf("Rate(%v) = %q, want %q", rate, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 s", 59_400 * time.Millisecond: "59 s", time.Minute: "1 min 0 s", 200 * time.Second: "3 min 20 s", 125 * time.Minute: "2 h 5 min"} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}
