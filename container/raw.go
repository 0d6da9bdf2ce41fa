package container

import (
	"context"
	"fmt"

	"coffer/container/block"
	"coffer/container/plain"
)

// rawHandler is "raw": a bare volume in a file, without encryption. It is never
// detected, only named.
func rawHandler() handler {
	return handler{
		format: Raw,
		plan:   planRaw,
		create: func(_ context.Context, dev block.Device, _ plan, o CreateOptions, _ Credential) (*Volume, error) {
			return volumeRaw(dev, OpenOptions{}, true)
		},
		open: func(_ context.Context, dev block.Device, o OpenOptions, _ Credential) (*Volume, error) {
			return volumeRaw(dev, o, false)
		},
		info: infoRaw,
	}
}

func planRaw(o CreateOptions) (plan, error) {
	if (o.SizeBytes > 0) == (o.UsableBytes > 0) {
		return plan{}, fmt.Errorf("one of image size and usable size must be given: %w", ErrInvalid)
	}
	if o.Cipher != "" && o.Cipher != "none" {
		return plan{}, fmt.Errorf("format raw does not encrypt, cipher %q: %w", o.Cipher, ErrInvalid)
	}
	size, err := plain.RawSize(max(o.SizeBytes, o.UsableBytes))
	if err != nil {
		return plan{}, fmt.Errorf("%w: %w", err, ErrTooSmall)
	}
	return plan{imageBytes: size}, nil
}

func volumeRaw(dev block.Device, o OpenOptions, fresh bool) (*Volume, error) {
	info, err := infoRaw(dev)
	if err != nil {
		return nil, err
	}
	v, err := newVolume(dev, layout{size: info.UsableBytes, unit: info.SectorSizeBytes}, nil)
	if err != nil {
		return nil, err
	}
	v.info, v.readOnly, v.discard, v.zero = info, o.ReadOnly, true, fresh
	return v, nil
}

func infoRaw(dev block.Device) (Info, error) {
	size, err := plain.RawSize(dev.Size())
	if err != nil {
		return Info{}, fmt.Errorf("%w: %w", err, ErrNotContainer)
	}
	return Info{Format: Raw, Cipher: "none", SectorSizeBytes: plain.SectorBytes, ImageBytes: dev.Size(), UsableBytes: size}, nil
}
