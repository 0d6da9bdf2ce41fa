package lab

import (
	"errors"
	"fmt"

	"coffer/container"
)

// cooler makes reads cold, as well as this user may.
type cooler struct {
	warm       bool  // nothing is dropped, as asked
	everything bool  // the system forgets all it has cached
	err        error // why caches cannot be dropped at all
	whyNotAll  error // why it does not forget everything
}

// newCooler finds out what this user may do. dir is a folder on the file system under test. With warm nothing is dropped.
func newCooler(dir string, warm bool) *cooler {
	c := &cooler{warm: warm}
	if warm {
		return c
	}
	if c.whyNotAll = dropAll(); c.whyNotAll == nil {
		c.everything = true
		return c
	}
	if err := dropTree(dir); errors.Is(err, errors.ErrUnsupported) {
		c.err = err
	}
	return c
}

// drops says whether anything is dropped at all.
func (c *cooler) drops() bool { return !c.warm && c.err == nil }

// cool makes the next reads of paths and of volumes come from the disk. What was written there must be durable. Where
// caches cannot be dropped it does nothing.
func (c *cooler) cool(volume *container.Volume, paths ...string) error {
	if c.everything {
		return dropAll()
	}
	if !c.drops() {
		return nil
	}
	for _, path := range paths {
		if err := dropTree(path); err != nil {
			return fmt.Errorf("drop the cache of %s: %w", path, err)
		}
	}
	if volume != nil {
		return volume.DropCache(0, volume.Size())
	}
	return nil
}

// method says what is done.
func (c *cooler) method() string {
	switch {
	case c.warm:
		return "Not dropped, as asked: what was written or read shortly before is read from memory."
	case c.everything:
		return "Dropped before each measurement: the system was made to forget everything it had cached, after a sync."
	case c.err == nil:
		return fmt.Sprintf("The system was asked to forget the files to be read before each measurement, after a sync; names and "+
			"folders stay cached, and so may files in use. (It does not forget everything for this user: %v.)", c.whyNotAll)
	}
	return fmt.Sprintf("Not dropped (%v): what was written or read shortly before is read from memory, so reading is faster than from the disk.", c.whyNotAll)
}
