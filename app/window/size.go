package window

import (
	"encoding/json"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"

	"coffer/app/config"
)

// Sizes of the window.
const (
	startWidth, startHeight = 1180, 760
	leastWidth, leastHeight = 900, 600
	mostWidth, mostHeight   = 8000, 6000
)

// memory is what the window remembers of itself. It is not a setting: nothing is lost with it.
type memory struct {
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
	Told   bool    `json:"toldThatDrivesStay,omitempty"`
}

func memoryFile(p config.Paths) string {
	if p.State == "" {
		return ""
	}
	return filepath.Join(p.State, "window.json")
}

// remember reads what the window remembers; what is not there, or makes no sense, is as at the first start.
func remember(file string) memory {
	m := memory{Width: startWidth, Height: startHeight}
	if raw, err := os.ReadFile(file); err == nil {
		var read memory
		if json.Unmarshal(raw, &read) == nil && read.Width >= leastWidth && read.Width <= mostWidth && read.Height >= leastHeight && read.Height <= mostHeight {
			m = read
		}
	}
	return m
}

// keep writes it. A failure is none for the person.
func (m memory) keep(file string) {
	raw, err := json.Marshal(m)
	if file == "" || err != nil || config.Ensure(filepath.Dir(file)) != nil {
		return
	}
	_ = os.WriteFile(file, raw, 0o600)
}

// size is the size remembered.
func (m memory) size() fyne.Size { return fyne.NewSize(m.Width, m.Height) }
