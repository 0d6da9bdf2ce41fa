// Package config knows where Coffer keeps what belongs to one user, and the settings file.
//
// Nothing here is secret: no password, key or name from inside a container is ever stored in these folders. Folders are
// created 0700, files 0600.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"
)

// PortableFolder is the folder beside the program that switches on portable mode: when it exists, settings, records and
// logs live in it and nothing is written to the user's profile (a program on a memory stick).
const PortableFolder = "coffer-data"

// Paths are the folders of one user. They need not exist; Ensure makes them. "" means that there is no such folder, as
// for a user without a home.
type Paths struct {
	Config   string // settings file
	Data     string // transfer records
	State    string // logs, reports of crashes
	Portable bool   // all of them are inside PortableFolder
	Records  string // the folder of the records if the settings name one; "": in Data
}

// Locate returns the folders for the program at executable (an absolute path; "" switches the search for portable mode
// off). By default they follow the XDG rules on Unix, the known folders on Windows and ~/Library on macOS.
func Locate(executable string) Paths {
	if executable != "" {
		if resolved, err := filepath.EvalSymlinks(executable); err == nil {
			executable = resolved
		}
		folder := filepath.Join(filepath.Dir(executable), PortableFolder)
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return Paths{Config: folder, Data: folder, State: folder, Portable: true}
		}
	}
	return Paths{
		Config: base("XDG_CONFIG_HOME", xdg.ConfigHome),
		Data:   base("XDG_DATA_HOME", xdg.DataHome),
		State:  base("XDG_STATE_HOME", xdg.StateHome),
	}
}

// base is Coffer's folder in a base folder. Without a home the XDG rules would lead to folders in the root; then only
// what the environment variable names counts, and "" means that there is no such folder.
func base(variable, folder string) string {
	if os.Getenv("HOME") == "" && runtime.GOOS != "windows" && !filepath.IsAbs(os.Getenv(variable)) {
		return ""
	}
	return filepath.Join(folder, "coffer")
}

// SettingsFile is the path of the settings file.
func (p Paths) SettingsFile() string { return p.in(p.Config, "settings.json") }

// RecordsFolder is where transfer records are kept, one file each.
func (p Paths) RecordsFolder() string {
	if p.Records != "" {
		return p.Records
	}
	return p.in(p.Data, "records")
}

// LogFile is the path of the current log file.
func (p Paths) LogFile() string { return p.in(p.State, "coffer.log") }

// in is name in folder; "" stays "".
func (Paths) in(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// Ensure makes folder (and its parents) readable by its owner only.
func Ensure(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make folder %s: %w", folder, err)
	}
	return nil
}
