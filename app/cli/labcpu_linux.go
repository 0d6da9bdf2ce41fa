package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// processCPU is the processor time that a process, with all its threads, has used so far; 0 when unknown.
func processCPU(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name of the program, in brackets, can hold anything: what counts comes behind it.
	_, rest, found := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " ")
	if !found {
		return 0
	}
	fields := strings.Fields(rest) // from field 3, the state
	if len(fields) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	const tick = time.Second / 100 // USER_HZ, the same on all of Linux
	return time.Duration(user+system) * tick
}
