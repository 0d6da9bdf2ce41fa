package vfs

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	usersPatience = 2 * time.Second // for one search
	mapReaders    = 8               // processes whose maps are read side by side
	maxPerProcess = 32              // files of one process that are listed
)

// systemUsers searches /proc. Links there are read, never followed into the mount. Reading the maps of a process may
// wait for a page fault of that process, which on a dead mount never ends: that part runs in goroutines that are
// left behind when patience ends.
func (f *userFinder) systemUsers(point string) []User {
	s := &userSearch{finder: f, mount: identifyMount(point)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.all()
	}()
	timer := time.NewTimer(usersPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.found
}

// mountIdentity is what /proc calls a mount.
type mountIdentity struct {
	point        string // as the kernel spells it, symbolic links resolved
	major, minor uint32
	known        bool // major and minor are
}

// identifyMount finds the mount at point without touching it.
func identifyMount(point string) mountIdentity {
	m := mountIdentity{point: filepath.Clean(point)}
	// Not the last part: looking at it would ask the mounted file system.
	if folder, err := filepath.EvalSymlinks(filepath.Dir(m.point)); err == nil {
		m.point = filepath.Join(folder, filepath.Base(m.point))
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return m
	}
	for line := range bytes.Lines(table) {
		// "36 35 98:0 /root /point options - type source ..."
		fields := strings.Fields(string(line))
		if len(fields) < 5 || unescapeOctal(fields[4]) != m.point {
			continue
		}
		m.major, m.minor, m.known = parseDevice(fields[2], 10) // the last one is on top
	}
	return m
}

// parseDevice reads "major:minor".
func parseDevice(text string, base int) (major, minor uint32, ok bool) {
	a, b, ok := strings.Cut(text, ":")
	x, errX := strconv.ParseUint(a, base, 32)
	y, errY := strconv.ParseUint(b, base, 32)
	return uint32(x), uint32(y), ok && errX == nil && errY == nil
}

// unescapeOctal undoes what /proc does to blanks, line ends and backslashes.
func unescapeOctal(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// owns says whether path, as /proc shows it, is the mount point or below it.
func (m *mountIdentity) owns(path string) bool {
	return path == m.point || strings.HasPrefix(path, m.point) && path[len(m.point)] == '/'
}

// holds says whether the object behind a link in /proc is on the mount, and under which path. The path decides, or, for
// bind mounts and other mount name spaces, the device: asked for nothing and told not to sync, the kernel
// answers that without asking the file system.
func (m *mountIdentity) holds(link string) (path string, ok bool) {
	path, err := os.Readlink(link)
	if err != nil || !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "(unreachable)") {
		return "", false // pipes, sockets and the like
	}
	path = strings.TrimSuffix(path, " (deleted)")
	if m.owns(path) {
		return path, true
	}
	if !m.known || strings.HasPrefix(path, "/dev/") {
		return "", false
	}
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, link, unix.AT_STATX_DONT_SYNC, 0, &st); err != nil {
		return "", false
	}
	return path, st.Dev_major == m.major && st.Dev_minor == m.minor
}

// userSearch collects users.
type userSearch struct {
	finder *userFinder
	mount  mountIdentity
	mu     sync.Mutex
	found  []User
	over   bool // nobody waits any more
}

func (s *userSearch) add(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.found = append(s.found, u)
	}
}

func (s *userSearch) all() {
	s.loopDevices("/sys/block")
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && !isSelf(pid) {
			pids = append(pids, pid)
			s.links(pid)
		}
	}
	var readers sync.WaitGroup
	next := make(chan int)
	for range mapReaders {
		readers.Go(func() {
			for pid := range next {
				if s.finder.enter(pid) {
					s.maps(pid)
					s.finder.leave(pid)
				}
			}
		})
	}
	for _, pid := range pids {
		next <- pid
	}
	close(next)
	readers.Wait()
}

// links looks at the directories and handles of a process. What may not be read is passed over.
func (s *userSearch) links(pid int) {
	folder := "/proc/" + strconv.Itoa(pid)
	program := ""
	put := func(path string, write, worksIn bool) {
		if program == "" {
			program = programName(pid)
		}
		s.add(User{PID: pid, Program: program, Path: path, Write: write, WorksIn: worksIn})
	}
	for _, name := range []string{"cwd", "root", "exe"} {
		if path, ok := s.mount.holds(folder + "/" + name); ok {
			put(path, false, name != "exe")
		}
	}
	handles, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return
	}
	listed := 0
	for _, h := range handles {
		path, ok := s.mount.holds(folder + "/fd/" + h.Name())
		if !ok {
			continue
		}
		put(path, handleWrites(folder+"/fdinfo/"+h.Name()), false)
		if listed++; listed == maxPerProcess {
			return
		}
	}
}

// handleWrites reads from fdinfo whether a handle was opened for writing.
func handleWrites(info string) bool {
	text, err := os.ReadFile(info)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(value), 8, 64)
			return err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY && flags&unix.O_PATH == 0
		}
	}
	return false
}

// maps looks at the mapped files of a process, which stay in use after their handle was closed.
func (s *userSearch) maps(pid int) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	last, listed := User{}, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() && listed < maxPerProcess {
		path, write, ok := s.mount.mapped(lines.Text())
		if !ok || path == last.Path && write == last.Write {
			continue
		}
		if last.Program == "" {
			last.PID, last.Program = pid, programName(pid)
		}
		last.Path, last.Write = path, write
		s.add(last)
		listed++
	}
}

// mapped reads one line of maps: "start-end rw-s offset fd:01 inode   path".
func (m *mountIdentity) mapped(line string) (path string, write, ok bool) {
	var fields [5]string
	for i := range fields {
		fields[i], line, _ = strings.Cut(line, " ")
	}
	path = strings.TrimLeft(line, " ")
	if !strings.HasPrefix(path, "/") || len(fields[1]) < 4 {
		return "", false, false
	}
	path = strings.TrimSuffix(strings.ReplaceAll(path, `\012`, "\n"), " (deleted)")
	major, minor, known := parseDevice(fields[3], 16)
	if !m.owns(path) && !(m.known && known && major == m.major && minor == m.minor) {
		return "", false, false
	}
	return path, fields[1][1] == 'w' && fields[1][3] == 's', true
}

// programName is what people call the program of a process: the name of the process, completed from its executable if
// the kernel cut it off.
func programName(pid int) string {
	folder := "/proc/" + strconv.Itoa(pid)
	raw, err := os.ReadFile(folder + "/comm")
	if err != nil {
		return ""
	}
	name := strings.TrimSuffix(string(raw), "\n")
	const most = 15 // TASK_COMM_LEN without the NUL
	if len(name) == most {
		if exe, err := os.Readlink(folder + "/exe"); err == nil {
			if whole := filepath.Base(strings.TrimSuffix(exe, " (deleted)")); strings.HasPrefix(whole, name) {
				return whole
			}
		}
	}
	return name
}

// describeProcess turns the number of a thread, which is what FUSE requests carry, into its process and the name of
// its program; "" if it has ended.
func describeProcess(tid int) (pid int, program string) {
	if tid <= 0 {
		return 0, ""
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return tid, ""
	}
	pid = tid
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
				pid = n
			}
			break
		}
	}
	return pid, programName(pid)
}

func isSelf(pid int) bool { return pid == os.Getpid() }
