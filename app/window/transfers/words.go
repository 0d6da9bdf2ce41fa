package transfers

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// Title is what a job copies, in a few words.
func Title(c protocol.CopyJob) string {
	if len(c.Sources) == 0 {
		return text.T("Nothing")
	}
	first := base(c.Sources[0], c.FromInside)
	if more := int64(len(c.Sources) - 1); more > 0 {
		return text.T("%s and %s", first, text.N(more, "1 more", "%d more"))
	}
	return first
}

// base is the name to show for a path.
func base(p string, inside bool) string {
	if !inside {
		return ui.Clean(filepath.Base(p))
	}
	if p == "/" {
		return text.T("Everything")
	}
	return ui.Clean(path.Base(p))
}

// From is where a job copies from, in words. titles are the names of unlocked containers by their identity.
func (j Job) From(titles map[string]string) string {
	if len(j.Copy.Sources) == 0 {
		return ""
	}
	first := j.Copy.Sources[0]
	if !j.Copy.FromInside {
		return outside(filepath.Dir(first))
	}
	title := j.Title
	if j.Copy.Peer != "" {
		if title = titles[j.Copy.Peer]; title == "" {
			title = text.T("another container")
		}
	}
	return insideOf(title, path.Dir(first))
}

// To is where a job copies to, in words.
func (j Job) To() string {
	if j.Copy.ToInside {
		return insideOf(j.Title, j.Copy.Destination)
	}
	return outside(j.Copy.Destination)
}

func insideOf(title, folder string) string {
	if folder == "/" || folder == "." {
		return ui.Clean(title)
	}
	return ui.Clean(title + " › " + strings.ReplaceAll(strings.Trim(folder, "/"), "/", " › "))
}

// outside is a folder of this computer; that of the person is written short.
func outside(folder string) string {
	home, err := os.UserHomeDir()
	if rest, below := strings.CutPrefix(folder, home); err == nil && home != "" && below && (rest == "" || os.IsPathSeparator(rest[0])) {
		folder = "~" + rest
	}
	return ui.Clean(folder)
}

// Why is why a job failed.
func Why(j Job) string {
	if j.Problem == nil {
		return text.T("The reason is not known.")
	}
	return strings.TrimSpace(ui.Sentence(j.Problem.Sentence) + " " + ui.Hint(*j.Problem))
}

// StateText is how far a job is, in a few words.
func StateText(j Job) string {
	if j.interrupted {
		return text.T("Interrupted")
	}
	switch j.State {
	case protocol.JobWaiting:
		return text.T("Waiting for its turn")
	case protocol.JobPlanning:
		return text.T("Looking at the files")
	case protocol.JobAsking:
		return text.T("Has a question")
	case protocol.JobRunning:
		return stageText(j.Stage)
	case protocol.JobPaused:
		return text.T("Paused")
	case protocol.JobDone:
		return text.T("Done")
	case protocol.JobPartly:
		return text.T("Done, but not everything")
	case protocol.JobFailed:
		return text.T("Failed")
	case protocol.JobCancelled:
		return text.T("Stopped")
	}
	return ui.Clean(string(j.State))
}

// stageText is what a running job does.
func stageText(stage string) string {
	switch stage {
	case "scan":
		return text.T("Looking at the files")
	case "sync":
		return text.T("Making sure that all is written")
	case "verify":
		return text.T("Comparing with the originals")
	case "move":
		return text.T("Removing the originals")
	}
	return text.T("Copying")
}

// stateIcon is the picture of a state, in its colour.
func stateIcon(s protocol.JobState) fyne.Resource {
	switch s {
	case protocol.JobWaiting:
		return theme.HistoryIcon()
	case protocol.JobPlanning:
		return theme.SearchIcon()
	case protocol.JobAsking:
		return theme.NewPrimaryThemedResource(theme.QuestionIcon())
	case protocol.JobRunning:
		return theme.NewPrimaryThemedResource(theme.MediaPlayIcon())
	case protocol.JobPaused:
		return theme.MediaPauseIcon()
	case protocol.JobDone:
		return theme.NewSuccessThemedResource(theme.ConfirmIcon())
	case protocol.JobPartly:
		return theme.NewWarningThemedResource(theme.WarningIcon())
	case protocol.JobFailed:
		return theme.NewErrorThemedResource(theme.ErrorIcon())
	}
	return theme.CancelIcon()
}

// work is how much a job has to do and has done, in bytes. What is compared in the end is read once more: it counts again.
func (j Job) work() (done, total int64) {
	done, total = j.Bytes, max(j.TotalBytes, j.Bytes)
	switch {
	case j.State.Ended(): // what did not arrive will not
		if j.Copy.Verify {
			done *= 2
		}
		total = done
	case !j.Copy.Verify:
	case j.Stage == "verify":
		done, total = total+done, 2*total
	case j.Stage == "move":
		done, total = 2*total, 2*total
	default:
		total *= 2
	}
	return done, total
}

// Fraction is how much of a job is done, 0 to 1; negative while that is not known.
func (j Job) Fraction() float64 {
	done, total := j.work()
	switch {
	case j.State == protocol.JobDone:
		return 1
	case total > 0:
		return float64(done) / float64(total)
	case j.TotalFiles > 0:
		return min(float64(j.Files)/float64(j.TotalFiles), 1)
	}
	return -1
}

// amounts is how much is done, in words: "312 of 1,024 files · 1.2 GB of 4.0 GB".
func amounts(j Job) string {
	switch {
	case j.State == protocol.JobWaiting, j.State == protocol.JobAsking, j.State.Ended() && j.TotalFiles == 0 && j.TotalBytes == 0:
		return ""
	case j.State == protocol.JobPlanning:
		if j.TotalFiles == 0 && j.TotalBytes == 0 {
			return files(j.Files) + " · " + text.Size(j.Bytes)
		}
		return files(j.TotalFiles) + " · " + text.Size(j.TotalBytes)
	case j.Files > j.TotalFiles, j.State == protocol.JobDone && j.Files == j.TotalFiles && j.Bytes >= j.TotalBytes: // more: those of an earlier try
		return files(j.Files) + " · " + text.Size(j.Bytes)
	}
	return text.T("%d of %s", j.Files, files(j.TotalFiles)) + " · " + text.T("%s of %s", text.Size(j.Bytes), text.Size(j.TotalBytes))
}

func files(n int64) string { return text.N(n, "1 file", "%d files") }

// left is how long a job will take, in words; "" when nobody knows.
func left(j Job) string {
	if j.RemainingSeconds <= 0 || j.State != protocol.JobRunning {
		return ""
	}
	return text.T("%s left", text.Span(time.Duration(max(j.RemainingSeconds, 1)*float64(time.Second))))
}

// joined puts parts of a line together, without those that are empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// summaryText is all jobs in one line.
func summaryText(s Summary) string {
	var parts []string
	add := func(n int, words string) {
		if n > 0 {
			parts = append(parts, words)
		}
	}
	add(s.Running, text.N(int64(s.Running), "1 running", "%d running"))
	add(s.Paused, text.N(int64(s.Paused), "1 paused", "%d paused"))
	add(s.Asking, text.N(int64(s.Asking), "1 with a question", "%d with a question"))
	add(s.Waiting, text.N(int64(s.Waiting), "1 waiting", "%d waiting"))
	return strings.Join(parts, ", ")
}

// Reason is why a file failed or was left out, in words; detail says more.
func Reason(p report.Problem) string {
	known := map[string]string{
		"link":              text.T("a link, which is not followed"),
		"device":            text.T("a device, not a file"),
		"fifo":              text.T("a pipe, not a file"),
		"socket":            text.T("a socket, not a file"),
		"special":           text.T("neither a file nor a folder"),
		"leftover":          text.T("left by an interrupted copy"),
		"unreadable":        text.T("cannot be read"),
		"vanished":          text.T("is gone"),
		"changed":           text.T("changed while it was copied"),
		"too-big":           text.T("larger than 4 GB, which the drive cannot hold"),
		"illegal-name":      text.T("its name is not possible there"),
		"name-too-long":     text.T("its name is too long"),
		"name-collision":    text.T("another file has the same name but for capitals"),
		"exists":            text.T("is there already"),
		report.ReasonPolicy: text.T("is there already and was kept"),
		report.ReasonThere:  text.T("was copied before"),
		"type-conflict":     text.T("a folder and a file have the same name"),
		"target-link":       text.T("a link is in its place"),
		"directory-full":    text.T("its folder is full"),
		"folder-failed":     text.T("its folder could not be made"),
		"write-failed":      text.T("cannot be written"),
		"busy":              text.T("another program has it open"),
		"verify-mismatch":   text.T("the copy is not the same"),
		"verify-unreadable": text.T("the copy cannot be read"),
		"split-damaged":     text.T("its parts do not fit together"),
		"move-kept":         text.T("copied, but the original could not be removed"),
	}
	if words, ok := known[p.Reason]; ok {
		return words
	}
	return ui.Clean(p.Detail)
}

// outcomeText is how a transfer ended.
func outcomeText(o report.Outcome) (words string, importance widget.Importance) {
	switch o {
	case report.Done:
		return text.T("Done"), widget.SuccessImportance
	case report.Partial:
		return text.T("Partly"), widget.WarningImportance
	case report.Failed:
		return text.T("Failed"), widget.DangerImportance
	case report.Cancelled:
		return text.T("Stopped"), widget.MediumImportance
	}
	return ui.Clean(string(o)), widget.MediumImportance
}

// place is one side of a transfer, in a few words: "ext4", "LUKS2 FAT32".
func place(e report.Endpoint) string {
	kind, format := e.FileSystem, e.Format
	if e.Kind != "container" {
		if kind == "" {
			return text.T("this computer")
		}
		return ui.Clean(kind)
	}
	switch format {
	case "raw":
		return ui.Clean(text.T("unencrypted %s", kind))
	case "":
		return text.T("container")
	}
	return ui.Clean(strings.TrimSpace(strings.ToUpper(format) + " " + kind))
}

// way is from where to where, in words.
func way(r *report.Record) string {
	return text.T("%s → %s", place(r.Source), place(r.Destination))
}

// clockSeconds is the time that rates are of, in words.
func clockSeconds(s float64) string {
	switch {
	case s < 0.9995:
		return text.T("%.2f s", s)
	case s < 99.95:
		return text.T("%.1f s", s)
	}
	return text.Span(time.Duration(s * float64(time.Second)))
}

// when is a moment, for a table.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
