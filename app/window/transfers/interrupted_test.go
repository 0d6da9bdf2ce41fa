package transfers

import (
	"context"
	"strings"
	"testing"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
)

// unlocking is a shell in which somebody types the password at once.
type unlocking struct {
	ui.Shell
	stand *stand
}

func (u unlocking) Unlock(image string, then func(id string)) {
	entry, err := u.stand.Coffer.Unlock(context.Background(), client.UnlockRequest{Image: image, Credential: client.Credential{Password: client.Secret("secret")}}, nil)
	if err != nil {
		u.stand.t.Fatal(err)
	}
	u.stand.Deps.Model.Look(context.Background())
	then(entry.ID)
}

// kill ends the agent of a container without a word to anybody.
func (s *stand) kill(c *fake.Container) {
	s.Coffer.Mu.Lock()
	defer s.Coffer.Mu.Unlock()
	c.Unlocked, c.Died, c.Jobs = false, true, nil
}

// TestAgentKilled: the jobs of an agent that died stay on the list with how far they had come, and can be tried again.
func TestAgentKilled(t *testing.T) {
	for name, modelKnows := range map[string]bool{"the model knows": true, "the agent does not answer": false} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t)
			s.Deps.Shell = unlocking{s.Deps.Shell, s}
			s.show()
			running := s.job(s.vault, protocol.JobRunning, "/home/ann/Films")
			s.set(running, func(j *protocol.Job) {
				j.Files, j.TotalFiles, j.Bytes, j.TotalBytes, j.Current, j.Stage = 3, 8, 3e9, 8e9, 5e6, "copy"
			})
			s.job(s.vault, protocol.JobWaiting, "/home/ann/Music")
			s.job(s.vault, protocol.JobDone, "/home/ann/old")
			s.job(s.photos, protocol.JobRunning, "/home/ann/Pictures")
			s.look()
			s.kill(s.vault)
			if modelKnows {
				s.Deps.Model.Look(context.Background())
			}
			s.look()
			s.Deps.Model.Look(context.Background())
			s.look()
			if got := strings.Join(s.news(), "\n"); strings.Count(got, "A copy was interrupted: ") != 1 || strings.Contains(got, "was locked") {
				t.Errorf("told %q, want once that a copy was interrupted", got)
			}
			all := s.watcher.Jobs()
			if len(all) != 3 || all[0].Title != "photos" || s.watcher.Summary().Active() != 1 {
				t.Fatalf("%d jobs, %+v; want that of the other container and two interrupted ones", len(all), s.watcher.Summary())
			}
			var films Job
			for _, j := range all[1:] {
				if !j.interrupted || ActionsOf(j) != (Actions{Retry: true, Remove: true}) {
					t.Errorf("%s: can %+v", Title(j.Copy), ActionsOf(j))
				}
				if Title(j.Copy) == "Films" {
					films = j
				}
			}
			s.screen.queue.chosen, s.screen.queue.picked = films.Key(), true
			s.screen.queue.refresh()
			s.MustSay("Interrupted · 3.0 GB of 8.0 GB")
			s.MustSay("3 of 8 files")
			s.MustSay("The process of the drive of vault ended before all files were copied.")

			s.Tap("Try again")
			s.Until("it is in the queue of the new agent", func() bool {
				s.Coffer.Mu.Lock()
				defer s.Coffer.Mu.Unlock()
				return len(s.vault.Jobs) == 1
			})
			if again := s.vault.Jobs[0].Copy; !again.Resume || again.Sources[0] != "/home/ann/Films" || again.Destination != "/" {
				t.Errorf("tried again as %+v", again)
			}
			s.Until("it takes the place of the interrupted one", func() bool { return len(s.watcher.Jobs()) == 3 && len(s.screen.queue.ended()) == 1 })
			music := s.screen.queue.ended()[0]
			s.screen.queue.remove(music)
			s.Until("it is removed", func() bool { return len(s.screen.queue.ended()) == 0 })
			if s.Coffer.Called("ForgetJob") != 0 {
				t.Error("the new agent was asked to forget a job of the one that died; its numbers are others")
			}
		})
	}
}

// TestSlowIsNotDead: who does not answer in time has not ended.
func TestSlowIsNotDead(t *testing.T) {
	s := newStand(t)
	s.job(s.vault, protocol.JobRunning, "/a")
	s.look()
	s.Coffer.Mu.Lock()
	s.vault.Status.Unresponsive = true
	s.Coffer.Mu.Unlock()
	s.Deps.Model.Look(context.Background())
	s.look()
	if all := s.watcher.Jobs(); len(all) != 1 || all[0].interrupted || all[0].State != protocol.JobRunning || len(s.news()) != 0 {
		t.Errorf("%+v, told %q", all, s.news())
	}
}
