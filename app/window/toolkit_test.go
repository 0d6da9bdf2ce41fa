package window

import (
	"log"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2/lang"

	"coffer/app/window/text"
)

// TestToolkitSpeaksTheLanguageChosen: whatever the system speaks, and after another one was chosen.
func TestToolkitSpeaksTheLanguageChosen(t *testing.T) {
	defer func() {
		text.Use()
		translateToolkit()
	}()
	for _, system := range []string{"C", "en_US.UTF-8", "de_AT.UTF-8", "pt_BR.UTF-8", "fr_CH.UTF-8"} {
		for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
			t.Setenv(name, system)
		}
		for _, one := range []struct{ language, paste, name string }{{"de", "Einfügen", "Name"}, {"es", "Pegar", "Nombre"}, {"en", "Paste", "Name"}} {
			text.Use(one.language)
			translateToolkit()
			if paste, name := lang.L("Paste"), lang.X("file.name", "Name"); paste != one.paste || name != one.name {
				t.Errorf("%s on a system in %s: %q and %q, want %q and %q", one.language, system, paste, name, one.paste, one.name)
			}
		}
	}
}

// TestNoLanguage: a system set to no language is spoken to in English, without a complaint; one with a language keeps it.
func TestNoLanguage(t *testing.T) {
	var said strings.Builder
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	for system, want := range map[string]string{"C": "en", "C.UTF-8": "en", "POSIX.UTF-8": "en", "de_AT.UTF-8": "de-AT"} {
		for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES"} {
			t.Setenv(name, "")
		}
		t.Setenv("LANG", system)
		nameLanguage()
		if got := lang.SystemLocale(); !strings.HasPrefix(string(got), want) {
			t.Errorf("%s is %s", system, got)
		}
	}
	if said.Len() > 0 {
		t.Errorf("the toolkit complains: %s", said.String())
	}
}
