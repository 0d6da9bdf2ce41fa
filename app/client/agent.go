package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"coffer/app/agent/socket"
	"coffer/app/protocol"
)

// ErrNotUnlocked: no agent holds the container.
var ErrNotUnlocked = errors.New("the container is not unlocked")

// maxRefusal bounds the answer of an agent that refuses.
const maxRefusal = 1 << 20

// endsError is a refusal of an agent that ends all the same.
type endsError struct{ error }

func (e *endsError) Unwrap() error { return e.error }

// open posts a request to the agent of the container with the identity id; the caller closes the body. The end of ctx
// cancels what the agent does for it.
func (c *Client) open(ctx context.Context, id, path string, in any) (io.ReadCloser, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	r, err := registryNow()
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Client{Transport: socket.Transport(r.Socket(id))}).Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !r.Held(id):
		return nil, &Error{protocol.Problem{Sentence: ErrNotUnlocked.Error(), Code: protocol.NoCredential}}
	case err != nil:
		return nil, fmt.Errorf("the process that holds the container does not answer: %w", err)
	case answer.StatusCode == http.StatusOK:
		return answer.Body, nil
	}
	defer answer.Body.Close()
	problem, ok := refusal(answer.Body)
	if !ok {
		return nil, &Error{protocol.Problem{Sentence: fmt.Sprintf("the process that holds the container does not know %s (%s)", path, answer.Status),
			Hint: "it may be of another version: lock the container and unlock it again", Code: protocol.Failed}}
	}
	if answer.Header.Get(protocol.EndsHeader) != "" {
		return nil, &endsError{&Error{problem}}
	}
	return nil, &Error{problem}
}

// refusal reads a refusal in either of its forms: a problem, or one in a field error.
func refusal(from io.Reader) (protocol.Problem, bool) {
	var both struct {
		protocol.Failure
		protocol.Problem
	}
	if err := json.NewDecoder(io.LimitReader(from, maxRefusal)).Decode(&both); err != nil {
		return protocol.Problem{}, false
	}
	if both.Error.Sentence != "" {
		return both.Error, true
	}
	return both.Problem, both.Sentence != ""
}

// ask makes a request and reads its answer into out, unless that is nil.
func (c *Client) ask(ctx context.Context, id, path string, in, out any) error {
	body, err := c.open(ctx, id, path, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, body)
	} else {
		err = json.NewDecoder(body).Decode(out)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// operate runs an operation on the files inside and hears it to its end.
func (c *Client) operate(ctx context.Context, id, name string, q protocol.Operation, entry func(protocol.Entry) error, result any) error {
	body, err := c.open(ctx, id, protocol.OperationsPrefix+name, q)
	if err != nil {
		return err
	}
	defer body.Close()
	from := bufio.NewReaderSize(body, 64<<10)
	for {
		text, err := from.ReadBytes('\n')
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the process that holds the container ended before it was done: %w", err)
		}
		var l protocol.Line
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		switch {
		case l.Kind == protocol.LineEntry && l.Entry != nil && entry != nil:
			if err := entry(*l.Entry); err != nil {
				return err
			}
		case l.Kind == protocol.LineEnd:
			if l.Problem != nil {
				return &Error{*l.Problem}
			}
			if result != nil && len(l.Result) > 0 {
				return json.Unmarshal(l.Result, result)
			}
			return nil
		}
	}
}
