package operations

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"coffer/app/session"
)

// cancelPatience is how long an operation that was cancelled may take to end cleanly before its connection is cut.
const cancelPatience = 60 * time.Second

// Client runs operations in the agent of one container. It is session.Files and session.Payload. Safe for concurrent use
// but for Close.
type Client struct {
	http  *http.Client // dials the control socket whatever the address
	peer  string       // the name by which other processes reach the agent
	image string       // as the person named it
	dirty bool         // something was changed that Close makes durable
}

// Interfaces the command line uses.
var (
	_ session.Files   = (*Client)(nil)
	_ session.Payload = (*Client)(nil)
)

// NewClient makes a client over transport, whose connections lead to the control socket of the process that goes by the
// name peer. image is the container as the person named it, for messages.
func NewClient(transport http.RoundTripper, peer, image string) *Client {
	return &Client{http: &http.Client{Transport: transport}, peer: peer, image: image}
}

// address is where an operation is. The host does not matter: the transport knows where to go.
func address(name string) string { return "http://agent" + Prefix + name }

// gone is the failure to speak to the agent, or to hear it out.
func (c *Client) gone(err error) error {
	told := &session.Error{What: "ask the process that has " + c.image + " unlocked", Err: err, Hint: "`coffer list` shows what is unlocked"}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		told.Err = errors.New("it ended before it was done")
		told.Hint = "what was reported as durable is safe; repeat the command (a copy with --resume)"
	}
	return told
}

// post sends a request. An answer other than 200 is a problem.
func (c *Client) post(ctx context.Context, name string, q any) (*http.Response, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, c.gone(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address(name), bytes.NewReader(text))
	if err != nil {
		return nil, c.gone(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.gone(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	var p session.Problem
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&p); err != nil || p.Sentence == "" {
		return nil, c.gone(fmt.Errorf("its answer is %q; it may be of another version", answer.Status))
	}
	return nil, withReason(failure(ctx, &p), answer.Header.Get(headerReason))
}

// hearing is what the caller of an operation wants to hear on the way.
type hearing struct {
	event session.Reporter
	entry func(session.Entry) error
}

// call runs an operation and decodes its result into result, if it has one and result is not nil. When ctx ends the
// operation is cancelled and still heard out.
func (c *Client) call(ctx context.Context, name string, q any, h hearing, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// Not ctx: a request that is cut has no result.
	request, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	answer, err := c.post(request, name, q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	from := bufio.NewReaderSize(answer.Body, 64<<10)
	stop := func() bool { return false }
	defer func() { stop() }()
	for {
		text, err := from.ReadBytes('\n')
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return c.gone(err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return c.gone(err)
		}
		switch l.Kind {
		case lineJob:
			stop = context.AfterFunc(ctx, func() { c.cancel(request, l.Job, cut) })
		case lineEntry:
			if l.Entry != nil && h.entry != nil {
				if err := h.entry(*l.Entry); err != nil {
					return err
				}
			}
		case lineEnd:
			return finish(ctx, &l, result)
		default:
			if h.event != nil {
				h.event(l.Event)
			}
		}
	}
}

// finish takes the last line of an answer.
func finish(ctx context.Context, l *line, result any) error {
	if result != nil && len(l.Result) > 0 {
		if err := json.Unmarshal(l.Result, result); err != nil {
			return fmt.Errorf("result of the operation: %w", err)
		}
	}
	return withReason(failure(ctx, l.Problem), l.Reason)
}

// cancel asks for the end of a job, and cuts its connection if it does not end.
func (c *Client) cancel(running context.Context, job uint64, cut context.CancelFunc) {
	ctx, cancel := context.WithTimeout(running, cancelPatience)
	defer cancel()
	answer, err := c.post(ctx, "cancel", &request{Job: job})
	if err == nil {
		_ = answer.Body.Close()
		<-ctx.Done() // the request is over, or the time
	}
	cut()
}

// List implements session.Files.
func (c *Client) List(ctx context.Context, p string, recursive bool, visit func(session.Entry) error) error {
	return c.call(ctx, "ls", &request{Image: c.image, Path: p, Recursive: recursive}, hearing{entry: visit}, nil)
}

// MustBeFile implements session.Files.
func (c *Client) MustBeFile(ctx context.Context, p string) error {
	return c.call(ctx, "stat", &request{Image: c.image, Path: p}, hearing{}, nil)
}

// Mkdir implements session.Files.
func (c *Client) Mkdir(ctx context.Context, p string, parents bool) error {
	c.dirty = true
	return c.call(ctx, "mkdir", &request{Image: c.image, Path: p, Parents: parents}, hearing{}, nil)
}

// Remove implements session.Files.
func (c *Client) Remove(ctx context.Context, p string, recursive bool) error {
	c.dirty = true
	return c.call(ctx, "rm", &request{Image: c.image, Path: p, Recursive: recursive}, hearing{}, nil)
}

// Move implements session.Files.
func (c *Client) Move(ctx context.Context, sources []session.Place, to session.Place, force bool) (moved []session.Moved, err error) {
	c.dirty = true
	err = c.call(ctx, "mv", &request{Image: c.image, Sources: sources, To: to, Force: force}, hearing{}, &moved)
	return moved, err
}

// FileSystem implements session.Files.
func (c *Client) FileSystem(ctx context.Context) (*session.FileSystemInfo, error) {
	var info session.FileSystemInfo
	if err := c.call(ctx, "info", &request{Image: c.image}, hearing{}, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// Close makes what was changed durable. The container stays unlocked.
func (c *Client) Close() error {
	if !c.dirty {
		return nil
	}
	c.dirty = false
	return c.call(context.Background(), "sync", &request{Image: c.image}, hearing{}, nil)
}

// Check implements session.Payload.
func (c *Client) Check(ctx context.Context, r session.CheckRequest) (*session.CheckResult, error) {
	var result *session.CheckResult
	err := c.call(ctx, "check", &request{Image: c.image, Repair: r.Repair}, hearing{event: r.Report}, &result)
	return result, err
}

// Salvage implements session.Payload.
func (c *Client) Salvage(ctx context.Context, r session.CheckRequest) (*session.SalvageResult, error) {
	folder, err := session.Place{Path: r.SalvageTo}.Absolute()
	if err != nil {
		return nil, err
	}
	var result *session.SalvageResult
	err = c.call(ctx, "salvage", &request{Image: c.image, Folder: folder.Path, Typed: folder.Typed}, hearing{event: r.Report}, &result)
	return result, err
}

// Cat implements session.Files.
func (c *Client) Cat(ctx context.Context, p string, w io.Writer) error {
	_, err := c.bytes(ctx, "cat", &request{Image: c.image, Path: p}, "read "+c.image+":"+p, w, nil)
	return err
}

// Dump implements session.Payload.
func (c *Client) Dump(ctx context.Context, w io.Writer, report session.Reporter) error {
	_, err := c.dump(ctx, w, report)
	return err
}

func (c *Client) dump(ctx context.Context, w io.Writer, report session.Reporter) (int64, error) {
	if report != nil {
		report(session.StandStillNote(c.image))
	}
	return c.bytes(ctx, "dump", &request{Image: c.image}, "dump "+c.image, w, report)
}

// DumpFile implements session.Payload.
func (c *Client) DumpFile(ctx context.Context, to string, report session.Reporter) (size int64, err error) {
	err = session.WriteNew("dump to "+to, to, func(file io.Writer) error {
		size, err = c.dump(ctx, file, report)
		return err
	})
	return size, err
}

// bytes copies an answer that is plain bytes to w and returns its length. doing says what it is in a sentence.
func (c *Client) bytes(ctx context.Context, name string, q *request, doing string, w io.Writer, report session.Reporter) (int64, error) {
	answer, err := c.post(ctx, name, q)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	total, _ := strconv.ParseInt(answer.Header.Get(headerSize), 10, 64)
	counted := &counter{to: w, stage: name, total: total, report: report}
	_, err = io.CopyBuffer(counted, answer.Body, make([]byte, 1<<20))
	switch {
	case ctx.Err() != nil:
		return counted.done, ctx.Err()
	case counted.err != nil: // ours, not the agent's
		return counted.done, &session.Error{What: doing, Err: counted.err}
	case err != nil:
		return counted.done, c.gone(err)
	}
	if whole, why := c.trailer(ctx, answer); !whole {
		return counted.done, why
	}
	return counted.done, nil
}

// trailer says, after the last byte of an answer, whether all came, and else why not.
func (c *Client) trailer(ctx context.Context, answer *http.Response) (whole bool, why error) {
	if answer.Trailer.Get(trailerWhole) == "yes" {
		return true, nil
	}
	var p session.Problem
	text, err := strconv.Unquote(answer.Trailer.Get(trailerProblem))
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	if err != nil {
		return false, c.gone(io.ErrUnexpectedEOF)
	}
	return false, failure(ctx, &p)
}

// counter passes bytes on and tells how far it is.
type counter struct {
	to          io.Writer
	stage       string
	done, total int64
	report      session.Reporter
	err         error // of to
}

// Write implements io.Writer.
func (n *counter) Write(p []byte) (int, error) {
	k, err := n.to.Write(p)
	n.done += int64(k)
	if err != nil {
		n.err = err
		return k, err
	}
	if n.report != nil {
		n.report(session.Event{Kind: session.EventProgress, Stage: n.stage, Done: n.done, Total: n.total, Unit: session.UnitBytes})
	}
	return k, nil
}
