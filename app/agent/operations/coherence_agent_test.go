//go:build linux

package operations_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"coffer/app/agent"
	"coffer/app/session"
)

// demand demands success, or a failure that a person can read, of an operation of the agent.
func (w *world) demand(err error, succeeds bool) {
	w.t.Helper()
	if (err == nil) != succeeds {
		w.fail("got %v, want success: %v", err, succeeds)
	}
}

// copy runs a copy in the agent.
func (w *world) copy(r session.CopyRequest) (*session.Record, error) {
	var from, to session.Files
	if r.Sources[0].Inside() {
		from = w.client
	}
	if r.Destination.Inside() {
		to = w.client
	}
	return agent.Copy(context.Background(), from, to, r)
}

func (w *world) place(p string) session.Place { return session.Place{Image: w.image, Path: p} }

func (w *world) agentMkdir(dir *item, name string) {
	p := path.Join(respelt(w.random, dir.path()), name)
	w.step("agent: mkdir %s", p)
	err := w.client.Mkdir(context.Background(), p, false)
	w.demand(err, dir.child(name) == nil)
	if err == nil {
		dir.add(newFolder(name), name)
	}
}

func (w *world) agentRemove(i *item) {
	recursive := w.random.IntN(3) == 0
	p := respelt(w.random, i.path())
	w.step("agent: remove %s, recursive %v", p, recursive)
	err := w.client.Remove(context.Background(), p, recursive)
	w.demand(err, !i.folder || recursive || len(i.children) == 0)
	if err == nil {
		i.drop()
	}
}

func (w *world) agentMove(i, dir *item, name string) {
	force := w.random.IntN(2) == 0
	from, to := respelt(w.random, i.path()), path.Join(respelt(w.random, dir.path()), name)
	w.step("agent: move %s to %s, force %v", from, to, force)
	_, err := w.client.Move(context.Background(), []session.Place{w.place(from)}, w.place(to), force)
	there := dir.child(name)
	if there != nil && there.folder && (there != i || from == to) { // into it, under its own name as it was typed
		dir, name = there, path.Base(from)
		there = dir.child(name)
	}
	ok := !i.folder || !dir.inside(i)
	switch {
	case there == nil || there == i:
	case !force || i.inside(there) || there.folder != i.folder || there.folder && len(there.children) > 0:
		ok = false
	}
	w.demand(err, ok)
	if err != nil {
		return
	}
	if there != nil {
		there.drop()
	}
	i.drop()
	dir.add(i, name)
}

// agentCopyIn copies a file of the host over or beside what is there.
func (w *world) agentCopyIn(dir *item, name string) {
	there := dir.child(name)
	if there != nil && there.folder {
		return // it would go into it
	}
	force := w.random.IntN(2) == 0
	content := w.someContent()
	host := filepath.Join(w.scratch, "in")
	w.expect(os.WriteFile(host, content, 0o600))
	to := path.Join(respelt(w.random, dir.path()), name)
	w.step("agent: copy to %s, force %v", to, force)
	record, err := w.copy(session.CopyRequest{Sources: []session.Place{{Path: host}}, Destination: w.place(to), Force: force})
	w.expect(err)
	if there != nil && !force {
		if record.Files != 0 || record.Failed["exists"] != 1 {
			w.fail("a copy over an existing file without force: %+v", record)
		}
		return
	}
	if record.Files != 1 {
		w.fail("copied %d files: %v", record.Files, record.Problems)
	}
	if there != nil { // another file under the name that is stored
		there.drop()
		name = there.name
	}
	dir.add(&item{content: content}, name)
}

func (w *world) agentCopyOut(i *item) {
	host := filepath.Join(w.scratch, fmt.Sprint("out", w.steps))
	w.step("agent: copy %s out", i.path())
	record, err := w.copy(session.CopyRequest{Sources: []session.Place{w.place(i.path())}, Destination: session.Place{Path: host}})
	w.expect(err)
	got, err := os.ReadFile(host)
	w.expect(err)
	if record.Files != 1 || !bytes.Equal(got, i.content) {
		w.fail("copied out %d files, %d bytes, want %d", record.Files, len(got), len(i.content))
	}
	w.expect(os.Remove(host))
}

// agentBusy tries what is refused while a program writes to the file.
func (w *world) agentBusy(i *item) {
	f, err := os.OpenFile(w.at(i.path()), os.O_WRONLY|os.O_APPEND, 0)
	w.expect(err)
	how := w.random.IntN(6)
	w.step("agent: way %d to use %s while it is written", how, i.path())
	ctx, p := context.Background(), respelt(w.random, i.path())
	var record *session.Record
	switch how {
	case 0:
		err = w.client.Remove(ctx, p, false)
	case 1:
		_, err = w.client.Move(ctx, []session.Place{w.place(p)}, w.place("/moved while written"), true)
	case 2:
		err = w.client.Cat(ctx, p, &bytes.Buffer{})
	case 3:
		record, err = w.copy(session.CopyRequest{Sources: []session.Place{w.place(p)}, Destination: session.Place{Path: filepath.Join(w.scratch, "busy")}})
	case 4:
		record, err = w.copy(session.CopyRequest{Sources: []session.Place{{Path: filepath.Join(w.scratch, "new")}}, Destination: w.place(p), Force: true})
	case 5:
		w.expect(w.client.Mkdir(ctx, "/over", false))
		defer func() { w.expect(w.client.Remove(ctx, "/over", true)) }()
		_, err = w.copy(session.CopyRequest{Sources: []session.Place{{Path: filepath.Join(w.scratch, "new")}}, Destination: w.place("/over/f")})
		w.expect(err)
		_, err = w.client.Move(ctx, []session.Place{w.place("/over/f")}, w.place(p), true)
	}
	switch {
	case record != nil:
		w.expect(err)
		if record.Failed["busy"] != 1 || record.Files != 0 {
			w.fail("a copy of or over a file being written: %d files, %v", record.Files, record.Problems)
		}
	case err == nil || session.Explain(err).Code != session.InUse:
		w.fail("a file being written: %v, want exit code 5", err)
	}
	more := w.someContent()
	_, err = f.Write(more)
	w.expect(err)
	w.expect(f.Close())
	i.content = append(i.content[:len(i.content):len(i.content)], more...)
}
