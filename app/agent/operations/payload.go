package operations

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"coffer/app/session"
)

// stalled is how long a reader of a dump may take nothing while the writers of the drive wait for it.
const stalled = 30 * time.Second

// parting is how long a cancelled answer of plain bytes may take to say why it ends.
const parting = 300 * time.Millisecond

// flushDrive brings down what programs have written to mapped files, before the container stands still: afterwards it would
// have to wait.
func (s *Server) flushDrive(ctx context.Context, image string) error {
	drive := s.drive()
	if drive == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	if err := drive.Flush(ctx); err != nil {
		return &session.Error{What: "flush the drive of " + image, Err: err}
	}
	return nil
}

func (s *Server) check(ctx context.Context, r *request, out *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	if r.Repair {
		return nil, session.NeedsLock("repair", r.Image)
	}
	if err := s.flushDrive(ctx, r.Image); err != nil {
		return nil, err
	}
	result, err := view.Check(ctx, session.CheckRequest{Report: out.event})
	if result == nil {
		return nil, err
	}
	return result, err
}

func (s *Server) salvage(ctx context.Context, r *request, out *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	if err := s.flushDrive(ctx, r.Image); err != nil {
		return nil, err
	}
	result, err := view.Salvage(ctx, session.CheckRequest{SalvageTo: r.Folder, Typed: r.Typed, Report: out.event})
	if result == nil {
		return nil, err
	}
	return result, err
}

// dump answers with the decrypted payload.
func (s *Server) dump(w http.ResponseWriter, r *http.Request) {
	s.bytes(w, r, func(ctx context.Context, view *session.Session, q *request, to *body) error {
		if err := s.flushDrive(ctx, q.Image); err != nil {
			return err
		}
		to.deadline = stalled
		to.w.Header().Set(headerSize, strconv.FormatInt(view.PayloadBytes(), 10))
		return view.Dump(ctx, to, nil)
	})
}

// bytes answers with plain bytes. A problem before the first of them is the whole answer, one behind it a trailer.
func (s *Server) bytes(w http.ResponseWriter, r *http.Request, work func(context.Context, *session.Session, *request, *body) error) {
	var q request
	if !read(w, r, &q) {
		return
	}
	view, err := s.view(q.Image)
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	ctx, _, end := s.jobs.begin(r.Context())
	defer end()
	to := &body{ctx: ctx, w: w, control: http.NewResponseController(w)}
	// A reader that takes nothing must not hold a job that is cancelled: the container may be standing still for it.
	release := context.AfterFunc(ctx, func() { _ = to.control.SetWriteDeadline(time.Now().Add(parting)) })
	defer release()
	err = because(ctx, work(ctx, view, &q, to))
	switch {
	case err != nil && !to.begun:
		refuse(w, http.StatusConflict, err)
	case err != nil:
		if text, encodeErr := json.Marshal(problem(err)); encodeErr == nil {
			w.Header().Set(http.TrailerPrefix+trailerProblem, strconv.QuoteToASCII(string(text)))
		}
	default:
		to.begin()
		w.Header().Set(http.TrailerPrefix+trailerWhole, "yes")
	}
}

// body is the body of an answer that is plain bytes.
type body struct {
	ctx      context.Context
	w        http.ResponseWriter
	control  *http.ResponseController
	begun    bool
	deadline time.Duration // of one write; 0: none
}

// begin sends the header, so that trailers can follow also when there are no bytes.
func (b *body) begin() {
	if !b.begun {
		b.begun = true
		b.w.Header().Set("Content-Type", "application/octet-stream")
		b.w.WriteHeader(http.StatusOK)
		_ = b.control.Flush()
	}
}

// Write implements io.Writer.
func (b *body) Write(p []byte) (int, error) {
	b.begin()
	if b.deadline > 0 && b.ctx.Err() == nil {
		_ = b.control.SetWriteDeadline(time.Now().Add(b.deadline))
	}
	return b.w.Write(p)
}
