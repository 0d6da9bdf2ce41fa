//go:build unix

package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"coffer/container/image"
)

// program is the real executable, built once: transcripts run what users run, the hidden child verbs included.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "coffer-cli-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "coffer")
	build := exec.Command("go", "build", "-o", program, "coffer/app/coffer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// TestScripts runs the transcripts: every command, and every mistake a person is likely to make. The commands they have
// beside testscript's own are in scriptCommands.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+"/usr/sbin:/sbin:"+os.Getenv("PATH"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			for _, kind := range []string{"DATA", "CONFIG", "STATE"} {
				env.Setenv("XDG_"+kind+"_HOME", filepath.Join(env.WorkDir, "home", strings.ToLower(kind)))
			}
			runtime := filepath.Join(env.WorkDir, "run") // of agents: none outlives its transcript
			if err := os.Mkdir(runtime, 0o700); err != nil {
				return err
			}
			env.Setenv("XDG_RUNTIME_DIR", runtime)
			env.Defer(func() {
				command := exec.Command(program, "lock", "--all", "--force")
				command.Env = append(os.Environ(), "HOME="+env.Getenv("HOME"), "XDG_RUNTIME_DIR="+runtime)
				if out, err := command.CombinedOutput(); err != nil {
					fmt.Fprintf(os.Stderr, "lock what a transcript left: %v\n%s", err, out)
				}
			})
			// A key derivation that costs nothing: what it costs is tested in package kdf.
			env.Setenv("CHEAP", "--kdf-memory=64KiB")
			env.Setenv("FAST", "--kdf-time=1")
			return os.WriteFile(filepath.Join(env.WorkDir, "pw"), []byte("correct horse\n"), 0o600)
		},
	})
}

func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exits":       scriptExits,
		"randfile":    scriptRandomFile,
		"hold":        scriptHold,
		"zero":        scriptZero,
		"jsonfield":   scriptJSONField,
		"jsonlines":   scriptJSONLines,
		"nowhere":     scriptNowhere,
		"cleanfolder": scriptCleanFolder,
	}
}

// exits CODE COMMAND...: the command must end with exactly this exit code. stdout and stderr can be matched afterwards
// only through the files OUT and ERR, which it writes.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	command := exec.Command(program, args[2:]...)
	if args[1] != "coffer" {
		path, err := exec.LookPath(args[1])
		ts.Check(err)
		command = exec.Command(path, args[2:]...)
	}
	command.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	command.SysProcAttr = noTerminal()
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	ts.Check(os.WriteFile(ts.MkAbs("OUT"), []byte(stdout.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("ERR"), []byte(stderr.String()), 0o600))
	ts.Logf("[stdout]\n%s[stderr]\n%s", stdout.String(), stderr.String())
	if got := command.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d (%v), want %d", got, err, want)
	}
}

// randfile NAME SIZE SEED: a file of reproducible random bytes.
func scriptRandomFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: randfile NAME SIZE SEED")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	seed, err := strconv.ParseUint(args[2], 10, 64)
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), randomBytes(size, seed), 0o600))
}

func randomBytes(size int, seed uint64) []byte {
	content := make([]byte, size)
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	rand.NewChaCha8(key).Read(content)
	return content
}

// hold IMAGE: another program (this test) has the image open for writing until the script ends.
func scriptHold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold IMAGE")
	}
	file, err := image.Open(ts.MkAbs(args[0]), false)
	ts.Check(err)
	ts.Defer(func() { file.Close() })
}

// zero FILE OFFSET COUNT: overwrite bytes with zeros.
func scriptZero(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: zero FILE OFFSET COUNT")
	}
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = file.WriteAt(make([]byte, count), offset)
	ts.Check(err)
	ts.Check(file.Close())
}

// jsonfield FILE PATH [WANT]: FILE is exactly one JSON document in which the dotted path exists and, printed, is WANT.
func scriptJSONField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: jsonfield FILE PATH [WANT]")
	}
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	decoder.UseNumber()
	var value any
	ts.Check(decoder.Decode(&value))
	if decoder.More() {
		ts.Fatalf("more than one document")
	}
	for _, part := range strings.Split(args[1], ".") {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				if neg {
					return
				}
				ts.Fatalf("no field %s of %s", part, args[1])
			}
			value = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				ts.Fatalf("no element %s of %s (%d elements)", part, args[1], len(v))
			}
			value = v[i]
		default:
			ts.Fatalf("%s: nothing is below a %T", args[1], value)
		}
	}
	if neg {
		ts.Fatalf("%s exists: %v", args[1], value)
	}
	if len(args) == 3 && fmt.Sprint(value) != args[2] {
		ts.Fatalf("%s is %v, want %s", args[1], value, args[2])
	}
}

// jsonlines FILE EVENT: every line of FILE is JSON and at least one has this event.
func scriptJSONLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonlines FILE EVENT")
	}
	seen := false
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var event struct {
			Event string `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
		seen = seen || event.Event == args[1]
	}
	if !seen {
		ts.Fatalf("no event %q", args[1])
	}
}

// nowhere TEXT FOLDER: no file below the folder holds the text.
func scriptNowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nowhere TEXT FOLDER")
	}
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(content), args[0]) {
			err = fmt.Errorf("%s holds %q", path, args[0])
		}
		return err
	}))
	if files == 0 {
		ts.Fatalf("no files below %s", args[1])
	}
}

// cleanfolder FOLDER NAME...: the folder holds exactly these names.
func scriptCleanFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: cleanfolder FOLDER NAME...")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if got, want := strings.Join(names, " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
