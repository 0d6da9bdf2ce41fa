package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"time"

	"coffer/app/agent/socket"
	"coffer/app/logging"
	"coffer/app/protocol"
	"coffer/app/session"
)

// maxRequestBytes bounds the JSON body of a request; it can hold many paths.
const maxRequestBytes = 64 << 20

// peerKey is the key of the peer in the context of a request.
type peerKey struct{}

// peerPID is the process that makes a request, 0 when not known.
func peerPID(ctx context.Context) int {
	p, _ := ctx.Value(peerKey{}).(socket.Peer)
	return p.PID
}

// server makes the server of the control socket.
func (c *core) server() *http.Server {
	mux := http.NewServeMux()
	for _, r := range c.routes() {
		mux.Handle("POST "+r.path, c.handler(r))
	}
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it would name paths
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			p, _ := socket.PeerOf(conn)
			return context.WithValue(ctx, peerKey{}, p)
		},
	}
}

// handler runs a route: counts it as a job, and answers with its error.
func (c *core) handler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering := &answering{ResponseWriter: w}
		err := c.run(rt, answering, r)
		switch {
		case err == nil:
		case answering.begun: // the client must not take what it has for the whole
			panic(http.ErrAbortHandler)
		default:
			refuse(w, err)
		}
	})
}

func (c *core) run(rt route, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if thrown == http.ErrAbortHandler {
				panic(thrown)
			}
			err = &session.Error{What: path.Base(rt.path), Err: fmt.Errorf("internal error: %s", logging.Scrub(fmt.Sprint(thrown)))}
			c.log("panic in "+rt.path, err)
		}
	}()
	if rt.job {
		ctx, end, err := c.begin(r.Context(), path.Base(rt.path), peerPID(r.Context()))
		if err != nil {
			return err
		}
		defer end()
		r = r.WithContext(ctx)
	}
	return rt.serve(w, r)
}

// answering notes whether an answer has begun.
type answering struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader notes that the answer begins.
func (a *answering) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

// Write notes that the answer begins.
func (a *answering) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what is below.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// refuse answers with an error as the command line explains it.
func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(protocol.Failure{Error: session.Explain(err)}) // the client may have gone
}

// reply answers with a value.
func reply(w http.ResponseWriter, value any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(value)
}

// request reads the body of a request into value, to its end: only then does the server notice a client that goes away.
// Unknown fields are an error, for ignoring what a newer client asks would be a lie.
func request(r *http.Request, value any) error {
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxRequestBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return &session.Error{What: "read the request", Err: err, Code: session.Usage}
	}
	_, err := io.Copy(io.Discard, r.Body)
	return err
}
