package operations

import (
	"context"
	"net/http"
	"path/filepath"

	"coffer/app/session"
)

// copy runs a copy job in this process: into this container, out of it, inside it, or into it from one that another
// process has.
func (s *Server) copy(w http.ResponseWriter, r *http.Request) {
	var q copyRequest
	if read(w, r, &q) {
		s.run(w, r, func(ctx context.Context, out *lines) (any, error) {
			q.Report = out.event
			defer s.umasks.wear(q.Umask)()
			record, err := s.runCopy(ctx, &q)
			if record == nil {
				return nil, err
			}
			return resultOf(record), err
		})
	}
}

func (s *Server) runCopy(ctx context.Context, q *copyRequest) (*session.Record, error) {
	plan, err := s.PlanCopy(ctx, q.CopyRequest, q.Peer)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// PlanCopy looks at a copy into this container, out of it or inside it. peer is the process that has the container of the
// sources, if it is another. ctx ends with the copy.
func (s *Server) PlanCopy(ctx context.Context, q session.CopyRequest, peer string) (*session.CopyPlan, error) {
	var from, to *session.Session
	var err error
	if q.Destination.Inside() {
		if to, err = s.view(q.Destination.Image); err != nil {
			return nil, err
		}
	}
	switch inside := len(q.Sources) > 0 && q.Sources[0].Inside(); {
	case inside && peer != "":
		transport, err := s.reach(peer)
		if err != nil {
			return nil, err
		}
		found, err := NewClient(transport, peer, q.Sources[0].Image).elsewhere(ctx, q.Move)
		if err != nil {
			return nil, err
		}
		return session.PlanCopyFrom(ctx, found, to, q)
	case inside:
		if from, err = s.view(q.Sources[0].Image); err != nil {
			return nil, err
		}
	}
	return session.PlanCopy(ctx, from, to, q)
}

// Private makes what is written on the host readable for this user alone, until off is called: that of copies nobody waits
// for, whose umask would be that of nobody.
func (s *Server) Private() (off func()) { return s.umasks.wear(0o077) }

// copy runs a copy in the agent. peer is the process that has the container of the sources; "": the agent itself, or the
// sources are on the host.
func (c *Client) copy(ctx context.Context, r session.CopyRequest, peer string) (*session.Record, error) {
	q, report := copyRequest{CopyRequest: r, Peer: peer, Umask: ownUmask()}, r.Report
	q.Sources = make([]session.Place, len(r.Sources))
	var err error
	for i, source := range r.Sources {
		if q.Sources[i], err = source.Absolute(); err != nil {
			return nil, err
		}
	}
	if q.Destination, err = r.Destination.Absolute(); err != nil {
		return nil, err
	}
	if r.Records != "" {
		if q.Records, err = filepath.Abs(r.Records); err != nil {
			return nil, err
		}
	}
	var result copyResult
	err = c.call(ctx, "copy", q, hearing{event: report}, &result)
	return result.record(), err
}

// Copy runs a copy where it has to run: in the agent of a container that takes part, that of the destination if there are
// two, or else here. from and to are the containers of the sources and of the destination, nil for the host; they may be
// the same. serve lets other processes of this user reach a handler, under the name it returns, until stop is called. The
// record is returned also when the copy failed or was cancelled on the way.
func Copy(ctx context.Context, from, to session.Files, r session.CopyRequest, serve func(http.Handler) (peer string, stop func(), err error)) (*session.Record, error) {
	source, sourceHere := from.(*session.Session)
	target, targetHere := to.(*session.Session)
	fromAgent, _ := from.(*Client)
	toAgent, _ := to.(*Client)
	switch {
	case fromAgent == nil && toAgent == nil:
		return session.Copy(ctx, source, target, r)
	case toAgent == nil && !targetHere, fromAgent == toAgent, fromAgent == nil && !sourceHere: // one container, in one agent
		if toAgent == nil {
			toAgent = fromAgent
		}
		return toAgent.copy(ctx, r, "")
	case toAgent == nil: // from an agent into a container that is open here
		found, err := fromAgent.elsewhere(ctx, r.Move)
		if err != nil {
			return nil, err
		}
		return session.CopyFrom(ctx, found, target, r)
	case fromAgent != nil:
		return toAgent.copy(ctx, r, fromAgent.peer)
	}
	// From a container that is open here into one that an agent has.
	mux := http.NewServeMux()
	for path, handle := range New(source, func() Drive { return nil }, nil).SourceHandlers() {
		mux.HandleFunc("POST "+path, handle)
	}
	peer, stop, err := serve(mux)
	if err != nil {
		return nil, err
	}
	defer stop()
	return toAgent.copy(ctx, r, peer)
}
