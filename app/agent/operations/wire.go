package operations

import (
	"context"
	"errors"

	"coffer/app/protocol"
	"coffer/app/session"
)

// Prefix is where the operations are on the control socket.
const Prefix = protocol.OperationsPrefix

// Kinds of lines beside the events of package session.
const (
	lineJob   = protocol.LineJob
	lineEntry = protocol.LineEntry
	lineEnd   = protocol.LineEnd
)

// Headers and trailers of answers that are plain bytes.
const (
	headerSize     = "Coffer-Size"    // bytes that will come
	trailerProblem = "Coffer-Problem" // why not all came, as JSON
	trailerWhole   = "Coffer-Whole"   // "yes": all came
)

// line is one line of an answer.
type line = protocol.Line

// request is what every operation takes; each looks at what concerns it.
type request struct {
	Image     string          `json:"image"` // the container as the person named it: for messages only
	Path      string          `json:"path,omitempty"`
	Recursive bool            `json:"recursive,omitempty"`
	Parents   bool            `json:"parents,omitempty"`
	Force     bool            `json:"force,omitempty"`
	Sources   []session.Place `json:"sources,omitempty"`
	To        session.Place   `json:"to,omitzero"`
	Offset    int64           `json:"offset,omitempty"` // of the first byte wanted
	Job       uint64          `json:"job,omitempty"`    // cancel
	Folder    string          `json:"folder,omitempty"` // salvage: absolute path on the host
	Typed     string          `json:"typed,omitempty"`  // folder as the person wrote it
	Repair    bool            `json:"repair,omitempty"`
}

// copyRequest is a copy. Paths of the host are absolute.
type copyRequest struct {
	session.CopyRequest
	// Peer is who has the container of the sources, when that is another process.
	Peer string `json:"peer,omitempty"`
	// Umask is the file mode creation mask of who asks, for files on the host; -1: none.
	Umask int `json:"umask"`
}

// copyResult is a record with what is never stored: the names of what failed.
type copyResult struct {
	Record   *session.Record         `json:"record"`
	Problems []session.RecordProblem `json:"problems,omitempty"`
	Dropped  int64                   `json:"dropped,omitempty"`
}

// record puts the two together again.
func (r *copyResult) record() *session.Record {
	if r.Record != nil {
		r.Record.Problems, r.Record.ProblemsDropped = r.Problems, r.Dropped
	}
	return r.Record
}

// resultOf is a record on its way.
func resultOf(r *session.Record) *copyResult {
	if r == nil {
		return nil
	}
	return &copyResult{Record: r, Problems: r.Problems, Dropped: r.ProblemsDropped}
}

// problem is an error on its way; nil for none.
func problem(err error) *session.Problem {
	if err == nil {
		return nil
	}
	p := session.Explain(err)
	return &p
}

// failure is a problem as an error again: the person gets the same sentence, hint and exit code. When ctx was cancelled
// by the person, the interruption of the operation is that cancellation.
func failure(ctx context.Context, p *session.Problem) error {
	if p == nil {
		return nil
	}
	why := errors.New(p.Sentence)
	if p.Code == session.Interrupted && ctx.Err() != nil {
		why = ctx.Err()
	}
	return &session.Error{Err: why, Code: p.Code, Hint: p.Hint}
}
