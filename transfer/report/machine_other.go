//go:build !linux

package report

func systemNames() (cpu, osName, kernel string) { return "", "", "" }

func governorAndClock() (string, float64) { return "", 0 }

func hostFileSystem(string) (fsType, device, writeCache string, blockBytes int64) {
	return "", "", "", 0
}
