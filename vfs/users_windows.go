package vfs

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// systemUsers is empty: Windows tells no ordinary user which program holds what. The handles WinFsp reports carry the
// process, which is enough, for a working directory is a handle there.
func (*userFinder) systemUsers(string) []User { return nil }

// describeProcess gives the name of a program; "" if it has ended or may not be asked.
func describeProcess(pid int) (int, string) {
	if pid <= 0 {
		return 0, ""
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return pid, ""
	}
	defer func() { _ = windows.CloseHandle(h) }()
	buffer := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buffer))
	if err := windows.QueryFullProcessImageName(h, 0, &buffer[0], &size); err != nil {
		return pid, ""
	}
	return pid, strings.TrimSuffix(filepath.Base(windows.UTF16ToString(buffer[:size])), ".exe")
}

func isSelf(pid int) bool { return pid == int(windows.GetCurrentProcessId()) }
