package home

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// desk is the screen in a window over a Coffer in memory.
type desk struct {
	*uitest.Desk
	screen *Screen
	urls   []string
}

func open(t *testing.T, theme string) *desk {
	t.Helper()
	k := &desk{Desk: uitest.New(t, theme)}
	k.screen = New(k.Deps)
	k.screen.openURL = func(u *url.URL) error { k.urls = append(k.urls, u.String()); return nil }
	k.Window().SetContent(k.screen.Object())
	k.Size(1024, 700)
	return k
}

// add makes a container with a password of "secret" and puts it into the list.
func (k *desk) add(t *testing.T, name string) (string, *fake.Container) {
	t.Helper()
	path := filepath.Join(k.Folder, name)
	c := k.Coffer.Add(path, "secret")
	if err := k.Deps.Model.Add(path); err != nil {
		t.Fatal(err)
	}
	return path, c
}

// unlock unlocks one at the agents.
func (k *desk) unlock(t *testing.T, path string, change func(*fake.Container)) {
	t.Helper()
	if _, err := k.Coffer.Unlock(context.Background(), client.UnlockRequest{Image: path, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		t.Fatal(err)
	}
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	if change != nil {
		change(k.Coffer.Containers[path])
	}
}

func (k *desk) look() { k.Deps.Model.Look(context.Background()) }

func TestWelcome(t *testing.T) {
	k := open(t, ui.ThemeLight)
	k.screen.Shown("")
	k.Picture("home-welcome-light")
	k.Tap("Create a container")
	if !k.AskedFor("NewContainer ") {
		t.Errorf("asked for %q", k.Asked)
	}
	k.Button("Open one")
	k.add(t, "a.img")
	k.Until("the list is there", func() bool { return k.Says("Lock by itself") })
	if k.Says("Create a container") {
		t.Error("somebody with a container is still welcomed")
	}
}

func TestPictures(t *testing.T) {
	if os.Getenv("COFFER_PICTURES") == "" {
		t.Skip("COFFER_PICTURES names no folder")
	}
	for _, name := range []string{ui.ThemeLight, ui.ThemeDark} {
		k := open(t, name)
		var paths []string
		for _, one := range []string{"Photos.img", "Tax 2023.img", "archive.img", "a quite long name of a container that never ends and ends.img"} {
			path, _ := k.add(t, one)
			paths = append(paths, path)
		}
		_ = k.Deps.Model.Add(filepath.Join(k.Folder, "a very long folder name", "and another", "old stick.img"))
		_ = k.Deps.Model.Update(paths[0], func(c *config.Known) { c.Favourite = true })
		k.unlock(t, paths[0], func(c *fake.Container) { c.Status.OpenFiles, c.Status.LocksIn = 2, 540; c.Status.Label = "PHOTOS" })
		k.unlock(t, paths[1], nil)
		k.look()
		for i := range 5 {
			time.Sleep(100 * time.Millisecond)
			k.Coffer.Mu.Lock()
			s := &k.Coffer.Containers[paths[0]].Status
			s.FileSystem.BytesWritten += int64(i) * 3e6
			s.FileSystem.BytesRead += 2e6
			s.FileSystem.WriteRate, s.FileSystem.ReadRate = 4e6, 2e6
			k.Coffer.Mu.Unlock()
			k.look()
		}
		k.screen.Shown(paths[0])
		k.Until("info", func() bool { return k.Says("AES-256-XTS") })
		for _, size := range []fyne.Size{{Width: 836, Height: 660}, {Width: 1100, Height: 760}} {
			k.Size(size.Width, size.Height)
			k.Picture(fmt.Sprintf("home-open-%s-%.0f", name, size.Width))
		}
		k.screen.choose(paths[2])
		k.Until("info", func() bool { return k.Says("AES-256-XTS") })
		k.Picture("home-locked-" + name)
		k.screen.detail.object.ScrollToBottom()
		k.Picture("home-bottom-" + name)
		k.screen.Hidden()
	}
}
