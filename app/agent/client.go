package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/agent/socket"
	"coffer/app/protocol"
	"coffer/app/session"
)

// Client speaks with the agent of one container. Its methods may be used concurrently. Cancelling a call's context cancels
// what the agent does for it.
type Client struct {
	registry registry.Registry
	entry    Entry
	http     *http.Client
}

func newClient(r registry.Registry, e Entry) *Client {
	return &Client{registry: r, entry: e, http: &http.Client{Transport: socket.Transport(r.Socket(e.ID))}}
}

// Entry is the container as the registry has it.
func (c *Client) Entry() Entry { return c.entry }

// open makes a request and returns the body of its answer, which the caller closes. A refusal of the agent is the error.
func (c *Client) open(ctx context.Context, path string, in any) (io.ReadCloser, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	var refused protocol.Failure
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxEventBytes)).Decode(&refused); err != nil || refused.Error.Sentence == "" {
		return nil, &session.Error{What: "ask the agent of " + c.entry.Image, Err: fmt.Errorf("it does not know %s (%s)", path, answer.Status),
			Hint: "it may be of another version: lock the container and unlock it again"}
	}
	if answer.Header.Get(protocol.EndsHeader) != "" {
		return nil, &endsError{asError(refused.Error)}
	}
	return nil, asError(refused.Error)
}

// maxEventBytes bounds one refusal.
const maxEventBytes = 1 << 20

// unreachable explains why the agent did not answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	what := "ask the agent of " + c.entry.Image
	if !c.registry.Held(c.entry.ID) {
		return &session.Error{What: what, Err: fmt.Errorf("it has ended (process %d): %w", c.entry.PID, ErrNotUnlocked)}
	}
	return &session.Error{What: what, Err: fmt.Errorf("process %d does not answer: %w", c.entry.PID, err)}
}

// call makes a request and reads its answer into out, unless that is nil.
func (c *Client) call(ctx context.Context, path string, in, out any) error {
	body, err := c.open(ctx, path, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, body)
	} else {
		err = json.NewDecoder(body).Decode(out)
	}
	if err != nil {
		return c.unreachable(ctx, err)
	}
	return nil
}

// endPatience is how long a process may take to end after it has said that it is done.
const endPatience = 5 * time.Second

// Lock locks the container and returns when everything is written down, the drive is gone and the process that held the
// key has ended. Without force it fails with exit code 5 when a program is in the way; the error names it.
func (c *Client) Lock(ctx context.Context, force bool) error {
	err := c.call(ctx, "/v1/lock", protocol.LockRequest{Force: force}, nil)
	var ends *endsError
	if err != nil && !errors.As(err, &ends) {
		return err
	}
	for deadline := time.Now().Add(endPatience); !c.registry.Gone(c.entry); time.Sleep(2 * time.Millisecond) {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if time.Now().After(deadline) {
			return errors.Join(err, &session.Error{What: "lock " + c.entry.Image, Err: fmt.Errorf("process %d does not end", c.entry.PID)})
		}
	}
	return err
}

// endsError is a refusal of an agent that ends all the same.
type endsError struct{ error }

func (e *endsError) Unwrap() error { return e.error }

// Status asks how the container is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.call(ctx, "/v1/status", struct{}{}, &s)
	return s, err
}

// Users asks which programs use the drive, as far as the system tells.
func (c *Client) Users(ctx context.Context) ([]User, error) {
	var users []User
	err := c.call(ctx, "/v1/users", struct{}{}, &users)
	return users, err
}
