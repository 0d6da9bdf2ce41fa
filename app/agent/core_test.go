package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/app/protocol"
	"coffer/app/session"
)

// bare is a core without a container: enough for its operations.
func bare() *core {
	return &core{settings: Settings{Named: "a.img"}, began: time.Now(), jobs: map[*job]struct{}{}, locked: make(chan struct{}), log: func(string, error) {}}
}

// ask makes a request to a route and returns the problem it is refused with.
func ask(t *testing.T, c *core, r route) session.Problem {
	t.Helper()
	answer := httptest.NewRecorder()
	c.handler(r).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/test", strings.NewReader("{}")))
	var refused protocol.Failure
	if answer.Code != http.StatusOK {
		if err := json.Unmarshal(answer.Body.Bytes(), &refused); err != nil {
			t.Fatalf("%d %q: %v", answer.Code, answer.Body, err)
		}
	}
	return refused.Error
}

func TestForcedLockCancelsOperations(t *testing.T) {
	c := bare()
	ctx, end, err := c.begin(t.Context(), "copy", 7)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-ctx.Done(); end() }()
	begin := time.Now()
	if err := c.stopJobs(t.Context(), true); err != nil || time.Since(begin) > jobPatience {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if c.running() != 0 {
		t.Error("the operation still runs")
	}
	if _, _, err := c.begin(t.Context(), "ls", 0); !errors.Is(err, errLocking) || session.Explain(err).Code != session.InUse {
		t.Errorf("a new operation while locking: %v", err)
	}
}

// TestForcedLockLeavesWhoDoesNotStop: an operation that hangs does not keep a forced lock.
func TestForcedLockLeavesWhoDoesNotStop(t *testing.T) {
	c := bare()
	if _, _, err := c.begin(t.Context(), "copy", 7); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := c.stopJobs(t.Context(), true); err != nil || time.Since(begin) > 2*jobPatience {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestUnforcedLockWaitsForShortOperations(t *testing.T) {
	c := bare()
	_, end, err := c.begin(t.Context(), "ls", 7)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(jobPatience/5, end)
	if err := c.stopJobs(t.Context(), false); err != nil {
		t.Errorf("a short operation was in the way: %v", err)
	}
	c = bare()
	ctx, _, err := c.begin(t.Context(), "copy", 7)
	if err != nil {
		t.Fatal(err)
	}
	err = c.lock(t.Context(), false, "test")
	if p := session.Explain(err); p.Code != session.InUse || !strings.Contains(p.Sentence, "lock a.img: copy of process 7 is running") {
		t.Errorf("%+v", p)
	}
	if ctx.Err() != nil {
		t.Error("an unforced lock cancelled an operation")
	}
	if _, end, err := c.begin(t.Context(), "ls", 0); err != nil {
		t.Errorf("after a refused lock: %v", err)
	} else {
		end()
	}
}

func TestHandlerRefusesAndCounts(t *testing.T) {
	c := bare()
	r := route{path: "/v1/test", job: true, serve: func(w http.ResponseWriter, r *http.Request) error {
		if c.running() != 1 {
			t.Errorf("%d operations are counted", c.running())
		}
		return reply(w, 1)
	}}
	if p := ask(t, c, r); p.Sentence != "" || c.running() != 0 {
		t.Errorf("%+v, %d running", p, c.running())
	}
	c.closing = true
	if p := ask(t, c, r); p.Code != session.InUse {
		t.Errorf("while locking: %+v", p)
	}
}

// TestPanicInAHandler: the answer and the log hold no name from inside, and the agent lives on.
func TestPanicInAHandler(t *testing.T) {
	c := bare()
	logged := ""
	c.log = func(event string, err error) { logged += event + err.Error() }
	p := ask(t, c, route{path: "/v1/test", job: true, serve: func(http.ResponseWriter, *http.Request) error {
		panic("broken at a.img:/private/name")
	}})
	if p.Code != session.Failed || !strings.Contains(p.Sentence, "internal error") || strings.Contains(p.Sentence+logged, "private") || logged == "" {
		t.Errorf("%+v; logged %q", p, logged)
	}
	if c.running() != 0 {
		t.Error("the operation still counts")
	}
}

// TestRequestsAreRead: whole, and nothing unknown in them is ignored.
func TestRequestsAreRead(t *testing.T) {
	for body, fine := range map[string]bool{`{"force":true}`: true, `{}`: true, `{"farce":true}`: false, ``: false, `[`: false} {
		var asked protocol.LockRequest
		err := request(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), &asked)
		if (err == nil) != fine {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestLockedOnce(t *testing.T) {
	c := bare()
	c.lockErr = errors.New("the first result")
	close(c.locked)
	if err := c.lock(context.Background(), false, "test"); !errors.Is(err, c.lockErr) {
		t.Errorf("a second lock: %v", err)
	}
}
