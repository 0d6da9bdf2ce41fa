//go:build !linux && !windows && !((darwin || freebsd) && cgo)

package vfs

import (
	"context"
	"fmt"
	"runtime"
)

// Probe tells whether drives can be mounted: not by this build.
func Probe() error {
	return fmt.Errorf("%w: this build for %s has no FUSE library", ErrNoFUSE, runtime.GOOS)
}

type noBinding struct{}

func (noBinding) flush(context.Context) error        { return Probe() }
func (noBinding) changed(Change)                     {}
func (noBinding) detach(context.Context, bool) error { return Probe() }
func (noBinding) done() <-chan struct{}              { return nil }

func bindFS(*FS, string, Options) (binding, error) { return noBinding{}, Probe() }

func bindRaw(*rawDevice, string, Options) (binding, error) { return noBinding{}, Probe() }
