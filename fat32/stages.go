package fat32

import (
	"errors"
	"fmt"
)

func isBarrier(err error) bool {
	var b *barrierError
	return errors.As(err, &b)
}

// stager keeps track of what is written since the last barrier.
type stager struct {
	v    *Volume
	data bool // file data
	meta bool // anything else
}

func (s *stager) barrier() error {
	if !s.data && !s.meta {
		return nil
	}
	if s.v.behind != nil {
		if err := s.v.behind.drain(); err != nil {
			return err // a full host is no reason to give the volume up
		}
	}
	if err := s.v.dev.Sync(); err != nil {
		return &barrierError{err}
	}
	s.data, s.meta = false, false
	return nil
}

func (s *stager) write(list []ioWrite) error {
	for _, w := range list {
		if err := writeFull(s.v.dev.WriteAt, w.data, w.off); err != nil {
			return err
		}
		s.meta = true
	}
	return nil
}

// stage writes the FAT pages that apply changes.
func (s *stager) fat(apply func(*fatWriter) error) error {
	w := newFATWriter(s.v, s.v.dev.WriteAt)
	err := apply(w)
	if err == nil {
		err = w.flush()
	}
	s.meta = s.meta || w.wrote
	w.close()
	return err
}

// runStages carries a plan out on a device without transactions. It may be
// repeated after a failure.
//
//	0 chains of new clusters; new directories; long-name slots ahead of their short entry
//	1 links from old tails to new clusters
//	2 entries: new, changed, renamed in place
//	3 .. of moved directories
//	4 removal of entries
//	5 end marks at new tails; long-name slots of removed entries
//	6 freed clusters
func (v *Volume) runStages(p *plan) error {
	s := &stager{v: v, data: p.data}
	if err := s.write(p.early); err != nil {
		return fmt.Errorf("new directories: %w", err)
	}
	if len(p.chains) > 0 {
		if err := s.fat(func(w *fatWriter) error { return w.chains(p.chains) }); err != nil {
			return fmt.Errorf("new chains: %w", err)
		}
	}
	if len(p.links) > 0 {
		if err := s.barrier(); err != nil {
			return err
		}
		if err := s.fat(func(w *fatWriter) error { return w.links(p.links) }); err != nil {
			return fmt.Errorf("links: %w", err)
		}
	}
	if len(p.entries) > 0 {
		if s.meta || p.growth {
			if err := s.barrier(); err != nil {
				return err
			}
		}
		if err := s.write(p.entries); err != nil {
			return fmt.Errorf("directory entries: %w", err)
		}
	}
	for _, list := range [][]ioWrite{p.dots, p.removals} {
		if len(list) == 0 {
			continue
		}
		if err := s.barrier(); err != nil {
			return err
		}
		if err := s.write(list); err != nil {
			return fmt.Errorf("moved or removed entries: %w", err)
		}
	}
	return v.runLateStages(p, s)
}

// runLateStages frees what nothing refers to any more.
func (v *Volume) runLateStages(p *plan, s *stager) error {
	if len(p.ends) > 0 || len(p.leftovers) > 0 {
		if err := s.barrier(); err != nil {
			return err
		}
		if err := s.write(p.leftovers); err != nil {
			return fmt.Errorf("removed long names: %w", err)
		}
		if err := s.fat(func(w *fatWriter) error { return w.ends(p.ends) }); err != nil {
			return fmt.Errorf("end marks: %w", err)
		}
	}
	if len(p.frees) > 0 {
		if err := s.barrier(); err != nil {
			return err
		}
		if err := s.fat(func(w *fatWriter) error { return w.frees(p.frees) }); err != nil {
			return fmt.Errorf("freed clusters: %w", err)
		}
	}
	return s.barrier()
}

// runTransaction writes a plan into the open transaction, in any order but
// with the last state of every sector last.
func (v *Volume) runTransaction(p *plan) error {
	for _, list := range [][]ioWrite{p.early, p.entries, p.dots, p.removals, p.leftovers} {
		for _, w := range list {
			if err := writeFull(v.txn.WriteMeta, w.data, w.off); err != nil {
				return fmt.Errorf("directories: %w", err)
			}
		}
	}
	w := newFATWriter(v, v.txn.WriteMeta)
	defer w.close()
	for _, step := range []func() error{
		func() error { return w.chains(p.chains) },
		func() error { return w.links(p.links) },
		func() error { return w.ends(p.ends) },
		func() error { return w.frees(p.frees) },
		w.flush,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("FAT: %w", err)
		}
	}
	for _, e := range p.discards {
		if err := v.discard.Discard(v.geo.clusterOffset(e.start), int64(e.count)<<v.shift); err != nil {
			return fmt.Errorf("discard: %w", err)
		}
	}
	if w.wrote && v.scan.err == nil {
		return v.writeFSInfo(uint32(v.scan.free.Load()))
	}
	return nil
}
