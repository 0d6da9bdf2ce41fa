package transfers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/app/protocol"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
	"coffer/transfer/report"
)

// TestPictures draws the screen in its states, for people to look at; see uitest.Desk.Picture.
func TestPictures(t *testing.T) {
	defer uitest.PicturesOf(t)()
	for _, theme := range []string{ui.ThemeLight, ui.ThemeDark} {
		for _, size := range [][2]float32{{850, 620}, {1100, 720}} {
			name := func(what string) string { return fmt.Sprintf("%s-%.0f-%s", what, size[0], theme) }
			t.Run(name(""), func(t *testing.T) {
				s := newStandIn(t, theme)
				s.Size(size[0], size[1])
				s.show()
				s.Picture(name("empty"))
				running := s.job(s.photos, protocol.JobRunning, "/home/ann/Pictures", "/home/ann/Music")
				running.Stage, running.Files, running.TotalFiles, running.Bytes, running.TotalBytes = "copy", 312, 1024, 1.2e9, 4e9
				running.Windows, running.Current, running.Average, running.Maximum, running.Minimum, running.RemainingSeconds = wave(40, 245e6, 0.2), 251e6, 245e6, 310e6, 180e6, 12
				waiting := s.job(s.photos, protocol.JobWaiting, "/home/ann/Videos/Holiday in the mountains 2026 with everybody.mkv")
				_ = waiting
				paused := s.job(s.vault, protocol.JobPaused, "/home/ann/Documents")
				paused.Files, paused.TotalFiles, paused.Bytes, paused.TotalBytes, paused.Average = 3, 12, 1e8, 9e8, 80e6
				done := s.job(s.vault, protocol.JobDone, "/Letters")
				done.Copy.FromInside, done.Copy.ToInside, done.Copy.Destination = true, false, "/home/ann/Desktop"
				done.Files, done.TotalFiles, done.Bytes, done.TotalBytes, done.Average = 88, 88, 3.1e9, 3.1e9, 310e6
				done.Record = record("", 20, 30, 310e6)
				partly := s.job(s.vault, protocol.JobPartly, "/home/ann/Mail")
				partly.Files, partly.TotalFiles, partly.Bytes, partly.TotalBytes, partly.Average, partly.Maximum, partly.Minimum = 85, 88, 3.0e9, 3.1e9, 290e6, 330e6, 200e6
				partly.Windows, partly.Record = wave(11, 290e6, 0.1), record("", 20, 11, 290e6)
				partly.Problems = []report.Problem{{Name: "Mail/inbox\u202e.mbox", Reason: "busy", Detail: "open for writing elsewhere", Failed: true},
					{Name: "Mail/old/1999.mbox", Reason: "unreadable", Detail: "permission denied", Failed: true}, {Name: "Mail/latest", Reason: "link", Detail: "not followed"}}
				failed := s.job(s.vault, protocol.JobFailed, "/home/ann/Backup")
				failed.Problem = &protocol.Problem{Sentence: "copy to vault.img: not enough space at the target: 5.2 GB needed, 1.1 GB free", Hint: "make room, or make a larger container"}
				s.look()
				s.Picture(name("running"))
				for i, j := range s.screen.queue.jobs {
					if j.State == protocol.JobPartly || j.State == protocol.JobFailed || j.State == protocol.JobDone {
						s.screen.queue.list.Select(i)
						s.Picture(name(string(j.State)))
					}
				}
				asking := s.job(s.photos, protocol.JobAsking, "/home/ann/Pictures")
				asking.Queued = time.Now()
				asking.Questions = []protocol.Question{{Kind: protocol.QuestionExists, Files: 12, Examples: []string{"Pictures/a.jpg", "Pictures/b.jpg", "Pictures/2019/long name of a picture.jpg"},
					Answers: []string{protocol.ExistingReplace, protocol.ExistingNewer, protocol.ExistingSkip}},
					{Kind: protocol.QuestionTooBig, Files: 1, Examples: []string{"Pictures/film.mkv"}, Answers: []string{"split", "skip"}}}
				s.look()
				s.Picture(name("question"))
				s.Tap("Decide later")

				out := record("", 26, 30, 90e6)
				out.Source, out.Destination, out.Outcome = out.Destination, out.Source, report.Partial
				out.Failed["busy"] = 2
				s.save(record("photos to vault", 20, 60, 240e6), record("photos to vault, verified", 24, 95, 180e6), record("", 25, 300, 310e6), out)
				_ = os.WriteFile(filepath.Join(s.Deps.Paths.RecordsFolder(), "20261130T132015123Z-1a2b3c.json"), []byte("{"), 0o600)
				h := s.history()
				h.mark(h.shown[1].ID, true)
				h.mark(h.shown[2].ID, true)
				s.Picture(name("history"))
				h.showRecord(h.shown[2])
				s.Picture(name("record"))
				s.Tap("Export…")
				entry := uitest.Find(s.Desk, "the path", func(*ui.KeyEntry) bool { return true })
				s.Until("a path is offered", func() bool { return filepath.IsAbs(entry.Text) })
				s.Picture(name("export"))
				s.Tap("Cancel")
				h.back()
				s.Tap("Compare")
				s.Picture(name("comparison"))
			})
		}
	}
}
