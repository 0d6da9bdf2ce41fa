package settings

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// launchAgent is a file that launchd of this user reads at login.
type launchAgent struct{ path string }

func systemAutostart() autostart {
	home, _ := os.UserHomeDir()
	return launchAgent{filepath.Join(home, "Library", "LaunchAgents", "org.coffer.Coffer.plist")}
}

func (a launchAgent) enabled() (bool, error) {
	_, err := os.Stat(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (a launchAgent) enable(program string) error {
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte(program)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	plist := `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>org.coffer.Coffer</string>
<key>ProgramArguments</key><array><string>` + escaped.String() + `</string><string>` + hiddenFlag + `</string></array>
<key>RunAtLoad</key><true/>
<key>ProcessType</key><string>Interactive</string>
</dict></plist>
`
	if err := os.WriteFile(a.path, []byte(plist), 0o600); err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	return nil
}

func (a launchAgent) disable() error {
	if err := os.Remove(a.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("start with the session no more: %w", err)
	}
	return nil
}
