package files

import (
	"context"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// work does something that takes time, with a bar if it takes long, and then done on Fyne's goroutine. say may be called in any
// goroutine. What is shown is listed anew.
func (s *Screen) work(title string, do func(ctx context.Context, say func(words string, fraction float64)) error, done func(error)) {
	ctx, cancel := context.WithCancel(s.deps.Context)
	var bar *ui.Progress
	ended := false
	show := s.after(barPause, func() {
		bar = ui.ShowProgress(s.deps.Shell.Window(), title, cancel)
	})
	go func() {
		err := do(ctx, func(words string, fraction float64) {
			s.do(func() {
				if bar != nil && !ended {
					bar.Say(words, fraction)
				}
			})
		})
		s.do(func() {
			ended = true
			cancel()
			show()
			if bar != nil {
				bar.Close()
			}
			if s.shown && s.container.State.Open() {
				s.list(true)
			}
			done(err)
		})
	}()
}

// showError tells what failed, and gives the keyboard back to the list.
func (s *Screen) showError(err error) {
	ui.ShowError(s.deps.Shell.Window(), err)
	s.focus()
}

// taken says whether something in the folder shown has the name, in whatever spelling, but for the path except.
func (s *Screen) taken(except string) func(folded string) bool {
	names := make(map[string]bool, len(s.items))
	for _, i := range s.items {
		if i.Path != except {
			names[i.key] = true
		}
	}
	return func(folded string) bool { return names[folded] }
}

// newFolder asks for a name and makes the folder.
func (s *Screen) newFolder() {
	taken := s.taken("")
	s.askName(nameQuestion{title: text.T("New folder"), name: freeName(text.T("New folder"), taken), action: text.T("Create"), taken: taken}, func(name string) {
		id, p := s.container.ID, path.Join(s.folder, name)
		s.work(text.T("New folder"), func(ctx context.Context, _ func(string, float64)) error {
			return s.deps.Backend.Files.Mkdir(ctx, id, p)
		}, func(err error) {
			if err == nil {
				s.wanted = p
			}
			s.showError(err)
		})
	})
}

// rename asks for another name of the one file chosen.
func (s *Screen) rename() {
	one := s.chosen()[0]
	taken := s.taken(one.Path)
	if s.words != "" {
		taken = nil // its folder is not the one shown: the agent knows
	}
	s.askName(nameQuestion{title: text.T("Rename"), name: one.shown, stem: !one.Folder, action: text.T("Rename"), taken: taken}, func(name string) {
		if name == one.shown { // also if it holds what is not shown as it is
			return
		}
		id, to := s.container.ID, path.Join(path.Dir(one.Path), name)
		s.work(text.T("Renaming…"), func(ctx context.Context, _ func(string, float64)) error {
			return s.deps.Backend.Files.Rename(ctx, id, one.Path, to)
		}, func(err error) {
			if err == nil {
				s.wanted = to
			}
			s.showError(err)
		})
	})
}

// removers is how many files are removed at once: they share the writes that make it durable.
const removers = 8

// remove asks, and removes what is chosen.
func (s *Screen) remove() {
	items := outermost(s.chosen())
	id := s.container.ID
	s.ask(text.T("Delete for good?"), removeQuestion(items), text.T("Delete"), true, func() {
		s.work(text.T("Deleting…"), func(ctx context.Context, say func(string, float64)) error {
			return s.removeAll(ctx, id, items, say)
		}, s.showError)
	})
}

// removeQuestion says what and how many would be removed.
func removeQuestion(items []*item) string {
	folders := int64(0)
	for _, i := range items {
		if i.Folder {
			folders++
		}
	}
	files := int64(len(items)) - folders
	var what string
	switch {
	case len(items) == 1 && folders == 1:
		what = text.T("The folder “%s” and everything in it will be deleted.", items[0].shown)
	case len(items) == 1:
		what = text.T("“%s” (%s) will be deleted.", items[0].shown, text.Size(items[0].SizeBytes))
	case folders == 0:
		what = text.T("%d files will be deleted.", files)
	case files == 0:
		what = text.T("%d folders and everything in them will be deleted.", folders)
	default:
		what = text.T("%s and %s with everything inside will be deleted.", text.N(files, "1 file", "%d files"), text.N(folders, "1 folder", "%d folders"))
	}
	return what + " " + text.T("This cannot be undone: a container has no wastebasket.")
}

// removeAll removes items, several at once, as many as can be. One error stands for all that failed.
func (s *Screen) removeAll(ctx context.Context, id string, items []*item, say func(string, float64)) error {
	var mu sync.Mutex
	var failures []error
	var began sync.WaitGroup
	done, slots := 0, make(chan struct{}, removers)
	for _, i := range items {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		began.Go(func() {
			defer func() { <-slots }()
			err := s.deps.Backend.Files.Remove(ctx, id, i.Path)
			mu.Lock()
			defer mu.Unlock()
			if done++; err != nil && ctx.Err() == nil {
				failures = append(failures, err)
			}
			say(text.T("%d of %d deleted", done, len(items)), float64(done)/float64(len(items)))
		})
	}
	began.Wait()
	switch {
	case len(failures) == 0:
		return ctx.Err()
	case len(items) == 1:
		return failures[0]
	}
	problem := client.Explain(failures[0])
	problem.Sentence = text.T("%d of %d could not be deleted. The first: %s", len(failures), len(items), problem.Sentence)
	return &client.Error{Problem: problem}
}

// add asks for files or a folder of the host and copies them into the folder shown.
func (s *Screen) add(want Want) {
	image, folder := s.image, s.folder
	r := Request{Want: want, Title: text.T("Add files"), Action: text.T("Add")}
	if want == WantFolders {
		r.Title, r.Here = text.T("Add a folder"), text.T("Add this folder")
	}
	s.choose(r, func(paths []string) {
		if len(paths) > 0 {
			s.deps.Shell.CopyIn(image, paths, folder)
		}
		s.focus()
	})
}

// export asks for a folder of the host and starts a copy of what is chosen to there. The job asks what there is to ask.
func (s *Screen) export() {
	paths := pathsOf(outermost(s.chosen()))
	id := s.container.ID
	s.choose(Request{Want: WantFolder, Title: text.T("Export to a folder"), Action: text.T("Export here")}, func(to []string) {
		if len(to) == 1 {
			s.startCopy(id, protocol.CopyJob{Sources: paths, FromInside: true, Destination: to[0]})
		}
		s.focus()
	})
}

// chooseOnHost asks for files or folders of the host; nobody is called when it is cancelled, or when the container is locked
// meanwhile.
func (s *Screen) chooseOnHost(r Request, then func([]string)) { s.newChooser(r, then).show() }

func (s *Screen) newChooser(r Request, then func([]string)) *chooser {
	c := newChooser(s.deps, r, then)
	c.modifiers = s.modifiers
	c.closed = func() {
		s.close = nil
		s.focus()
	}
	s.close = c.shut
	return c
}

// startCopy puts a copy into the queue of the container, with the person's settings.
func (s *Screen) startCopy(id string, job protocol.CopyJob) {
	s.aside(func(ctx context.Context) error {
		settings, err := s.deps.Settings()
		if err != nil {
			return err
		}
		job.Verify, job.WindowMillis, job.Records = settings.Verify, time.Duration(settings.Window).Milliseconds(), s.deps.Paths.RecordsFolder()
		if settings.Records != "" {
			job.Records = settings.Records
		}
		_, err = s.deps.Backend.Jobs.StartCopy(ctx, id, job)
		return err
	})
}

// aside does short work in a goroutine of its own and tells of its error.
func (s *Screen) aside(do func(ctx context.Context) error) {
	go func() {
		if err := do(s.deps.Context); err != nil {
			s.do(func() { s.showError(err) })
		}
	}()
}

// clip is what was cut or copied, to be pasted. It does not go to the desktop's clipboard: other programs read that.
type clip struct {
	id    string // of the container
	paths []string
	cut   bool
}

// hold keeps what is chosen for paste.
func (s *Screen) hold(cut bool) {
	s.clip = clip{id: s.container.ID, paths: pathsOf(outermost(s.chosen())), cut: cut}
	s.selected()
}

// paste moves or copies what is held into the folder shown.
func (s *Screen) paste() {
	held, id, folder := s.clip, s.container.ID, s.folder
	if held.cut {
		s.clip = clip{}
	}
	if !held.cut || held.id != id {
		job := protocol.CopyJob{Sources: held.paths, FromInside: true, Destination: folder, ToInside: true, Move: held.cut}
		if held.id != id {
			job.Peer = held.id
		}
		s.startCopy(id, job)
		s.selected()
		return
	}
	held.paths = slices.DeleteFunc(held.paths, func(p string) bool { return path.Dir(p) == folder }) // they are there
	if len(held.paths) == 0 {
		s.selected()
		return
	}
	s.work(text.T("Moving…"), func(ctx context.Context, _ func(string, float64)) error {
		return s.deps.Backend.Files.Move(ctx, id, held.paths, folder)
	}, func(err error) {
		if err == nil {
			s.wanted = path.Join(folder, path.Base(held.paths[0]))
		}
		s.showError(err)
	})
}

// openRow opens the item in row i.
func (s *Screen) openRow(i int) {
	if i >= 0 && i < len(s.items) {
		s.openItem(s.items[i])
	}
}

// openItem shows a folder here, and opens a file with the desktop's program for it, which needs the drive.
func (s *Screen) openItem(i *item) {
	if i.Folder {
		s.enter(i.Path)
		return
	}
	point := s.container.Status.MountPoint
	if point == "" {
		s.offerExport(i)
		return
	}
	u := fileURL(point, i.Path)
	s.aside(func(context.Context) error {
		if err := s.launch(u); err != nil {
			return errors.New(text.T("%s could not be opened: the desktop has no program for it, or it did not start.", i.shown))
		}
		return nil
	})
}

// fileURL is the address of a file of the drive at point.
func fileURL(point, inside string) *url.URL {
	p := filepath.ToSlash(point)
	if !strings.HasPrefix(p, "/") { // a drive letter
		p = "/" + p
	}
	return &url.URL{Scheme: "file", Path: strings.TrimSuffix(p, "/") + inside}
}

// offerExport says why a file cannot be opened without a drive, and what can be done.
func (s *Screen) offerExport(i *item) {
	s.ask(text.T("This container has no drive"),
		text.T("Other programs can open “%s” only on a drive. Export a copy of it, or lock the container and unlock it with a drive.", i.shown),
		text.T("Export to…"), false, s.export)
}

// showInFolder shows the one result chosen in the folder it is in.
func (s *Screen) showInFolder() {
	one := s.chosen()[0]
	s.enter(path.Dir(one.Path))
	s.wanted = one.Path
}
