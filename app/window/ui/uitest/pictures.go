package uitest

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// PicturesOf begins a test that draws pictures for people: into $COFFER_PICTURES, or, where that is not set, into a folder that goes
// with the test. What it returns ends it: the test fails unless something was drawn, and if a picture is all of one colour.
func PicturesOf(t *testing.T) (end func()) {
	t.Helper()
	if os.Getenv("COFFER_PICTURES") != "" {
		return func() {}
	}
	folder := t.TempDir()
	t.Setenv("COFFER_PICTURES", folder)
	return func() {
		drawn, _ := filepath.Glob(filepath.Join(folder, "*.png"))
		if len(drawn) == 0 {
			t.Error("nothing was drawn")
		}
		for _, name := range drawn {
			if blank(t, name) {
				t.Errorf("%s shows nothing", filepath.Base(name))
			}
		}
	}
}

// blank says whether a picture is all of one colour.
func blank(t *testing.T, name string) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	area := picture.Bounds()
	first := picture.At(area.Min.X, area.Min.Y)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if picture.At(x, y) != first {
				return false
			}
		}
	}
	return true
}
