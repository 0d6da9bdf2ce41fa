package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readLine is the trimmed content of a small file; "" when it cannot be read.
func readLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// cpuinfoField is the first value of a field of /proc/cpuinfo.
func cpuinfoField(name string) string {
	for line := range strings.SplitSeq(readLine("/proc/cpuinfo"), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func systemNames() (cpu, osName, kernel string) {
	for line := range strings.SplitSeq(readLine("/etc/os-release"), "\n") {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			osName = strings.Trim(v, `"'`)
		}
	}
	cpu = cpuinfoField("model name")
	if cpu == "" { // arm64 kernels give no name, the device tree may
		cpu = strings.TrimRight(readLine("/proc/device-tree/model"), "\x00")
	}
	return cpu, osName, readLine("/proc/sys/kernel/osrelease")
}

func governorAndClock() (string, float64) {
	const dir = "/sys/devices/system/cpu/cpu0/cpufreq/"
	governor := readLine(dir + "scaling_governor")
	if khz, err := strconv.ParseFloat(readLine(dir+"scaling_cur_freq"), 64); err == nil {
		return governor, khz / 1000
	}
	mhz, err := strconv.ParseFloat(cpuinfoField("cpu MHz"), 64)
	if err != nil {
		mhz = 0
	}
	return governor, mhz
}

// hostFileSystem finds type and device through the mount table, by device
// number, and the device's write cache through sysfs.
func hostFileSystem(path string) (fsType, device, writeCache string, blockBytes int64) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "", "", "", 0
	}
	var sf unix.Statfs_t
	if unix.Statfs(path, &sf) == nil {
		blockBytes = int64(sf.Bsize) // 32 bits wide on 32-bit systems
	}
	number := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	fsType, source := mountOf(number)
	if strings.HasPrefix(source, "/dev/") {
		device = filepath.Base(source)
	}
	sys, err := filepath.EvalSymlinks("/sys/dev/block/" + number)
	if err != nil && device != "" { // btrfs and others use anonymous numbers
		sys, err = filepath.EvalSymlinks("/sys/class/block/" + device)
	}
	if err != nil {
		return fsType, device, "", blockBytes
	}
	if device == "" || device == "root" {
		device = filepath.Base(sys)
	}
	writeCache = readLine(filepath.Join(sys, "queue/write_cache"))
	if writeCache == "" { // a partition: the queue belongs to the whole disk
		writeCache = readLine(filepath.Join(filepath.Dir(sys), "queue/write_cache"))
	}
	return fsType, device, writeCache, blockBytes
}

// mountOf looks a device number up in /proc/self/mountinfo (proc_pid_mountinfo(5)).
func mountOf(number string) (fsType, source string) {
	for line := range strings.SplitSeq(readLine("/proc/self/mountinfo"), "\n") {
		left, right, ok := strings.Cut(line, " - ")
		fields, rest := strings.Fields(left), strings.Fields(right)
		if ok && len(fields) > 2 && fields[2] == number && len(rest) > 1 {
			return rest[0], rest[1]
		}
	}
	return "", ""
}
