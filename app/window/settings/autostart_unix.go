//go:build unix && !darwin

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// entryName is the file of the desktop's list of programs; packages install one of the same name for the menu.
const entryName = "org.coffer.Coffer.desktop"

// desktopEntry is a file in the folder autostart of the XDG rules.
type desktopEntry struct{ path string }

func systemAutostart() autostart {
	return desktopEntry{filepath.Join(xdg.ConfigHome, "autostart", entryName)}
}

func (e desktopEntry) enabled() (bool, error) {
	raw, err := os.ReadFile(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// Desktops switch an entry off by a line in it.
	off := strings.Contains(string(raw), "Hidden=true") || strings.Contains(string(raw), "X-GNOME-Autostart-enabled=false")
	return err == nil && !off, err
}

func (e desktopEntry) enable(program string) error {
	if program == "" || strings.ContainsAny(program, "\n\r") {
		return fmt.Errorf("start with the session: the path of this program, %q, cannot be written there", program)
	}
	if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	entry := "[Desktop Entry]\nType=Application\nName=Coffer\nComment=Encrypted drives in a file\nIcon=org.coffer.Coffer\n" +
		"Exec=" + quoteExec(program) + " " + hiddenFlag + "\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
	if err := os.WriteFile(e.path, []byte(entry), 0o600); err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	return nil
}

func (e desktopEntry) disable() error {
	if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("start with the session no more: %w", err)
	}
	return nil
}

// quoteExec writes a path as the key Exec takes it: in double quotes, with the characters quoted that mean something there, the
// backslash once more because it means something in every value, and a percent sign doubled.
func quoteExec(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range path {
		switch r {
		case '\\':
			b.WriteString(`\\\\`)
		case '"', '`', '$':
			b.WriteString(`\\`)
			b.WriteRune(r)
		case '%':
			b.WriteString("%%")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
