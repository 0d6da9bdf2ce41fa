package lab

import (
	"context"
	"io"

	"coffer/app/window/text"
	"coffer/app/window/transfers/export"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// export asks for a format and saves a report as a file.
func (s *Screen) export(e *report.Experiment) {
	export.Show(s.deps, export.Request{Title: text.T("Export the report"), Name: "coffer-" + e.Kind + "-" + e.Started.Local().Format("2006-01-02-1504"),
		Write: func(w io.Writer, format string) error {
			return report.ExportExperiment(w, e, report.ExportOptions{Format: format})
		}})
}

// confirmDelete removes an experiment from the history after a question.
func (s *Screen) confirmDelete(id, name string) {
	ui.Confirm(s.deps.Shell.Window(), text.T("Delete this report?"), text.T("The report %s is removed from this computer. Files you have exported stay.", name), text.T("Delete"), true, func() {
		s.deps.Work(func(context.Context) error { return report.NewStore(recordsFolder(s.deps)).DeleteExperiment(id) }, func(err error) {
			ui.ShowError(s.deps.Shell.Window(), err)
			if err == nil {
				s.showForm()
			}
			s.reload("")
		})
	})
}
