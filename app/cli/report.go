package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/app/session"
)

// recordsFolder is where this person's transfer records are; "" when there is no such place.
func (a *program) recordsFolder() string {
	if a.settings.Records != "" {
		return a.settings.Records
	}
	return a.paths.RecordsFolder()
}

// haveRecords is recordsFolder for commands that need it.
func (a *program) haveRecords() (string, error) {
	folder := a.recordsFolder()
	if folder == "" {
		return "", &session.Error{What: "records", Err: errors.New("none are kept: neither HOME nor XDG_DATA_HOME is set")}
	}
	return folder, nil
}

func (a *program) reportCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the records, oldest first", Example: "  coffer report list",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.reportList() },
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Show one record (the start of its ID is enough)", Example: "  coffer report show 20261130T",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.reportShow(args[0]) },
	}
	to := ""
	export := &cobra.Command{
		Use: "export ID... --to FILE", Short: "Write records to a .csv, .json or .md file",
		Example: "  coffer report export 20261130T132015123Z-1a2b3c --to rates.csv",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.reportExport(args, to) },
	}
	export.Flags().StringVar(&to, "to", "", "file to write; its extension says how: .csv .json .md")
	return a.group("report", groupFiles, "Records of copies: list, show, export", "  coffer report list\n  coffer report show 20261130T",
		list, show, export, a.laterCommand("compare"))
}

func (a *program) reportList() error {
	folder, err := a.haveRecords()
	if err != nil {
		return err
	}
	records, damaged, err := session.ListRecords(folder)
	if err != nil {
		return err
	}
	for _, id := range damaged {
		a.note("record " + id + " is damaged and left out")
	}
	for _, record := range records {
		line := strings.TrimPrefix(session.RecordLine(record), "["+record.ID+"] ") // which stands there when there is no label
		a.out.say("%s  %-9s  %s", record.ID, record.Outcome, escape(line))
	}
	if len(records) == 0 {
		a.out.chat("no records yet; `coffer copy` leaves one")
	}
	if records == nil {
		records = []*session.Record{}
	}
	return a.out.document(map[string]any{"records": records, "damaged": append([]string{}, damaged...)})
}

func (a *program) reportShow(id string) error {
	folder, err := a.haveRecords()
	if err != nil {
		return err
	}
	record, err := session.LoadRecord(folder, id)
	if err != nil {
		return err
	}
	a.out.say("%s", session.RecordLine(record))
	a.field("id", "%s", record.ID)
	a.field("started", "%s, %s", record.Start.Local().Format(time.DateTime), record.Outcome)
	a.field("from", "%s", session.DescribeEndpoint(record.Source))
	a.field("to", "%s", session.DescribeEndpoint(record.Destination))
	a.field("copied", "%s (%d bytes)", copied(record), record.Bytes)
	a.field("skipped", "%s", counts(record.Skipped))
	a.field("failed", "%s", counts(record.Failed))
	a.field("seconds", "total %.2f: scan %.2f, copy %.2f, sync %.2f, verify %.2f", record.Seconds.Total, record.Seconds.Scan,
		record.Seconds.Copy, record.Seconds.Sync, record.Seconds.Verify)
	a.field("processor", "%.0f %% of one core (%.2f s user, %.2f s system)", record.CPU.Total.Percent, record.CPU.Total.UserSeconds,
		record.CPU.Total.SystemSeconds)
	a.field("percentiles", "p5=%.1f p50=%.1f p95=%.1f MB/s", record.Rates.P5/1e6, record.Rates.P50/1e6, record.Rates.P95/1e6)
	a.field("cache", "%s", record.Cache)
	a.field("machine", "%s, %d cores, %s", record.Machine.CPUModel, record.Machine.Cores, record.Machine.OSName)
	a.field("program", "%s", record.Program)
	return a.out.document(record)
}

// counts writes "3 unreadable, 1 too-big", sorted; "" when empty.
func counts(byReason map[string]int64) string {
	text := ""
	for _, reason := range sortedKeys(byReason) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", byReason[reason], reason)
	}
	return text
}

func (a *program) reportExport(ids []string, to string) error {
	if to == "" {
		return usagef("report export: say where to: --to FILE.csv")
	}
	if err := session.CheckReportFile(to); err != nil {
		return err
	}
	folder, err := a.haveRecords()
	if err != nil {
		return err
	}
	if err := session.ExportRecords(folder, ids, to); err != nil {
		return err
	}
	a.out.chat("wrote %s", escape(to))
	return a.out.document(map[string]any{"file": to, "records": len(ids)})
}
