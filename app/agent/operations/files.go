package operations

import (
	"context"
	"net/http"

	"coffer/app/session"
	"coffer/transfer"
)

// Changed, BeforeRead and BeforeReplace make the server the neighbour of its own session: it asks whatever drive there is
// at the moment.

// Changed implements session.Neighbour.
func (s *Server) Changed(c transfer.Change) {
	if drive := s.drive(); drive != nil {
		neighbour{drive}.Changed(c)
	}
}

// BeforeRead implements session.Neighbour.
func (s *Server) BeforeRead(path string) error {
	if drive := s.drive(); drive != nil {
		return neighbour{drive}.BeforeRead(path)
	}
	return nil
}

// BeforeReplace implements session.Neighbour.
func (s *Server) BeforeReplace(path string) error {
	if drive := s.drive(); drive != nil {
		return neighbour{drive}.BeforeReplace(path)
	}
	return nil
}

func (s *Server) list(ctx context.Context, r *request, out *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	return nil, view.List(ctx, r.Path, r.Recursive, func(e session.Entry) error {
		out.entry(&e)
		return ctx.Err()
	})
}

func (s *Server) stat(ctx context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	return nil, view.MustBeFile(ctx, r.Path)
}

func (s *Server) mkdir(ctx context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	return nil, view.Mkdir(ctx, r.Path, r.Parents)
}

func (s *Server) remove(ctx context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	return nil, view.Remove(ctx, r.Path, r.Recursive)
}

func (s *Server) move(ctx context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	moved, err := view.Move(ctx, r.Sources, r.To, r.Force)
	if moved == nil { // an empty interface must not hold it
		return nil, err
	}
	return moved, err
}

// sync makes everything done before durable: the end of a command.
func (s *Server) sync(_ context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	return nil, view.Sync()
}

func (s *Server) info(ctx context.Context, r *request, _ *lines) (any, error) {
	view, err := s.view(r.Image)
	if err != nil {
		return nil, err
	}
	info, err := view.FileSystem(ctx)
	if err != nil {
		return nil, err
	}
	return info, nil
}

// cat answers with the bytes of a file.
func (s *Server) cat(w http.ResponseWriter, r *http.Request) {
	s.bytes(w, r, func(ctx context.Context, view *session.Session, q *request, to *body) error {
		return view.Cat(ctx, q.Path, to)
	})
}
