package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/protocol"
)

// registryNow is the registry of this user; an empty one if there is none.
func registryNow() (registry.Registry, error) {
	r, err := registry.OfUser()
	if err != nil {
		return r, fmt.Errorf("look for unlocked containers: %w", err)
	}
	return r, nil
}

// Drives asks every agent of this user how it is, oldest first, those that are still unlocking too (Ready is false then). One
// that does not answer in time is there with what the registry knows of it.
func (c *Client) Drives(ctx context.Context) ([]protocol.Status, error) {
	r, err := registryNow()
	if err != nil {
		return nil, err
	}
	live, err := r.Live()
	if err != nil {
		return nil, fmt.Errorf("look for unlocked containers: %w", err)
	}
	return registry.Ask(ctx, live, func(ctx context.Context, e registry.Entry) (s protocol.Status, ok bool) {
		if !e.Ready {
			return protocol.Status{Entry: e}, true
		}
		switch err := c.ask(ctx, e.ID, "/v1/status", struct{}{}, &s); {
		case err == nil:
			return s, true
		case r.Held(e.ID):
			return protocol.Status{Entry: e, Unresponsive: true}, true
		}
		return s, false
	}), nil
}

// Identity is what the registry calls the image at path, whatever path leads to it.
func Identity(path string) (string, error) { return registry.ID(path) }

// endPatience is how long a process may take to end after it has said that it is done.
const endPatience = 5 * time.Second

// Lock locks the container with the identity id and returns when everything is written down, the drive is gone and the
// process that held the key has ended. Without force it fails with protocol.InUse when a program is in the way; Users names
// them. Even a failed call may have locked it: the error says so, and Drives shows it.
func (c *Client) Lock(ctx context.Context, id string, force bool) error {
	err := c.ask(ctx, id, "/v1/lock", protocol.LockRequest{Force: force}, nil)
	r, registryErr := registryNow()
	if registryErr != nil {
		return errors.Join(err, registryErr)
	}
	var ends *endsError
	if err != nil && !errors.As(err, &ends) {
		return err
	}
	for deadline := time.Now().Add(endPatience); r.Held(id); time.Sleep(2 * time.Millisecond) {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if time.Now().After(deadline) {
			return errors.Join(err, errors.New("lock: the process that held the container does not end"))
		}
	}
	return err
}

// Died says whether the process that held the container with the identity id was killed or has crashed: it ended without
// locking. The next run of coffer cleans up after it; from then on the container is as one that was locked.
func (c *Client) Died(id string) bool {
	r, err := registryNow()
	return err == nil && r.Died(id)
}

// Users asks which programs use the drive of the container with the identity id, as far as the system tells.
func (c *Client) Users(ctx context.Context, id string) ([]protocol.User, error) {
	var users []protocol.User
	err := c.ask(ctx, id, "/v1/users", struct{}{}, &users)
	return users, err
}
