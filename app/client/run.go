package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"coffer/app/protocol"
)

// Secret is a password, or the line of another secret. Nil: none.
type Secret []byte

// Wipe overwrites the secret.
func (s Secret) Wipe() { clear(s) }

// Credential opens a container. Fields may be empty, not all of them.
type Credential struct {
	Password Secret
	Keyfiles []string // paths
}

// Wipe overwrites the password.
func (c Credential) Wipe() { c.Password.Wipe() }

// maxSecrets is room for all that goes to one command on standard input: two passwords of 4096 bytes, and a label.
const maxSecrets = 16 << 10

// arguments are the flags of the credential; prefix tells two of them apart. The password goes to in as a line.
func (c Credential) arguments(prefix string, in *bytes.Buffer) []string {
	var flags []string
	if in.Cap() == 0 {
		in.Grow(maxSecrets) // one that grew would leave the secret behind in the memory it had before
	}
	if c.Password != nil {
		flags = append(flags, "--"+prefix+"password-stdin")
		in.Write(c.Password)
		in.WriteByte('\n')
	}
	for _, file := range c.Keyfiles {
		flags = append(flags, "--"+prefix+"keyfile="+file)
	}
	return flags
}

// Reporter receives events of long work, one at a time, in a goroutine of the call. nil: nobody listens.
type Reporter func(protocol.Event)

// cancelPatience is how long a cancelled command may take to end cleanly.
const cancelPatience = 60 * time.Second

// maxDocument bounds the answer of a command.
const maxDocument = 256 << 20

// run runs a command of coffer with --json. in is its standard input and is wiped. The document goes to out unless that is
// nil, also when the command failed after all. Cancelling interrupts it as Ctrl-C does.
func (c *Client) run(ctx context.Context, arguments []string, in *bytes.Buffer, report Reporter, out any) error {
	command := exec.CommandContext(ctx, c.program, append([]string{"--json"}, arguments...)...) // first: what comes behind "--" is no flag
	command.WaitDelay = cancelPatience
	command.Cancel = func() error {
		if runtime.GOOS == "windows" { // there is no signal to send to another console
			return command.Process.Kill()
		}
		return command.Process.Signal(os.Interrupt)
	}
	hideConsole(command)
	if in != nil {
		defer func() { clear(in.Bytes()[:in.Len()]) }()
		whole := in.Bytes()
		command.Stdin = bytes.NewReader(whole)
		defer clear(whole)
	}
	var document limited
	command.Stdout = &document
	events, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return &Error{protocol.Problem{Sentence: fmt.Sprintf("start %s: %v", c.program, err), Hint: "install Coffer again: the window and the program coffer belong together", Code: protocol.Failed}}
	}
	last := hear(events, report)
	err = command.Wait()
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	if out != nil && document.Len() > 0 {
		if parseErr := json.Unmarshal(document.Bytes(), out); parseErr != nil && err == nil {
			return fmt.Errorf("the answer of %s %s: %w", c.program, arguments[0], parseErr)
		}
	}
	if err == nil {
		return nil
	}
	return explained(err, document.Bytes(), last)
}

// hear reads standard error to its end: events, and the lines of a failure for people, which it returns.
func hear(from io.Reader, report Reporter) (said string) {
	lines := bufio.NewReaderSize(from, 64<<10)
	var words []string
	for {
		text, err := lines.ReadBytes('\n')
		var e protocol.Event
		switch {
		case len(bytes.TrimSpace(text)) == 0:
		case text[0] == '{' && json.Unmarshal(text, &e) == nil && e.Kind != "":
			if report != nil {
				report(e)
			}
		case len(words) < 20:
			words = append(words, strings.TrimPrefix(strings.TrimSpace(string(text)), "coffer: "))
		}
		if err != nil {
			return strings.Join(words, "; ")
		}
	}
}

// explained is the failure of a command: the problem in its document, what it said, or how it ended.
func explained(err error, document []byte, said string) error {
	var failed struct {
		Error *protocol.Problem `json:"error"`
	}
	if json.Unmarshal(document, &failed) == nil && failed.Error != nil && failed.Error.Sentence != "" {
		return &Error{*failed.Error}
	}
	p := protocol.Problem{Sentence: said, Code: protocol.Failed}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		p.Code = protocol.ExitCode(exit.ExitCode())
	}
	if sentence, hint, ok := strings.Cut(said, "; hint: "); ok {
		p.Sentence, p.Hint = sentence, hint
	}
	if p.Sentence == "" {
		p.Sentence = err.Error()
	}
	return &Error{p}
}

// limited is a buffer that refuses to grow beyond maxDocument.
type limited struct{ bytes.Buffer }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxDocument {
		return 0, errors.New("the answer is too long")
	}
	return l.Buffer.Write(p)
}
