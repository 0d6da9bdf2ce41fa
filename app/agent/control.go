package agent

import (
	"net/http"
	"time"

	"coffer/app/protocol"
)

// Status is how an unlocked container is, Busy what its work has taken.
type (
	Status = protocol.Status
	Busy   = protocol.Busy
)

// busy reads the clocks of the container.
func (c *core) busy() Busy {
	crypto, read, write, sync := c.device.BusyTimes()
	return Busy{Crypto: crypto.Seconds(), Read: read.Seconds(), Write: write.Seconds(), Sync: sync.Seconds()}
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
	var asked protocol.LockRequest
	if err := request(r, &asked); err != nil {
		return err
	}
	if err := c.lock(r.Context(), asked.Force, "asked to"); err != nil {
		select {
		case <-c.locked: // nevertheless: this process ends
			w.Header().Set(protocol.EndsHeader, "true")
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
