package agent

import (
	"sync"
	"time"
)

// How much the processes of an agent's session stand back while they compute for seconds, as nice values. Whatever a person
// looks at meanwhile, our window first of all, is drawn between two slices of that work instead of after ten of them. On a
// machine with nothing else to do they lose nothing.
const (
	niceUnlocking = 5  // the key derivation: somebody waits for it
	niceCopying   = 10 // copy jobs, which wait in a queue anyway
	niceServing   = 0  // the drive
)

// courtesyPause is longer than the time that the system wants between two changes.
const courtesyPause = 120 * time.Millisecond

// courtesy is the rank of the agent's session among the programs of the computer. Its zero value serves normally.
type courtesy struct {
	mu       sync.Mutex
	wanted   int
	settling bool // a goroutine makes it so
}

// set changes the rank soon; it does not wait, and where it cannot be changed nothing happens.
func (c *courtesy) set(nice int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted == nice {
		return
	}
	c.wanted = nice
	if !c.settling {
		c.settling = true
		go c.settle()
	}
}

// settle makes the rank what is wanted. Somebody else on the computer may have changed theirs just now, which makes us wait.
func (c *courtesy) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for made, tries := niceServing-1, 0; made != c.wanted && tries < 50; tries++ {
		nice := c.wanted
		c.mu.Unlock()
		later := setSessionNice(nice)
		if later {
			time.Sleep(courtesyPause)
		}
		c.mu.Lock()
		if !later {
			made = nice
		}
	}
	c.settling = false
}
