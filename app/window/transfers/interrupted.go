package transfers

import (
	"time"

	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// The jobs of an agent are in its memory only, for their names come from inside the container. When the agent is killed or
// crashes, what the watcher saw of them last is all that is left: it stays on the list as an interrupted job, in this memory,
// until the person tries again or removes it. The jobs of an agent that was locked go with it: somebody wanted that.

// died says of which containers that have open jobs, and are not unlocked any more, the agent ended without locking.
func (w *Watcher) died(open []model.Container) map[string]bool {
	unlocked := map[string]bool{}
	for _, c := range open {
		unlocked[c.ID] = true
	}
	w.mu.Lock()
	died := map[string]bool{}
	for k, j := range w.jobs {
		if !j.State.Ended() && !unlocked[k.Container] {
			died[k.Container] = false
		}
	}
	w.mu.Unlock()
	for id := range died {
		died[id] = w.deps.Backend.Jobs.Died(id)
	}
	return died
}

// keepLocked adds to the jobs those that agents which died have interrupted, and says so once for each agent.
func (w *Watcher) keepLocked(jobs map[Key]Job, died map[string]bool) (told []news) {
	said := map[string]bool{}
	for k, j := range w.jobs {
		if _, still := jobs[k]; still || j.State.Ended() || !died[k.Container] {
			continue
		}
		jobs[k] = interrupted(j)
		if !said[k.Container] {
			said[k.Container] = true
			told = append(told, news{text.T("A copy was interrupted"), Title(j.Copy) + ": " + Why(jobs[k])})
		}
	}
	return told
}

// interrupted is a job whose agent is gone, as far as it had come.
func interrupted(j Job) Job {
	j.interrupted, j.State, j.Ended = true, protocol.JobFailed, time.Now()
	j.Current, j.RemainingSeconds, j.Questions = 0, 0, nil
	j.Problem = &protocol.Problem{
		Sentence: text.T("the process of the drive of %s ended before all files were copied", ui.Clean(j.Title)),
		Hint:     text.T("what was copied until then stays, and “Try again” unlocks the container and goes on from there"),
		Code:     protocol.Failed,
	}
	return j
}

// drop takes interrupted jobs off the list.
func (w *Watcher) drop(keys ...Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range keys {
		if w.jobs[k].interrupted {
			delete(w.jobs, k)
		}
	}
}
