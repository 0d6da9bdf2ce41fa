package jobs

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/transfer/rate"
)

// check refuses a job that makes no sense, and completes it.
func check(c *protocol.CopyJob) error {
	refuse := func(format string, values ...any) error {
		return &session.Error{What: "copy", Err: fmt.Errorf(format, values...), Code: session.Usage}
	}
	switch {
	case len(c.Sources) == 0:
		return refuse("there is nothing to copy")
	case !c.FromInside && !c.ToInside:
		return refuse("neither the sources nor the destination are inside the container")
	case c.Peer != "" && (!c.FromInside || !c.ToInside):
		return refuse("another container can only be where the sources are, of a copy into this one")
	case c.Records != "" && !filepath.IsAbs(c.Records):
		return refuse("the folder of the records %q is no absolute path", c.Records)
	}
	c.Sources = append([]string(nil), c.Sources...)
	for i := range c.Sources {
		if err := checkPath(&c.Sources[i], c.FromInside); err != nil {
			return refuse("source %q: %w", c.Sources[i], err)
		}
	}
	if err := checkPath(&c.Destination, c.ToInside); err != nil {
		return refuse("destination %q: %w", c.Destination, err)
	}
	switch c.Existing {
	case "":
		c.Existing = protocol.ExistingAsk
	case protocol.ExistingAsk, protocol.ExistingReplace, protocol.ExistingNewer, protocol.ExistingSkip:
	default:
		return refuse("%q does not say what happens to existing files", c.Existing)
	}
	if c.WindowMillis < 0 || c.WindowMillis > rate.MaxWindow.Milliseconds() {
		return refuse("a window of %d ms: at most %d", c.WindowMillis, rate.MaxWindow.Milliseconds())
	}
	if err := rate.CheckWindow(time.Duration(c.WindowMillis) * time.Millisecond); err != nil {
		return refuse("%w", err)
	}
	return nil
}

// checkPath refuses paths that are not absolute. Those inside are cleaned, so that nothing leads out of the root; those of
// the host mean something by their ends.
func checkPath(p *string, inside bool) error {
	switch {
	case *p == "":
		return errors.New("the path is empty")
	case strings.ContainsRune(*p, 0):
		return errors.New("a path cannot hold a NUL character")
	case inside && !strings.HasPrefix(*p, "/"), !inside && !filepath.IsAbs(*p):
		return errors.New("the path is not absolute")
	}
	if inside {
		slash := strings.HasSuffix(*p, "/")
		if *p = path.Clean(*p); slash && *p != "/" {
			*p += "/"
		}
	}
	return nil
}
