package transfers

import (
	"path"
	"path/filepath"
	"strings"

	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
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

// Why is why a job failed.
func Why(j Job) string {
	if j.Problem == nil {
		return text.T("no reason was given.")
	}
	return strings.TrimSpace(ui.Sentence(j.Problem.Sentence) + " " + ui.Sentence(j.Problem.Hint))
}
