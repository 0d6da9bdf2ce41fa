package agent

import (
	"context"
	"net/http"
	"slices"
)

// route is one request that clients can make, by POST with a JSON body.
type route struct {
	path string // "/v1/..."
	// job: it uses the container. It is refused while the container is being locked, counts as use, keeps an unforced
	// lock away, and its context ends with a forced one.
	job   bool
	serve func(w http.ResponseWriter, r *http.Request) error
}

// routes are all requests. Each group lives in a file of its own.
func (c *core) routes() []route {
	return slices.Concat(
		c.controlRoutes(),
		c.operationRoutes(),
		c.copyRoutes(),
	)
}

// backgrounds are what runs beside the requests while the container is unlocked, each in a goroutine of its own until its
// context ends.
func (c *core) backgrounds() []func(context.Context) {
	return []func(context.Context){
		c.watchOver,
		c.lockByItself,
		c.waitForCopies,
	}
}
