package operations

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strconv"

	"coffer/app/session"
	"coffer/fat32"
	"coffer/transfer"
)

// Headers of a file that is read from another process.
const (
	headerNode   = "Coffer-Node"   // what it is, as JSON
	headerReason = "Coffer-Reason" // of a refusal
)

// Reasons by which the errors of a source are told apart on the other side.
const (
	reasonNotExist = "not-exist"
	reasonBusy     = "busy"
	reasonDamaged  = "damaged"
)

// sourceReason is the reason of an error.
func sourceReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reasonNotExist
	case errors.Is(err, fat32.ErrBusy):
		return reasonBusy
	case errors.Is(err, fat32.ErrCorrupt):
		return reasonDamaged
	}
	return ""
}

// reasonError is an error of a source in another process.
type reasonError struct {
	error
	reason string
}

func (e *reasonError) Unwrap() error { return e.error }

// Is makes it the error it was on the other side.
func (e *reasonError) Is(target error) bool {
	switch e.reason {
	case reasonNotExist:
		return target == fs.ErrNotExist
	case reasonBusy:
		return target == fat32.ErrBusy
	case reasonDamaged:
		return target == fat32.ErrCorrupt
	}
	return false
}

// withReason is err as the error it was on the other side. nil stays nil.
func withReason(err error, reason string) error {
	if err == nil || reason == "" {
		return err
	}
	return &reasonError{err, reason}
}

// source is the volume of this server as another process copies out of it.
func (s *Server) source() transfer.Source {
	s.sourceOnce.Do(func() { s.sourceFiles, _ = s.session.Serve(false) })
	return s.sourceFiles.Files
}

// SourceHandlers are the operations by which a copy in another process reads this container.
func (s *Server) SourceHandlers() map[string]http.HandlerFunc {
	all := map[string]http.HandlerFunc{Prefix + "source/open": s.sourceOpen}
	for name, run := range map[string]operation{
		"source/info": s.sourceInfo, "source/list": s.sourceList, "source/stat": s.sourceStat, "source/rm": s.sourceRemove, "source/sync": s.sourceSync,
	} {
		all[Prefix+name] = func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, run) }
	}
	return all
}

func (s *Server) sourceInfo(_ context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	found, err := view.Serve(r.Force)
	if err != nil {
		return nil, err
	}
	return found.Endpoint, nil
}

func (s *Server) sourceList(_ context.Context, r *request, _ *lines) (any, error) {
	if _, err := s.view(r.Image); err != nil {
		return nil, err
	}
	return s.source().List(r.Path)
}

func (s *Server) sourceStat(_ context.Context, r *request, _ *lines) (any, error) {
	if _, err := s.view(r.Image); err != nil {
		return nil, err
	}
	node, err := s.source().Stat(r.Path)
	if err != nil {
		return nil, err
	}
	return node, nil
}

func (s *Server) sourceRemove(_ context.Context, r *request, _ *lines) (any, error) {
	if _, err := s.view(r.Image); err != nil {
		return nil, err
	}
	return nil, s.source().Remove(r.Path)
}

func (s *Server) sourceSync(_ context.Context, r *request, _ *lines) (any, error) {
	if _, err := s.view(r.Image); err != nil {
		return nil, err
	}
	return nil, s.source().Sync()
}

// sourceOpen answers with a file from an offset on.
func (s *Server) sourceOpen(w http.ResponseWriter, r *http.Request) {
	s.bytes(w, r, func(ctx context.Context, _ *session.Session, q *request, to *body) error {
		file, node, err := s.source().Open(q.Path)
		if err != nil {
			w.Header().Set(headerReason, sourceReason(err))
			return err
		}
		defer file.Close()
		text, err := json.Marshal(node)
		if err != nil {
			return err
		}
		w.Header().Set(headerNode, strconv.QuoteToASCII(string(text)))
		to.begin()
		return session.Pump(ctx, to, file, q.Offset, node.SizeBytes)
	})
}
