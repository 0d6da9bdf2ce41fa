package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// experimentSuffix ends the names of stored experiments: other than that of records, so that programs of before, which
// know records only, do not see them.
const experimentSuffix = ".experiment" + suffix

// SaveExperiment writes an experiment durably and atomically, beside the records. An empty ID is filled in. One that
// fails its Check is refused.
func (s *Store) SaveExperiment(e *Experiment) error {
	if e.ID == "" {
		e.ID = NewID(e.Started)
	}
	if !idPattern.MatchString(e.ID) {
		return fmt.Errorf("save experiment %q: %w", e.ID, ErrID)
	}
	err := e.Check()
	if err == nil {
		err = s.write(e.ID+experimentSuffix, e.filled())
	}
	if err != nil {
		return fmt.Errorf("save experiment %s: %w", e.ID, err)
	}
	return nil
}

// LoadExperiment reads the experiment whose id is, or uniquely begins with, id.
func (s *Store) LoadExperiment(id string) (*Experiment, error) {
	full, err := s.resolve(id, experimentSuffix)
	if err != nil {
		return nil, fmt.Errorf("experiment %q: %w", id, err)
	}
	return s.readExperiment(full)
}

// ListExperiments returns all readable experiments, oldest first, and the ids of damaged ones.
func (s *Store) ListExperiments() (experiments []*Experiment, damaged []string, err error) {
	ids, err := s.ids(experimentSuffix)
	if err != nil {
		return nil, nil, fmt.Errorf("list experiments: %w", err)
	}
	for _, id := range ids {
		e, err := s.readExperiment(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			damaged = append(damaged, id)
		default:
			experiments = append(experiments, e)
		}
	}
	return experiments, damaged, nil
}

// DeleteExperiment removes one experiment, damaged or not.
func (s *Store) DeleteExperiment(id string) error {
	full, err := s.resolve(id, experimentSuffix)
	if err == nil {
		err = os.Remove(filepath.Join(s.dir, full+experimentSuffix))
	}
	if err != nil {
		return fmt.Errorf("delete experiment %q: %w", id, err)
	}
	return nil
}

func (s *Store) readExperiment(id string) (*Experiment, error) {
	data, err := s.bytes(id + experimentSuffix)
	if err != nil {
		return nil, fmt.Errorf("read experiment %s: %w", id, err)
	}
	e := new(Experiment)
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("read experiment %s: %w: %w", id, ErrDamaged, err)
	}
	if e.ID != id || e.Schema < 1 {
		return nil, fmt.Errorf("read experiment %s: %w: it calls itself %q, schema %d", id, ErrDamaged, e.ID, e.Schema)
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("read experiment %s: %w: %w", id, ErrDamaged, err)
	}
	return e, nil
}
