package agent

import (
	"net/http"
	"time"
)

// Status is how an unlocked container is. As JSON its field names are stable.
type Status struct {
	Entry
	IdleSeconds  float64 `json:"idleSeconds"`            // since the last use; 0 while something runs
	LocksIn      float64 `json:"locksInSeconds"`         // until it locks by itself, should nobody use it; 0: never, or as soon as Warning allows
	FileSystem   Traffic `json:"fileSystem"`             // bytes of files, or of the raw device
	Backing      Traffic `json:"imageFile"`              // bytes of the image file
	Busy         Busy    `json:"busy"`                   // what its work has taken
	Jobs         int     `json:"jobs"`                   // operations under way
	OpenFiles    int     `json:"openFiles"`              // through the drive
	TotalBytes   int64   `json:"totalBytes,omitempty"`   // of the file system inside
	FreeBytes    int64   `json:"freeBytes"`              // of the file system inside
	Problem      string  `json:"problem,omitempty"`      // why nothing can be written any more
	Warning      string  `json:"warning,omitempty"`      // what a person should know
	Label        string  `json:"label,omitempty"`        // of the file system inside
	Unresponsive bool    `json:"unresponsive,omitempty"` // the agent did not answer in time; all but Entry is unknown
}

// Busy is how long a container has been at work since it was unlocked, in seconds, summed over all that goes on in it at once.
type Busy struct {
	Crypto float64 `json:"cryptoSeconds"`
	Read   float64 `json:"readSeconds"`  // of the image file
	Write  float64 `json:"writeSeconds"` // of the image file
	Sync   float64 `json:"syncSeconds"`
}

// busy reads the clocks of the container.
func (c *core) busy() Busy {
	crypto, read, write, sync := c.device.BusyTimes()
	return Busy{crypto.Seconds(), read.Seconds(), write.Seconds(), sync.Seconds()}
}

// endsHeader of a refusal says that the process ends all the same.
const endsHeader = "Coffer-Ends"

// lockRequest asks to lock.
type lockRequest struct {
	Force bool `json:"force"`
}

// controlRoutes are the requests about the agent itself.
func (c *core) controlRoutes() []route {
	return []route{
		{path: "/v1/status", serve: c.serveStatus},
		{path: "/v1/lock", serve: c.serveLock},
		{path: "/v1/users", serve: c.serveUsers},
	}
}

func (c *core) serveStatus(w http.ResponseWriter, r *http.Request) error {
	if err := request(r, &struct{}{}); err != nil {
		return err
	}
	return reply(w, c.status())
}

func (c *core) serveLock(w http.ResponseWriter, r *http.Request) error {
	var asked lockRequest
	if err := request(r, &asked); err != nil {
		return err
	}
	if err := c.lock(r.Context(), asked.Force, "asked to"); err != nil {
		select {
		case <-c.locked: // nevertheless: this process ends
			w.Header().Set(endsHeader, "true")
		default:
		}
		return err
	}
	return reply(w, struct{}{})
}

func (c *core) serveUsers(w http.ResponseWriter, r *http.Request) error {
	if err := request(r, &struct{}{}); err != nil {
		return err
	}
	return reply(w, c.users())
}

// status gathers the Status.
func (c *core) status() Status {
	s := Status{Entry: c.claim.Entry(), Jobs: c.running(), Busy: c.busy()}
	if c.mount != nil {
		s.OpenFiles = c.mount.Counters().OpenFiles
	}
	s.FileSystem, s.Backing = c.meter.traffic(c.counts())
	c.mu.Lock()
	s.Warning = c.warning
	c.mu.Unlock()
	c.addAutoLock(&s)
	if c.session != nil {
		space := c.session.Volume.StatFS()
		s.TotalBytes, s.FreeBytes, s.Label = space.TotalBytes, space.FreeBytes, c.session.Volume.Label()
		if err := c.session.Volume.Err(); err != nil {
			s.Problem = err.Error()
		}
	}
	return s
}

// counts reads the counters.
func (c *core) counts() counts {
	now := counts{at: time.Now()}
	now.backing.read, now.backing.written = c.device.ImageTraffic()
	if c.session != nil {
		now.fileSystem.read, now.fileSystem.written = c.session.Volume.Traffic()
	} else if c.mount != nil {
		through := c.mount.Counters()
		now.fileSystem.read, now.fileSystem.written = through.BytesRead, through.BytesWritten
	}
	return now
}
