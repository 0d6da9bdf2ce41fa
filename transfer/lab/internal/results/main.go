// Command results keeps the project's own table of results, one line for each release and machine, from what the
// benchmarks print:
//
//	go run ./transfer/lab/internal/results -release v1.2 -to transfer/lab/results.md < output
//
// Figures that the output does not have stay as they were in the line, so that parts can be measured one by one.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"coffer/transfer/report"
)

func main() {
	release := flag.String("release", "", "what was measured, as git describes it")
	to := flag.String("to", "", "the file with the table")
	flag.Parse()
	if err := run(os.Stdin, *release, *to); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, release, path string) error {
	output, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	figures := parse(string(output))
	if len(figures) == 0 || release == "" {
		return fmt.Errorf("no figure found for %q", release)
	}
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, []byte(update(string(old), release, machine(), time.Now().UTC().Format(time.DateOnly), figures)), 0o644)
}

// machine names this machine without what tells it from others of its kind.
func machine() string {
	m := report.ReadMachine()
	return strings.ReplaceAll(fmt.Sprintf("%s, %d cores, %s", m.CPUModel, m.Cores, m.Kernel), "|", "/")
}

// columns are the figures in the order of the table; line finds each in the output of the benchmarks.
var columns = []struct {
	head string
	line *regexp.Regexp
}{
	{"engine / openssl", regexp.MustCompile(`(?m)^\S+ +4096 +65536 +[\d.]+ +[\d.]+ +([\d.]+) `)},
	{"in [a]", regexp.MustCompile(`\[a\] in +ratio ([\d.]+)`)},
	{"out [a]", regexp.MustCompile(`\[a\] out +ratio ([\d.]+)`)},
	{"in [b]", regexp.MustCompile(`\[b\] in +ratio ([\d.]+)`)},
	{"out [b]", regexp.MustCompile(`\[b\] out +ratio ([\d.]+)`)},
	{"in 20,000 x 1 KB", regexp.MustCompile(`\[small\] in +ratio ([\d.]+)`)},
	{"out 20,000 x 1 KB", regexp.MustCompile(`\[small\] out +ratio ([\d.]+)`)},
	{"drive: in [a]", drive(`copy in \[a\]`)},
	{"drive: out [a]", drive(`copy out \[a\] cold`)},
	{"drive: in [b]", drive(`copy in \[b\]`)},
	{"drive: out [b]", drive(`copy out \[b\] cold`)},
	{"drive: create / gocryptfs", drivePeer(`create 5,000 files`)},
	{"drive: delete / gocryptfs", drivePeer(`delete 5,000 files`)},
	{"drive: list cold / gocryptfs", drivePeer(`list 5,000 files cold`)},
}

func drive(line string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + line + ` +\d+ +\d+ +\S+ \S+ +([\d.]+) \(`)
}

func drivePeer(line string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + line + ` +\d+ +\d+ +\d+ \S+ +[\d.]+ \([^)]*\) +([\d.]+) \(`)
}

// parse returns figures by column. The engine's is that of its fastest implementation.
func parse(output string) map[string]string {
	figures := map[string]string{}
	for _, c := range columns {
		best := ""
		for _, found := range c.line.FindAllStringSubmatch(output, -1) {
			if len(found[1]) > len(best) || len(found[1]) == len(best) && found[1] > best {
				best = found[1]
			}
		}
		if best != "" {
			figures[c.head] = best
		}
	}
	return figures
}

const intro = `# Results, one line for each release and machine

Kept by ` + "`./run bench`" + ` and ` + "`./run bench drive`" + `. Every figure is a median of ratios, more is better: the cipher engine to ` + "`openssl speed`" + ` (AES-256-XTS, units
of 4096 bytes, one thread); copies into and out of a container, sync included and out of it cold, to ` + "`cp`" + ` and sync on the same disk; the
mounted drive to the plain disk, or to gocryptfs where that is said. [a] is one file of 658 MB, [b] 2140 files with 667 MB. Each pair or round was measured
interleaved in one run.

`

// update puts the figures into the line of a release and a machine, which is added if there is none.
func update(old, release, machine, date string, figures map[string]string) string {
	var b strings.Builder
	b.WriteString(intro + "| release | date | machine |")
	for _, c := range columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	mine := make([]string, len(columns))
	for line := range strings.Lines(old) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != len(columns)+3 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[0]) == "release" {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == release && cells[2] == machine {
			copy(mine, cells[3:])
			continue
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	for i, c := range columns {
		if v, ok := figures[c.head]; ok {
			mine[i] = v
		}
	}
	fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", release, date, machine, strings.Join(mine, " | "))
	return b.String()
}
