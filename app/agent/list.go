package agent

import (
	"context"
	"errors"
	"sync"
	"time"
)

// statusPatience is how long a listing waits for one agent.
const statusPatience = 2 * time.Second

// IsNotUnlocked says whether err means that no agent holds the container.
func IsNotUnlocked(err error) bool { return errors.Is(err, ErrNotUnlocked) }

// StatusOfAll asks every agent of this user, all at once, in the order of List. One that does not answer in time is there
// with what the registry knows of it; one that ended meanwhile is left out.
func StatusOfAll(ctx context.Context) ([]Status, error) {
	entries, err := List(ctx)
	if err != nil {
		return nil, err
	}
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	answers := make([]*Status, len(entries))
	var asked sync.WaitGroup
	for i, e := range entries {
		asked.Go(func() {
			s, err := newClient(r, e).Status(ctx)
			switch {
			case err == nil:
				answers[i] = &s
			case !IsNotUnlocked(err):
				answers[i] = &Status{Entry: e, Unresponsive: true}
			}
		})
	}
	asked.Wait()
	all := []Status{}
	for _, s := range answers {
		if s != nil {
			all = append(all, *s)
		}
	}
	return all, nil
}
