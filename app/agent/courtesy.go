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

const (
	courtesyPause = 120 * time.Millisecond // longer than the time that the system wants between two changes
	// courtesyLinger is how long the session stands back after its work: the next copy job may follow at once, and each change
	// makes the scheduler begin its accounts anew.
	courtesyLinger = 2 * time.Second
)

// courtesy is the rank of the agent's session among the programs of the computer. Its zero value serves normally.
type courtesy struct {
	mu       sync.Mutex
	wanted   int
	made     int  // what the system was told last
	settling bool // a goroutine makes it so
}

// set changes the rank soon; it does not wait, and where it cannot be changed nothing happens.
func (c *courtesy) set(nice int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = nice
	if c.wanted != c.made && !c.settling {
		c.settling = true
		go c.settle()
	}
}

// settle makes the rank what is wanted.
func (c *courtesy) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := func(d time.Duration) {
		c.mu.Unlock()
		time.Sleep(d)
		c.mu.Lock()
	}
	for tries := 0; c.made != c.wanted && tries < 50; tries++ {
		nice := c.wanted
		if nice < c.made {
			if pause(courtesyLinger); c.wanted != nice {
				continue
			}
		}
		if later := setSessionNice(nice); later { // somebody else on the computer may have changed theirs just now
			pause(courtesyPause)
		} else {
			c.made = nice
		}
	}
	c.settling = false
}
