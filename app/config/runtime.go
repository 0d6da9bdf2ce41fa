package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNoRuntime says that there is nowhere to keep sockets, as for a user without a home.
var ErrNoRuntime = errors.New("no folder for sockets: neither XDG_RUNTIME_DIR nor a home folder is set")

// RuntimeFolder is where the processes of this user that hold an unlocked container keep their sockets, and where drives
// without a mount point of their own appear. It is the same for every session of the user on this computer, in portable
// mode too: a memory stick cannot hold sockets. It need not exist; RuntimeDir makes it.
func RuntimeFolder() (string, error) {
	folder := runtimeFolder()
	if folder == "" {
		return "", ErrNoRuntime
	}
	return folder, nil
}

// RuntimeDir makes the runtime folder, readable by its owner only, and returns it. A folder that others could have made
// or can change, or a link in its place, is an error: who controls it could stand between the program and its agents.
func RuntimeDir() (string, error) {
	folder, err := RuntimeFolder()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return "", fmt.Errorf("make runtime folder: %w", err)
	}
	return folder, makePrivate(folder)
}

// makePrivate makes a folder for this user alone, unless it is there.
func makePrivate(folder string) error {
	err := os.Mkdir(folder, 0o700)
	if err == nil {
		err = protectFolder(folder)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make runtime folder %s: %w", folder, err)
	}
	return CheckPrivate(folder)
}

// CheckPrivate says whether path is a folder, no link, that belongs to this user and that nobody else can enter. Of a
// missing folder the error is fs.ErrNotExist.
func CheckPrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder of its own (%s)", path, info.Mode().Type())
	}
	return checkOwner(path, info)
}
