package window

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/assets"
)

// TestScreensInEachLanguage: every page speaks the language chosen, without a word of English left, and fits the smallest
// screen the window is made for.
func TestScreensInEachLanguage(t *testing.T) {
	pages := []string{"home", "files", "transfers", "lab", "health", "settings"}
	says := map[string][]string{
		"en": {"Lock all", "Add files…", "Nothing is being copied", "New experiment", "Health and keys", "Appearance"},
		"de": {"Alle sperren", "Dateien hinzufügen…", "Nichts wird kopiert", "Neues Experiment", "Zustand und Schlüssel", "Aussehen"},
		"es": {"Bloquear todo", "Añadir archivos…", "No se está copiando nada", "Nuevo experimento", "Estado y claves", "Apariencia"},
	}
	for language, words := range says {
		t.Run(language, func(t *testing.T) {
			text.Use(language)
			defer text.Use()
			w, s := newSpeaker(t)
			left := untranslated(t, language)
			for page, name := range pages {
				w.Show(ui.Page(page), "")
				s.until(name+" says "+words[page], func() bool { return slices.Contains(textsOf(w.window.Content()), words[page]) })
				for _, one := range textsOf(w.window.Content()) {
					if left[one] {
						t.Errorf("%s says %q in English", name, one)
					}
				}
				if least := w.window.Content().MinSize(); least.Width > 1024 || least.Height > 700 {
					t.Errorf("%s needs %.0f x %.0f", name, least.Width, least.Height)
				}
				if words, over := widest(w.window.Content()); over > 0 {
					t.Errorf("%s: %q goes %.0f beyond the window", name, words, over)
				}
			}
		})
	}
}

// widest is the text that goes farthest beyond the right edge of an object, and how far.
func widest(window fyne.CanvasObject) (words []string, over float32) {
	walk(window, func(o fyne.CanvasObject) {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
		if beyond := at.X + o.Size().Width - window.Size().Width; beyond > over || beyond == over && len(words) > 1 {
			words, over = textsOf(o), beyond
		}
	})
	return words, over
}

// newSpeaker is a window with its real screens and some containers.
func newSpeaker(t *testing.T) (*window, *shell) {
	t.Helper()
	app := test.NewTempApp(t)
	ui.UseTheme(app, ui.ThemeLight)
	s := &shell{t: t, coffer: fake.New(), folder: t.TempDir(), posted: make(chan func(), 10000)}
	m, err := model.New(s.coffer, filepath.Join(s.folder, "containers.json"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &ui.Deps{Model: m, Backend: s.coffer.Backend(), Context: ctx, Post: func(f func()) { s.posted <- f },
		Paths: config.Paths{Config: s.folder, Data: s.folder, State: s.folder}}
	w := newWindow(ctx, app, d)
	s.window = w
	t.Cleanup(func() {
		w.screens[w.page].Hidden()
		cancel()
		d.Wait()
	})
	w.window.Resize(fyne.NewSize(1024, 700))
	s.image("Taxes.img")
	w.chosen = s.image("Photos.img")
	if _, err := s.coffer.Unlock(ctx, client.UnlockRequest{Image: w.chosen, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		t.Fatal(err)
	}
	m.Look(ctx)
	return w, s
}

// untranslated are the English texts that read otherwise in a language.
func untranslated(t *testing.T, language string) map[string]bool {
	t.Helper()
	raw, err := assets.Translations.ReadFile("translations/" + language + ".json")
	all := map[string]string{}
	if err != nil || json.Unmarshal(raw, &all) != nil {
		t.Fatalf("translations into %s: %v", language, err)
	}
	left := map[string]bool{}
	for english, translated := range all {
		left[english] = english != translated
	}
	for _, translated := range all {
		delete(left, translated) // also a word of the language
	}
	return left
}

// textsOf are the texts to be seen in an object.
func textsOf(o fyne.CanvasObject) (all []string) {
	walk(o, func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widget.Label:
			all = append(all, o.Text)
		case *canvas.Text:
			all = append(all, strings.TrimSpace(o.Text))
		}
	})
	return all
}

// walk visits what is to be seen of an object, down to labels and what widgets draw.
func walk(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	if !o.Visible() {
		return
	}
	visit(o)
	switch o := o.(type) {
	case *fyne.Container:
		for _, child := range o.Objects {
			walk(child, visit)
		}
	case *widget.Label:
	case fyne.Widget:
		for _, child := range test.WidgetRenderer(o).Objects() {
			walk(child, visit)
		}
	}
}
