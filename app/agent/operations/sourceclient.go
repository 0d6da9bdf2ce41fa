package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"coffer/app/session"
	"coffer/transfer"
)

// elsewhere is the container of c as the source of a copy here; with changing sources are to be removed. ctx ends with the
// copy.
func (c *Client) elsewhere(ctx context.Context, changing bool) (found session.Elsewhere, err error) {
	err = c.call(ctx, "source/info", &request{Image: c.image, Force: changing}, hearing{}, &found.Endpoint)
	found.Files = &remoteSource{ctx, c}
	return found, err
}

// remoteSource is a transfer.Source over a client.
type remoteSource struct {
	ctx    context.Context
	client *Client
}

func (s *remoteSource) call(name, path string, result any) error {
	return s.plain(s.client.call(s.ctx, "source/"+name, &request{Image: s.client.image, Path: path}, hearing{}, result))
}

// plain is an error as one of a volume here would be: the copy says what it was for, and what to do.
func (s *remoteSource) plain(err error) error {
	if err == nil || s.ctx.Err() != nil {
		return err
	}
	plain := &reasonError{error: errors.New(err.Error())}
	var told *reasonError
	if errors.As(err, &told) {
		plain.reason = told.reason
	}
	return plain
}

// List implements transfer.Source.
func (s *remoteSource) List(dir string) (nodes []transfer.SourceNode, err error) {
	err = s.call("list", dir, &nodes)
	return nodes, err
}

// Stat implements transfer.Source.
func (s *remoteSource) Stat(path string) (node transfer.SourceNode, err error) {
	err = s.call("stat", path, &node)
	return node, err
}

// Remove implements transfer.Source.
func (s *remoteSource) Remove(path string) error { return s.call("rm", path, nil) }

// Sync implements transfer.Source.
func (s *remoteSource) Sync() error { return s.call("sync", "", nil) }

// Open implements transfer.Source.
func (s *remoteSource) Open(path string) (transfer.SourceReader, transfer.SourceNode, error) {
	f := &remoteFile{source: s, path: path}
	node, err := f.seek(0)
	if err != nil {
		return nil, node, s.plain(err)
	}
	return f, node, nil
}

// remoteFile is a file that comes as one stream; reading elsewhere begins another.
type remoteFile struct {
	source *remoteSource
	path   string

	mu     sync.Mutex
	answer *http.Response // nil: none
	at     int64          // the next byte of it
}

// seek begins a stream at an offset.
func (f *remoteFile) seek(off int64) (node transfer.SourceNode, err error) {
	f.drop()
	answer, err := f.source.client.post(f.source.ctx, "source/open", &request{Image: f.source.client.image, Path: f.path, Offset: off})
	if err != nil {
		return node, err
	}
	text, err := strconv.Unquote(answer.Header.Get(headerNode))
	if err == nil {
		err = json.Unmarshal([]byte(text), &node)
	}
	if err != nil {
		_ = answer.Body.Close()
		return node, f.source.client.gone(fmt.Errorf("description of a file: %w", err))
	}
	f.answer, f.at = answer, off
	return node, nil
}

// ReadAt implements io.ReaderAt.
func (f *remoteFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answer == nil || f.at != off {
		if _, err := f.seek(off); err != nil {
			return 0, f.source.plain(err)
		}
	}
	n, err := io.ReadFull(f.answer.Body, p)
	f.at += int64(n)
	if err == nil {
		return n, nil
	}
	if ctxErr := f.source.ctx.Err(); ctxErr != nil {
		return n, ctxErr
	}
	if whole, why := f.source.client.trailer(f.source.ctx, f.answer); whole {
		return n, io.EOF
	} else if why != nil {
		err = why
	}
	f.drop()
	return n, f.source.plain(err)
}

// Close implements io.Closer.
func (f *remoteFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop()
	return nil
}

func (f *remoteFile) drop() {
	if f.answer != nil {
		_ = f.answer.Body.Close()
		f.answer = nil
	}
}
