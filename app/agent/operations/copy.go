package operations

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"coffer/app/session"
)

// copy runs a copy job in this process: into this container, out of it, or inside it. Paths of the host are absolute.
func (s *Server) copy(w http.ResponseWriter, r *http.Request) {
	var q session.CopyRequest
	if read(w, r, &q) {
		s.run(w, r, func(ctx context.Context, out *lines) (any, error) { return s.runCopy(ctx, q, out) })
	}
}

func (s *Server) runCopy(ctx context.Context, q session.CopyRequest, out *lines) (any, error) {
	var from, to *session.Session
	var err error
	if q.Destination.Inside() {
		if to, err = s.view(q.Destination.Image); err != nil {
			return nil, err
		}
	}
	if len(q.Sources) > 0 && q.Sources[0].Inside() {
		if from, err = s.view(q.Sources[0].Image); err != nil {
			return nil, err
		}
	}
	q.Report = out.event
	record, err := session.Copy(ctx, from, to, q)
	if record == nil {
		return nil, err
	}
	return resultOf(record), err
}

// Copy runs a copy in the agent: into its container, out of it, or inside it. The record is returned also when the copy
// failed or was cancelled on the way.
func (c *Client) Copy(ctx context.Context, r session.CopyRequest) (*session.Record, error) {
	var err error
	sources := make([]session.Place, len(r.Sources))
	for i, source := range r.Sources {
		if sources[i], err = source.Absolute(); err != nil {
			return nil, err
		}
	}
	report := r.Report
	r.Sources = sources
	if r.Destination, err = r.Destination.Absolute(); err != nil {
		return nil, err
	}
	if r.Records != "" {
		if r.Records, err = filepath.Abs(r.Records); err != nil {
			return nil, err
		}
	}
	var result copyResult
	err = c.call(ctx, "copy", r, hearing{event: report}, &result)
	return result.record(), err
}

// Copy runs a copy where it has to run: in the agent of a container that takes part, or else here. from and to are the
// containers of the sources and of the destination, nil for the host; they may be the same.
func Copy(ctx context.Context, from, to session.Files, r session.CopyRequest) (*session.Record, error) {
	source, sourceLocal := from.(*session.Session)
	target, targetLocal := to.(*session.Session)
	if (from == nil || sourceLocal) && (to == nil || targetLocal) {
		return session.Copy(ctx, source, target, r)
	}
	agent, ok := to.(*Client)
	if !ok {
		agent = from.(*Client)
	}
	if from != nil && to != nil && from != to {
		return nil, errors.New("not yet")
	}
	return agent.Copy(ctx, r)
}
