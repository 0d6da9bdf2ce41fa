package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// crashEnv makes the test program crash: "how file".
const crashEnv = "COFFER_TEST_CRASH"

// secretWords are passed by value, so that the runtime prints them as words of the arguments.
type secretWords [4]uint64

var secretValue = secretWords{0xfeedface0badcafe, 0xfeedface1badcafe, 0xfeedface2badcafe, 0xfeedface3badcafe}

//go:noinline
func crashWith(how string, words secretWords) uint64 {
	switch how {
	case "error":
		panic(fmt.Errorf("open %s: %w", "/inside/secret name.txt", errors.New("line\n\t/inside/secret.go:12")))
	case "text":
		panic("secret name\ngoroutine 1 [running]:\nsecret(name)\n\tsecret.go:1")
	case "index":
		return words[len(how)]
	case "nil":
		var p *secretWords
		return p[1]
	case "map":
		m := map[int]int{}
		for range 2 {
			go func() {
				for i := 0; ; i++ {
					m[i%8] = i
				}
			}()
		}
		time.Sleep(20 * time.Second)
	case "stack":
		return crashWith(how, words) + words[0]
	}
	return 0
}

// TestCrashChild is the process that TestRedactCrash starts.
func TestCrashChild(t *testing.T) {
	how, path, ok := strings.Cut(os.Getenv(crashEnv), " ")
	if !ok {
		return // not started by TestRedactCrash: there is nothing to test
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := catchErrors(f); err != nil {
		t.Fatal(err)
	}
	debug.SetTraceback("single")
	debug.SetMaxStack(1 << 20)
	done := make(chan uint64)
	go func() { done <- crashWith(how, secretValue) }() // the testing package recovers in its own goroutine
	<-done
}

// TestRedactCrash crashes in the ways of the runtime: the report tells kind, functions and lines, and nothing of the values.
func TestRedactCrash(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first := func(line string) string {
		if runtime.GOOS == "windows" { // what is written there begins later
			return "runtime."
		}
		return line
	}
	for how, want := range map[string]string{
		"error": "panic: (the value is left out)", "text": "panic: (the value is left out)", "index": "panic: runtime error: index out of range [5]",
		"nil": "[signal SIGSEGV", "map": first("fatal error: concurrent map writes"), "stack": first("fatal error: stack overflow"),
	} {
		t.Run(how, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crash")
			child := exec.Command(program, "-test.run=^TestCrashChild$")
			child.Env = append(os.Environ(), crashEnv+"="+how+" "+path)
			if out, err := child.CombinedOutput(); err == nil {
				t.Fatalf("the child did not crash:\n%s", out)
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) == 0 {
				t.Fatalf("the runtime wrote nothing: %v", err)
			}
			report := redactCrash(raw)
			for _, wanted := range []string{want, "goroutine ", "coffer/app/agent.crashWith", "\tcrash_test.go:"} {
				if !bytes.Contains(report, []byte(wanted)) {
					t.Errorf("the report lacks %q:\n%s\nof\n%.4000s", wanted, report, raw)
				}
			}
			for _, leaked := range []string{"feedface", "inside", "secret name", "secret.go", "secret(", "0x", program} {
				if bytes.Contains(report, []byte(leaked)) {
					t.Errorf("the report holds %q:\n%s", leaked, report)
				}
			}
			if how == "error" && !bytes.Contains(raw, []byte("secret name")) {
				t.Error("the runtime did not print the value: the test tests nothing")
			}
		})
	}
}

// TestRedactWords: what looks like nothing known is left out, whatever it is.
func TestRedactWords(t *testing.T) {
	raw := "runtime: program exceeds 1-byte limit\nrax    0xfeedface\nr8     0x1\nSIGSEGV: segmentation violation\nPC=0x1 m=0\n\n" +
		"goroutine 7 gp=0xc000 m=nil [select, 3 minutes, locked to thread]:\nmain.(*T[go.shape.int]).f-fm(0xfeed?, {0x1, 0x2}, ...)\n\t/home/secret/main.go:12 +0x1d fp=0x1 sp=0x2 pc=0x3\n" +
		"\t/home/secret/other.go:3\ncreated by main.g in goroutine 1\n\t/home/secret/x.s:4 +0x1\nexit status 2\n/home/secret (x)\nsecret words(1)\n"
	want := "SIGSEGV: segmentation violation\n\ngoroutine 7 [select, 3 minutes, locked to thread]:\nmain.(*T[go.shape.int]).f-fm(...)\n\tmain.go:12\n" +
		"created by main.g in goroutine 1\n\tx.s:4\n"
	if got := string(redactCrash([]byte(raw))); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	long := bytes.Repeat([]byte("main.f(0x1)\n\t/x/main.go:1 +0x1\n"), 1<<16)
	if got := redactCrash(long); len(got) > maxReportBytes+100 {
		t.Errorf("a report of %d bytes", len(got))
	}
}

// TestReportsKept: only the newest reports stay, readable by their owner alone.
func TestReportsKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "crashes")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range reportsKept + 3 {
		path, err := keepReportIn(folder, Entry{PID: 1000 - i, Program: "1.2"}, []byte("fatal error: all goroutines are asleep\n"), now.Add(time.Duration(i)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(text, []byte("coffer 1.2 (")) || !bytes.HasSuffix(text, []byte("fatal error: all goroutines are asleep\n")) {
			t.Errorf("%v\n%s", err, text)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != reportsKept || !strings.HasSuffix(left[0], "T030408-997.txt") {
		t.Errorf("%v: %q", err, left)
	}
}
