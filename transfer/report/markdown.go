package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// cell makes text safe inside a Markdown table.
func cell(s string) string {
	s = Escape(s)
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// exportMarkdown writes a table of all records and a section for each.
func exportMarkdown(w io.Writer, records []*Record, names bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Transfers\n\nMB/s is 10^6 bytes per second; average covers copy and sync.\n\n")
	fmt.Fprint(b, "| id | label | from | to | files | bytes | seconds | average MB/s | max | min | window s | outcome |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range records {
		window := number(r.Rates.WindowSeconds)
		if r.Rates.SingleWindow {
			window = "single window"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %d | %s | %s | %s | %s | %s | %s |\n", r.ID, cell(r.Label), cell(r.Source.String()), cell(r.Destination.String()),
			r.Files, r.Bytes, significant(r.Seconds.Copy+r.Seconds.Sync), megabytes(r.Rates.Average), megabytes(r.Rates.Maximum), megabytes(r.Rates.Minimum), window, r.Outcome)
	}
	for _, r := range records {
		markdownDetails(b, r, names)
	}
	return b.Flush()
}

// String is a short description: "host ext4" or "luks2 aes-256-xts FAT32".
func (e Endpoint) String() string {
	parts := []string{}
	for _, p := range []string{e.Format, e.Cipher, e.FileSystem} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Kind == "host" {
		parts = append([]string{"host"}, parts...)
	}
	if len(parts) == 0 {
		return e.Kind
	}
	return strings.Join(parts, " ")
}

func markdownDetails(b *bufio.Writer, r *Record, names bool) {
	fmt.Fprintf(b, "\n## %s %s\n\n", r.ID, cell(r.Label))
	fmt.Fprintf(b, "- %s to %s UTC, %s, path %s, cache %s, %s\n", r.Start.UTC().Format(time.DateTime), r.End.UTC().Format(time.DateTime), r.Outcome, cell(r.Path), cell(r.Cache), cell(r.Program))
	for _, side := range []struct {
		name string
		e    Endpoint
	}{{"source", r.Source}, {"destination", r.Destination}} {
		fmt.Fprintf(b, "- %s: %s; device %s, write cache %s, engine %s, sector %d B, cluster %d B\n", side.name, cell(side.e.String()),
			orDash(side.e.Device), orDash(side.e.WriteCache), orDash(side.e.Engine), side.e.SectorBytes, side.e.ClusterBytes)
	}
	fmt.Fprintf(b, "- %d files, %d folders, %d bytes; resumed %d, verified %d, moved %d; skipped %s; failed %s\n", r.Files, r.Directories, r.Bytes,
		r.Resumed, r.Verified, r.Moved, orDash(counts(r.Skipped)), orDash(counts(r.Failed)))
	if r.FailedBytes > 0 {
		fmt.Fprintf(b, "- %d more bytes were written for copies that were given up; the rates count them\n", r.FailedBytes)
	}
	fmt.Fprintf(b, "- seconds: total %.3f, scan %.3f, copy %.3f, sync %.3f, verify %.3f\n", r.Seconds.Total, r.Seconds.Scan, r.Seconds.Copy, r.Seconds.Sync, r.Seconds.Verify)
	fmt.Fprintf(b, "- rates MB/s: copy average %s, p5 %s, p50 %s, p95 %s; %s files/s\n", megabytes(r.Rates.CopyAverage), megabytes(r.Rates.P5),
		megabytes(r.Rates.P50), megabytes(r.Rates.P95), significant(r.Rates.FilesPerSecond))
	fmt.Fprintf(b, "- CPU: user %.2f s, system %.2f s, %.0f %% of one core; %s, %d cores, governor %s to %s, %.0f to %.0f MHz\n", r.CPU.Total.UserSeconds,
		r.CPU.Total.SystemSeconds, r.CPU.Total.Percent, orDash(r.Machine.CPUModel), r.Machine.Cores, orDash(r.Machine.GovernorStart), orDash(r.Machine.GovernorEnd),
		r.Machine.ClockMHzStart, r.Machine.ClockMHzEnd)
	fmt.Fprintf(b, "- system: %s, kernel %s, %s\n", orDash(r.Machine.OSName), orDash(r.Machine.Kernel), r.Machine.Arch)
	if len(r.Rates.Series) > 0 {
		parts := make([]string, len(r.Rates.Series))
		for i, v := range r.Rates.Series {
			parts[i] = megabytes(v)
		}
		fmt.Fprintf(b, "- series MB/s, window %s s: %s\n", number(r.Rates.WindowSeconds), strings.Join(parts, " "))
	}
	if !names || len(r.Problems) == 0 {
		return
	}
	fmt.Fprint(b, "\n| name | reason | why |\n|---|---|---|\n")
	for _, p := range r.Problems {
		fmt.Fprintf(b, "| %s | %s | %s |\n", cell(p.Name), cell(p.Reason), cell(p.Detail))
	}
	if r.ProblemsDropped > 0 {
		fmt.Fprintf(b, "\nand %d more\n", r.ProblemsDropped)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return cell(s)
}
