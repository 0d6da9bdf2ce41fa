//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/adrg/xdg"
)

// runtimeFolder follows the XDG rules; a session without the variable (cron, sudo) finds the same folder where there is
// one. A variable that leads to another user's folder (su without a login) counts as not set.
func runtimeFolder() string {
	candidates := []string{os.Getenv("XDG_RUNTIME_DIR")}
	if runtime.GOOS == "linux" {
		candidates = append(candidates, "/run/user/"+strconv.Itoa(os.Geteuid()))
	}
	for _, base := range candidates {
		if info, err := os.Stat(base); filepath.IsAbs(base) && err == nil && info.IsDir() && owned(info) {
			return filepath.Join(base, "coffer")
		}
	}
	state := base("XDG_STATE_HOME", xdg.StateHome)
	if state == "" {
		return ""
	}
	return filepath.Join(state, "run")
}

// owned says whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}

// protectFolder takes away what an unusual umask may have left.
func protectFolder(path string) error { return os.Chmod(path, 0o700) }

func checkOwner(path string, info fs.FileInfo) error {
	if !owned(info) {
		return fmt.Errorf("%s belongs to another user", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others (mode %#o); `chmod 700` it if you know why", path, info.Mode().Perm())
	}
	return nil
}
