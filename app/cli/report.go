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
		Use: "list", Short: "List records and experiments, oldest first", Example: "  coffer report list",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.reportList() },
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Show one record or experiment (the start of its ID is enough)", Example: "  coffer report show 20261130T",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.reportShow(args[0]) },
	}
	return a.group("report", groupFiles, "Records of copies and experiments: list, show, compare, export", "  coffer report list\n  coffer report show 20261130T",
		list, show, a.reportCompareCommand(), a.reportExportCommand())
}

func (a *program) reportCompareCommand() *cobra.Command {
	to := ""
	compare := &cobra.Command{
		Use: "compare ID ID... [--to FILE]", Short: "Set records side by side, the first as the baseline",
		Long: "Set records side by side: ratio to the first, and whether the difference is larger than the spread.\n" +
			"Records of one label and one set-up count as rounds of one thing.",
		Example: "  coffer report compare 20261130T1320 20261130T1325\n  coffer report compare 20261130T1320 20261130T1325 --to compared.html",
		Args:    cobra.MinimumNArgs(2),
		RunE:    func(_ *cobra.Command, args []string) error { return a.reportCompare(args, to) },
	}
	compare.Flags().StringVar(&to, "to", "", "also write it to this file; its extension says how: "+session.ReportExtensions())
	return compare
}

func (a *program) reportExportCommand() *cobra.Command {
	to := ""
	export := &cobra.Command{
		Use: "export ID... --to FILE", Short: "Write records, or an experiment, to a file: table, page or picture",
		Example: "  coffer report export 20261130T132015123Z-1a2b3c --to rates.html\n  coffer report export 20261130T1320 20261130T1325 --to rates.csv",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.reportExport(args, to) },
	}
	export.Flags().StringVar(&to, "to", "", "file to write; its extension says how: "+session.ReportExtensions())
	return export
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
	experiments, damagedExperiments, err := session.ListExperiments(folder)
	if err != nil {
		return err
	}
	for _, id := range append(damaged, damagedExperiments...) {
		a.note("record " + id + " is damaged and left out")
	}
	for _, record := range records {
		line := strings.TrimPrefix(session.RecordLine(record), "["+record.ID+"] ") // which stands there when there is no label
		a.out.say("%s  %-9s  %s", record.ID, record.Outcome, escape(line))
	}
	for _, experiment := range experiments {
		a.out.say("%s  %-9s  %s", experiment.ID, "lab "+experiment.Kind, escape(experiment.Title))
	}
	if len(records)+len(experiments) == 0 {
		a.out.chat("no records yet; `coffer copy` leaves one")
	}
	if records == nil {
		records = []*session.Record{}
	}
	if experiments == nil {
		experiments = []*session.Experiment{}
	}
	return a.out.document(map[string]any{"records": records, "experiments": experiments, "damaged": append(append([]string{}, damaged...), damagedExperiments...)})
}

func (a *program) reportShow(id string) error {
	folder, err := a.haveRecords()
	if err != nil {
		return err
	}
	record, experiment, err := session.LoadReport(folder, id)
	if err != nil {
		return err
	}
	if experiment != nil {
		return a.experimentShow(experiment)
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
	for _, phase := range record.Phases {
		a.field(escape(phase.Name), "%.2f s", phase.Seconds)
	}
	a.field("percentiles", "p5=%.1f p50=%.1f p95=%.1f MB/s", record.Rates.P5/1e6, record.Rates.P50/1e6, record.Rates.P95/1e6)
	a.field("cache", "%s", record.Cache)
	a.field("machine", "%s, %d cores, %s", record.Machine.CPUModel, record.Machine.Cores, record.Machine.OSName)
	a.field("program", "%s", record.Program)
	return a.out.document(record)
}

func (a *program) experimentShow(experiment *session.Experiment) error {
	var text strings.Builder
	if err := session.PrintExperiment(&text, experiment); err != nil {
		return err
	}
	a.out.say("%s", strings.TrimRight(text.String(), "\n"))
	return a.out.document(experiment)
}

func (a *program) reportCompare(ids []string, to string) error {
	if to != "" {
		if err := session.CheckReportFile(to); err != nil {
			return err
		}
	}
	folder, err := a.haveRecords()
	if err != nil {
		return err
	}
	comparison, err := session.CompareRecords(folder, ids)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := session.PrintComparison(&text, comparison); err != nil {
		return err
	}
	a.out.say("%s", strings.TrimRight(text.String(), "\n"))
	if to != "" {
		if err := session.ExportComparison(to, comparison); err != nil {
			return err
		}
		a.out.chat("wrote %s", escape(to))
	}
	return a.out.document(comparison)
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
	if err := session.ExportReports(folder, ids, to); err != nil {
		return err
	}
	a.out.chat("wrote %s", escape(to))
	return a.out.document(map[string]any{"file": to, "records": len(ids)})
}
