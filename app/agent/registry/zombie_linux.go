package registry

import (
	"bytes"
	"fmt"
	"os"
)

// zombie says whether a process has ended and is only waited for.
func zombie(pid int) bool {
	// "1234 (name, which may hold anything) Z ..."
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(status[max(bytes.LastIndexByte(status, ')'), 0):], []byte(") "))
	return found && len(state) > 0 && (state[0] == 'Z' || state[0] == 'X')
}
