package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"

	"coffer/app/session"
)

// maxRequestBytes bounds the document of a request.
const maxRequestBytes = 16 << 20

// Server answers operations on one unlocked container. Make it with New.
type Server struct {
	session *session.Session // nil: the container is unlocked raw
	drive   func() Drive
	reach   func(peer string) (http.RoundTripper, error)
	jobs    jobs
	umasks  umasks

	sourceOnce  sync.Once
	sourceFiles session.Elsewhere
}

// New makes the server of a session, whose neighbour it becomes. drive gives the drive at the moment, or nil; reach leads
// to another process of this user that serves a container, by the name it goes by. A nil session is a container whose
// payload is somebody else's business: everything is refused.
func New(s *session.Session, drive func() Drive, reach func(peer string) (http.RoundTripper, error)) *Server {
	server := &Server{session: s, drive: drive, reach: reach}
	if s != nil {
		s.Neighbour = server
	}
	return server
}

// operation is the work of one request that answers in lines.
type operation func(ctx context.Context, r *request, out *lines) (result any, err error)

// Handlers are the operations by path. The context of a request must end when the container is locked by force.
func (s *Server) Handlers() map[string]http.HandlerFunc {
	all := map[string]http.HandlerFunc{Prefix + "copy": s.copy, Prefix + "cat": s.cat, Prefix + "dump": s.dump}
	for name, run := range map[string]operation{
		"ls": s.list, "stat": s.stat, "mkdir": s.mkdir, "rm": s.remove, "mv": s.move, "sync": s.sync, "info": s.info,
		"check": s.check, "salvage": s.salvage,
	} {
		all[Prefix+name] = func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, run) }
	}
	maps.Copy(all, s.SourceHandlers())
	return all
}

// read decodes the document of a request. On failure it has answered.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(into)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body) // read to its end, so that a lost connection is noticed
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("request: %w", err))
	}
	return err == nil
}

// refuse answers with a problem only.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem(err))
}

// view is the session under the name the request gives the container.
func (s *Server) view(image string) (*session.Session, error) {
	if s.session == nil {
		return nil, &session.Error{What: "use " + image, Err: errors.New("it is unlocked raw: the file system inside belongs to the program that mounted it"),
			Code: session.InUse, Hint: "`coffer lock " + image + "` first"}
	}
	return s.session.As(image), nil
}

// answer runs an operation and writes its lines.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, run operation) {
	var q request
	if read(w, r, &q) {
		s.run(w, r, func(ctx context.Context, out *lines) (any, error) { return run(ctx, &q, out) })
	}
}

// run is one job from its first line to its last.
func (s *Server) run(w http.ResponseWriter, r *http.Request, work func(ctx context.Context, out *lines) (any, error)) {
	ctx, id, end := s.jobs.begin(r.Context())
	defer end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := newLines(w)
	out.send(line{Event: session.Event{Kind: lineJob}, Job: id})
	result, err := work(ctx, out)
	last := line{Event: session.Event{Kind: lineEnd, Reason: sourceReason(err)}, Problem: problem(because(ctx, err))}
	if result != nil {
		if last.Result, err = json.Marshal(result); err != nil {
			last.Problem = problem(fmt.Errorf("answer: %w", err))
		}
	}
	out.end(last)
}

// Cancel ends another request. It is not an operation itself.
func (s *Server) Cancel(w http.ResponseWriter, r *http.Request) {
	var q request
	if read(w, r, &q) {
		s.jobs.cancel(q.Job)
		w.WriteHeader(http.StatusOK)
	}
}
