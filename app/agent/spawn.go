package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"coffer/app/session"
)

// cancelPatience is how long a cancelled agent may take to undo what it has begun before it is killed.
const cancelPatience = 5 * time.Second

// Watch is told what an agent does while it unlocks. Its fields may be nil.
type Watch struct {
	Stage func(stage string) // "open", "mount"
	Note  func(text string)  // a remark for people
}

func (w Watch) stage(name string) {
	if w.Stage != nil {
		w.Stage(name)
	}
}

func (w Watch) note(text string) {
	if w.Note != nil {
		w.Note(text)
	}
}

// Unlock starts an agent for the container and returns when it is ready. The agent outlives this process, its terminal
// and its session. The end of ctx undoes an unlock that is not ready. Errors are those of session.Open and of the mount,
// as the agent explains them; the credential stays the caller's.
func Unlock(ctx context.Context, s Settings, c session.Credential, watch Watch) (Entry, error) {
	if err := s.complete(); err != nil {
		return Entry{}, err
	}
	executable, err := os.Executable()
	if err != nil {
		return Entry{}, fmt.Errorf("where is this program: %w", err)
	}
	s.Slot = c.Slot
	p, err := launch(executable)
	if err != nil {
		return Entry{}, &session.Error{What: "start the agent", Err: err}
	}
	return p.unlock(ctx, s, c, watch)
}

// launch starts a detached process, in the first way that the system allows.
func launch(executable string) (*starting, error) {
	keepFilesBack()
	var failed error
	for _, apart := range detached() {
		cmd := exec.Command(executable, Verb)
		cmd.Dir, cmd.SysProcAttr, cmd.Env = rootFolder(), apart, withoutPreemption(os.Environ())
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if failed = cmd.Start(); failed == nil {
			p := &starting{cmd: cmd, in: in, answers: make(chan answer)}
			go p.read(out)
			return p, nil
		}
		if !errors.Is(failed, fs.ErrPermission) {
			break
		}
	}
	return nil, failed
}

// starting is an agent that is not ready yet, seen from the one who started it.
type starting struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed at the end of the agent's output
}

// read passes the agent's answers on until its output ends.
func (p *starting) read(out io.Reader) {
	defer close(p.answers)
	for decoder := json.NewDecoder(out); ; {
		var a answer
		if decoder.Decode(&a) != nil {
			return
		}
		p.answers <- a
	}
}

func (p *starting) unlock(ctx context.Context, s Settings, c session.Credential, watch Watch) (Entry, error) {
	sent := make(chan error, 1)
	go func() { sent <- writeRequest(p.in, s, c) }() // a large key file may not fit into the pipe at once
	for {
		select {
		case <-ctx.Done():
			_ = p.in.Close()
			<-sent // the secrets are the caller's again
			p.end()
			return Entry{}, ctx.Err()
		case a, more := <-p.answers:
			switch {
			case !more:
				_ = p.in.Close()
				<-sent
				return Entry{}, p.died(s)
			case a.Error != nil:
				_ = p.in.Close()
				<-sent
				p.end()
				return Entry{}, asError(*a.Error)
			case a.Ready != nil:
				return p.keep(ctx, *a.Ready, s)
			case a.Note != "":
				watch.note(a.Note)
			default:
				watch.stage(a.Stage)
			}
		}
	}
}

// keep confirms that somebody waited for the agent; from here on it is on its own.
func (p *starting) keep(ctx context.Context, ready Entry, s Settings) (Entry, error) {
	if ctx.Err() != nil {
		_ = p.in.Close()
		p.end()
		return Entry{}, ctx.Err()
	}
	if _, err := p.in.Write([]byte{keep}); err != nil {
		_ = p.in.Close()
		return Entry{}, p.died(s)
	}
	for range p.answers { // its output ends when it has let go of the pipes
	}
	_ = p.in.Close()
	go func() { _ = p.cmd.Wait() }() // should this process live longer than the agent, no trace of it stays
	return ready, nil
}

// end waits for the end of an agent that undoes what it has begun.
func (p *starting) end() {
	killer := time.AfterFunc(cancelPatience, func() { _ = p.cmd.Process.Kill() })
	defer killer.Stop()
	for range p.answers {
	}
	_ = p.cmd.Wait()
}

// died is the error for an agent that ended without a word.
func (p *starting) died(s Settings) error {
	err := p.cmd.Wait()
	if err == nil {
		err = errors.New("it ended")
	}
	return &session.Error{What: "unlock " + s.Named, Err: fmt.Errorf("the agent gave no answer: %w", err),
		Hint: "it may have been killed, for want of memory or by hand; try again"}
}

// asError is a problem that another process has explained, as an error that is explained the same.
func asError(p session.Problem) error {
	code := p.Code
	if code == session.Done {
		code = session.Failed
	}
	return &session.Error{Err: errors.New(p.Sentence), Code: code, Hint: p.Hint}
}
