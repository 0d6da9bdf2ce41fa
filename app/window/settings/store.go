package settings

import (
	"context"
	"os"
	"sync"

	"coffer/app/config"
	"coffer/app/window/ui"
)

// store is the settings file. Every change begins with what is in the file now, for other programs change it too, and changes
// are made in the order in which they were asked for. Nothing waits for the disk: done comes on Fyne's goroutine.
type store struct {
	path string
	deps *ui.Deps

	mu    sync.Mutex
	queue []func()
	runs  bool
}

// post runs something on Fyne's goroutine, unless the window has ended.
func (s *store) post(something func()) {
	if s.deps.Context.Err() == nil {
		s.deps.Do(something)
	}
}

// do runs work after what was asked for before.
func (s *store) do(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, work)
	if !s.runs {
		s.runs = true
		s.deps.Work(func(context.Context) error { // the process does not end before it
			s.run()
			return nil
		}, func(error) {})
	}
}

func (s *store) run() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.runs = false
			s.mu.Unlock()
			return
		}
		work := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		work()
	}
}

// read reads the settings.
func (s *store) read(done func(config.Settings, error)) {
	s.do(func() {
		now, err := config.Load(s.path)
		s.post(func() { done(now, err) })
	})
}

// change changes and saves the settings.
func (s *store) change(change func(*config.Settings), done func(config.Settings, error)) {
	s.do(func() {
		now, err := config.Load(s.path)
		if err == nil {
			before := now
			if change(&now); now != before {
				err = save(s.path, now)
			}
		}
		s.post(func() { done(now, err) })
	})
}

// startOver keeps the file under another name and saves the defaults.
func (s *store) startOver(done func(config.Settings, error)) {
	s.do(func() {
		err := os.Rename(s.path, s.path+".damaged")
		if err == nil || os.IsNotExist(err) {
			err = save(s.path, config.Defaults())
		}
		s.post(func() { done(config.Defaults(), err) })
	})
}

// save saves the settings, unless there is nowhere to.
func save(path string, now config.Settings) error {
	if path == "" {
		return errNowhere
	}
	return config.Save(path, now)
}
