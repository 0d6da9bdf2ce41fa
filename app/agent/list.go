package agent

import (
	"context"
	"errors"

	"coffer/app/agent/registry"
)

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
	return registry.Ask(ctx, entries, func(ctx context.Context, e Entry) (Status, bool) {
		switch s, err := newClient(r, e).Status(ctx); {
		case err == nil:
			return s, true
		case !IsNotUnlocked(err):
			return Status{Entry: e, Unresponsive: true}, true
		}
		return Status{}, false
	}), nil
}
