package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/config"
)

// An agent whose runtime ends it (a panic that nothing recovers, a fault) has nobody left to tell. The runtime writes why
// into a file of the registry, and the next command makes a report of it; see docs/adr-0003-crash-reports.md.

const (
	reportsFolder  = "crashes" // in the folder of logs
	reportsKept    = 5
	maxReportBytes = 64 << 10
)

// expectCrashes lets the runtime of a detached process write why it ends into the claim's crash file; that of a process on
// a terminal tells the person. It goes on without when that is not possible. The file is for its owner only, in a folder
// that nobody else can enter.
func (c *core) expectCrashes() {
	if !c.detached {
		return
	}
	f, err := os.OpenFile(c.claim.CrashFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		defer f.Close() // catchErrors keeps a copy
		err = catchErrors(f)
	}
	if err != nil {
		c.log("expect crashes", err)
	}
}

// release lets go of the claim. On Windows a file that is open could not be removed.
func (c *core) release() error {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	return c.claim.Release()
}

// cleaner cleans up after agents that are gone.
func cleaner() registry.Cleaner { return registry.Cleaner{Detach: detachDead, Keep: keepReport} }

// keepReport writes the report of a crash into the folder of logs and says where; "" if it was no crash. Only the newest few are kept.
func keepReport(e Entry, crash []byte) (path string, err error) {
	executable, err := os.Executable()
	if err != nil {
		executable = ""
	}
	report := redactCrash(crash)
	if !bytes.Contains(report, []byte("goroutine ")) {
		return "", nil // something else was written, and the process was killed
	}
	state := config.Locate(executable).State
	if state == "" {
		return "", config.ErrNoRuntime
	}
	return keepReportIn(filepath.Join(state, reportsFolder), e, report, time.Now())
}

func keepReportIn(folder string, e Entry, report []byte, now time.Time) (path string, err error) {
	if err := config.Ensure(folder); err != nil {
		return "", err
	}
	head := fmt.Sprintf("coffer %s (%s, %s/%s): the process of an unlocked container crashed. Found %s.\n"+
		"Values, arguments and registers are left out: they could be names or secrets.\n\n",
		e.Program, runtime.Version(), runtime.GOOS, runtime.GOARCH, now.UTC().Format(time.RFC3339))
	path = filepath.Join(folder, fmt.Sprintf("crash-%s-%d.txt", now.UTC().Format("20060102T150405"), e.PID))
	if err := os.WriteFile(path, append([]byte(head), report...), 0o600); err != nil {
		return "", fmt.Errorf("keep the report of a crash: %w", err)
	}
	older, err := filepath.Glob(filepath.Join(folder, "crash-*.txt")) // the names sort by time
	if err == nil {
		slices.Sort(older)
		for _, old := range older[:max(0, len(older)-reportsKept)] {
			_ = os.Remove(old)
		}
	}
	return path, nil
}

var (
	crashGoroutine = regexp.MustCompile(`^goroutine [0-9]+( gp=| m=| mp=|[ a-z0-9=]|0x[0-9a-f]+)*\[[-A-Za-z0-9 ,.():]+\]:$`)
	crashFunction  = regexp.MustCompile(`^[\w./*()\[\]·%{}@,-]+\($`)
	crashCreated   = regexp.MustCompile(`^created by ([\w./*()\[\]·%{}@-]+)( in goroutine [0-9]+)?$`)
	crashLine      = regexp.MustCompile(`^\t(.*[/\\])?([\w.<>-]+\.(go|s):[0-9]+)( \+0x[0-9a-f]+)?( .*)?$`)
	crashHex       = regexp.MustCompile(`0x[0-9a-f]+`)
	crashAddress   = regexp.MustCompile(`(gp|m|mp)=(0x[0-9a-f]+|nil|[0-9]+) ?`)
)

// redactCrash is what of the runtime's last words holds no value of the program: kind of the failure, functions and lines.
// What is not known to be harmless is left out: values that were thrown (errors name files), the words of arguments and the
// registers (parts of keys can be among them).
func redactCrash(crash []byte) []byte {
	var b bytes.Buffer
	function := false // the last line was the name of one: the next tells its place
	for line := range strings.Lines(string(crash)) {
		line = strings.TrimRight(line, "\r\n")
		if place := crashLine.FindStringSubmatch(line); function && place != nil {
			b.WriteString("\t" + place[2] + "\n")
			function = false
			continue
		}
		var text string
		if text, function = functionOf(line); !function {
			text = redactCrashLine(line)
		}
		if text != "" || line == "" {
			b.WriteString(text + "\n")
		}
		if b.Len() > maxReportBytes {
			b.WriteString("(cut)\n")
			break
		}
	}
	return b.Bytes()
}

// functionOf is the line of a stack that names a function, without the words of its arguments.
func functionOf(line string) (text string, ok bool) {
	if crashCreated.MatchString(line) {
		return line, true
	}
	end := strings.LastIndexByte(line, '(')
	if end > 0 && strings.HasSuffix(line, ")") && crashFunction.MatchString(line[:end+1]) {
		return line[:end] + "(...)", true
	}
	return "", false
}

// redactCrashLine is what may be kept of a line outside of a stack, "" if that is nothing.
func redactCrashLine(line string) string {
	switch {
	case strings.HasPrefix(line, "panic: runtime error: "), strings.HasPrefix(line, "fatal error: "),
		strings.HasPrefix(line, "SIG") && strings.Contains(line, ": "), strings.HasPrefix(line, "[signal "):
		return crashHex.ReplaceAllString(line, "[hex]")
	case strings.HasPrefix(line, "panic: "):
		return "panic: (the value is left out)"
	case crashGoroutine.MatchString(line):
		return crashAddress.ReplaceAllString(line, "")
	}
	return ""
}
