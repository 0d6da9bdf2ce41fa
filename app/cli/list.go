package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"coffer/app/agent"
)

func (a *program) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		GroupID: groupDrive,
		Short:   "Show what is unlocked, where, since when, and how busy it is",
		Example: "  coffer list\n  coffer list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := agent.StatusOfAll(c.Context())
			if err != nil {
				return err
			}
			if len(all) == 0 {
				a.out.chat("nothing is unlocked")
			} else {
				a.showList(all)
			}
			return a.out.document(map[string]any{"unlocked": all})
		},
	}
}

// showList prints a table, and below it what a person should know.
func (a *program) showList(all []agent.Status) {
	rows := [][]string{{"IMAGE", "DRIVE", "SINCE", "IDLE", "READ", "WRITE", ""}}
	var remarks []string
	for _, s := range all {
		row := []string{escape(s.Image), escape(s.MountPoint), s.Started.Local().Format("2006-01-02 15:04"), "?", "", "", modes(s)}
		if s.MountPoint == "" {
			row[1] = "(no drive)"
		}
		if s.Unresponsive {
			remarks = append(remarks, fmt.Sprintf("%s: process %d does not answer", s.Image, s.PID))
		} else {
			row[3], row[4], row[5] = idleTime(s.IdleSeconds), rate(s.FileSystem.ReadRate), rate(s.FileSystem.WriteRate)
		}
		if s.Problem != "" {
			remarks = append(remarks, s.Image+": "+s.Problem)
		}
		if s.Warning != "" {
			remarks = append(remarks, s.Image+": "+s.Warning)
		}
		rows = append(rows, row)
	}
	for _, line := range table(rows) {
		a.out.say("%s", line)
	}
	for _, remark := range remarks {
		a.out.say("%s", escape(remark))
	}
}

// modes are the ways in which a drive is not an ordinary one.
func modes(s agent.Status) string {
	var words []string
	if s.ReadOnly {
		words = append(words, "read-only")
	}
	if s.Raw {
		words = append(words, "raw")
	}
	return strings.Join(words, ", ")
}

// table aligns columns, two spaces apart.
func table(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// idleTime is a time without use in words: "in use", "42 s", "5 min", "3 h".
func idleTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "in use"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// rate is a rate as it is printed everywhere: in MB/s, "-" for none.
func rate(bytesPerSecond float64) string {
	if bytesPerSecond < 500 {
		return "-"
	}
	return fmt.Sprintf("%.2f MB/s", bytesPerSecond/1e6)
}
