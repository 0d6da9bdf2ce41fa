// Package cli is Coffer's command line: commands, prompts, text and JSON output, exit codes. Its names, outputs and
// exit codes are a stable interface. It decides nothing about containers or file systems; app/session does.
//
// Results go to stdout, everything else (progress, questions, notes, errors) to stderr or the terminal.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/cli/interrupt"
	"coffer/app/config"
	"coffer/app/logging"
	"coffer/app/session"
)

// Streams are the standard streams of the process.
type Streams struct {
	In       *os.File
	Out, Err *os.File
}

// program is one run of the command line.
type program struct {
	stdin        io.Reader
	stderr       io.Writer
	stderrFile   *os.File // for the progress bar: is it a terminal, how wide
	out          output
	settings     config.Settings
	paths        config.Paths
	log          zerolog.Logger
	started      bool // a command's own code has begun: errors before that are usage errors
	openTerminal func() (terminal, error)
	closeLog     io.Closer
	patient      func() // from now on a second signal does not end the process
}

// Main runs the command line args (without the program's name) and returns the exit code of the process. SIGINT,
// SIGTERM, SIGHUP, SIGQUIT and SIGABRT cancel the command, which cleans up and ends with 130; a second one ends the
// process at once.
func Main(args []string, streams Streams) (code int) {
	ctx, patient := interrupt.Context(int(session.Interrupted))
	// Should the runtime have to end the process, it tells of one goroutine only.
	debug.SetTraceback("single")
	// A reader of our output that goes away (`coffer copy ... | head`) must not kill us before the volume is closed.
	signal.Ignore(syscall.SIGPIPE)
	a := &program{
		stdin: streams.In, stderr: streams.Err, stderrFile: streams.Err, out: output{to: streams.Out},
		openTerminal: openTerminal, log: zerolog.Nop(), closeLog: io.NopCloser(nil), patient: patient,
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			fmt.Fprintf(a.stderr, "coffer: internal error: %s\n%s", logging.Scrub(fmt.Sprint(thrown)), callers())
			code = int(session.Failed)
		}
	}()
	return a.run(ctx, args)
}

// callers is the stack of a panic by function and line. Package debug's form also prints the words of the arguments,
// which can be part of a secret.
func callers() string {
	counters := make([]uintptr, 64)
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var text strings.Builder
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		fmt.Fprintf(&text, "\t%s %s:%d\n", frame.Function, filepath.Base(frame.File), frame.Line)
	}
	return text.String()
}

// run executes args and reports the error, if any.
func (a *program) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	begin := time.Now()
	command, err := root.ExecuteContextC(ctx)
	problem := session.Problem{Code: session.Done}
	if err == nil {
		err = a.out.err
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = &session.Error{Err: errors.New("interrupted"), Code: session.Interrupted}
		} else if !a.started && a.out.err == nil {
			a.out.json = a.out.json || asksForJSON(args) // the mistake may stand before --json
			err = &session.Error{Err: err, Code: session.Usage, Hint: usageHint(command, args)}
		}
		problem = session.Explain(err)
		a.report(problem)
	}
	a.log.Info().Str("command", command.Name()).Int("exit", int(problem.Code)).Dur("took", time.Since(begin)).Msg("done")
	a.closeLog.Close()
	return int(problem.Code)
}

// report prints a problem on stderr and, with --json, as the document of the command if it has none yet.
func (a *program) report(problem session.Problem) {
	fmt.Fprintf(a.stderr, "coffer: %s\n", escape(problem.Sentence))
	if problem.Hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", escape(problem.Hint))
	}
	if a.out.json && a.out.documents == 0 {
		_ = a.out.document(map[string]session.Problem{"error": problem})
	}
}

// note prints a remark on stderr unless --quiet; with --json as a line of its own kind.
func (a *program) note(text string) {
	switch {
	case a.out.quiet:
	case a.out.json:
		(&jsonProgress{to: a.stderr, now: time.Now}).event(session.Event{Kind: session.EventNote, Detail: text})
	default:
		fmt.Fprintf(a.stderr, "coffer: note: %s\n", escape(text))
	}
}

// warn prints a remark that --quiet does not suppress: something did not happen that should have.
func (a *program) warn(text string) {
	if a.out.json {
		(&jsonProgress{to: a.stderr, now: time.Now}).event(session.Event{Kind: session.EventWarning, Detail: text})
		return
	}
	fmt.Fprintf(a.stderr, "coffer: warning: %s\n", escape(text))
}

// begin is called when the command line has been understood: it loads the settings, opens the log, and tidies up after
// agents that were killed.
func (a *program) begin(c *cobra.Command) error {
	a.started = true
	executable, err := os.Executable()
	if err != nil {
		executable = ""
	}
	a.paths = config.Locate(executable)
	if a.settings, err = config.Load(a.paths.SettingsFile()); err != nil {
		return err
	}
	if a.paths.State != "" {
		log, closer, err := logging.Open(a.paths.LogFile(), a.settings.LogLevel)
		if err != nil { // no reason not to do what the person asked for
			a.warn("nothing is logged: " + err.Error())
		} else {
			a.log, a.closeLog = log, closer
		}
	}
	if !c.Hidden {
		a.sweep()
	}
	return nil
}

// sweep tidies up after agents that ended without locking, and says so.
func (a *program) sweep() {
	gone, err := agent.Sweep()
	if err != nil { // whatever needs the registry says so itself
		a.log.Error().Err(err).Msg("sweep")
		return
	}
	for _, g := range gone {
		a.warn(g.String())
	}
}
