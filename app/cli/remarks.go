package cli

import "coffer/app/session"

// remarks are the notes and warnings of a copy, kept until the progress bar is out of the way.
type remarks struct {
	notes, warnings []string
}

// besides returns a reporter that keeps remarks and passes every other event to next. Remarks come from the goroutine
// that runs the copy.
func (r *remarks) besides(next session.Reporter) session.Reporter {
	return func(e session.Event) {
		switch e.Kind {
		case session.EventNote:
			r.notes = append(r.notes, e.Detail)
		case session.EventWarning:
			r.warnings = append(r.warnings, e.Detail)
		default:
			next(e)
		}
	}
}

// showRemarks prints the remarks of a copy and returns them for its JSON document.
func (a *program) showRemarks(r *remarks) []string {
	if a.recordsFolder() == "" {
		r.notes = append(r.notes, "no record of this copy is kept: neither HOME nor XDG_DATA_HOME is set")
	}
	a.showNotes(r)
	return append(r.notes, r.warnings...)
}

// showNotes prints remarks.
func (a *program) showNotes(r *remarks) {
	for _, note := range r.notes {
		a.note(note)
	}
	for _, warning := range r.warnings {
		a.warn(warning)
	}
}
