package report

import (
	"time"

	"golang.org/x/sys/windows"
)

func processTimes() Times {
	var creation, exit, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &creation, &exit, &kernel, &user) != nil {
		return Times{}
	}
	ticks := func(f windows.Filetime) time.Duration { // units of 100 ns
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return Times{User: ticks(user), System: ticks(kernel)}
}
