package session

import (
	"fmt"
	"strings"

	"coffer/transfer/report"
)

// Record is what a copy leaves behind; see cli.md and package report.
type Record = report.Record

// RecordProblem is one file that failed or was left out, by name: for the screen, never stored.
type RecordProblem = report.Problem

// RecordLine is the one-line form of a record.
func RecordLine(r *Record) string { return r.Line() }

// RecordError says what exit code a finished copy deserves: nil when everything selected arrived, Partly when some files
// failed or were left out. nil for a nil record.
func RecordError(r *Record) error {
	if r == nil || !r.Incomplete() {
		return nil
	}
	failed, skipped := report.Sum(r.Failed), report.Sum(r.Skipped)-r.Skipped[report.ReasonPolicy]-r.Skipped[report.ReasonThere]
	return &Error{What: "copy", Err: fmt.Errorf("%d failed, %d left out; they are listed above", failed, skipped), Code: Partly}
}

// recordDocument is a record with the names of what failed: for the screen only, never stored.
type recordDocument struct {
	*Record
	Problems        []report.Problem `json:"problems"`
	ProblemsDropped int64            `json:"problemsDropped,omitempty"`
	Notes           []string         `json:"notes,omitempty"`
}

// RecordWithProblems is the JSON document of a copy just made: the record, what failed, by name, and notes and warnings.
func RecordWithProblems(r *Record, notes []string) any {
	return recordDocument{Record: r, Problems: append([]report.Problem{}, r.Problems...), ProblemsDropped: r.ProblemsDropped, Notes: notes}
}

// ThereAlready counts the files that a resumed copy found at the target, by its state or by size and time.
func ThereAlready(r *Record) int64 { return r.Resumed + r.Skipped[report.ReasonThere] }

// ListRecords returns the records in folder, oldest first, and the ids of damaged ones.
func ListRecords(folder string) (records []*Record, damaged []string, err error) {
	records, damaged, err = report.NewStore(folder).List()
	return records, damaged, wrap("list records", err)
}

// LoadRecord finds a record by its id or the unique start of it.
func LoadRecord(folder, id string) (*Record, error) {
	record, err := report.NewStore(folder).Load(id)
	if err != nil {
		return nil, &Error{What: "show a record", Err: err, Hint: "`coffer report list` shows them all"}
	}
	return record, nil
}

// DescribeEndpoint is one side of a copy in words.
func DescribeEndpoint(e report.Endpoint) string {
	parts := []string{e.Kind}
	for _, part := range []string{e.Format, e.Cipher, e.Engine, e.FileSystem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.SectorBytes > 0 {
		parts = append(parts, fmt.Sprintf("sectors of %d bytes", e.SectorBytes))
	}
	if e.ClusterBytes > 0 {
		parts = append(parts, fmt.Sprintf("clusters of %d bytes", e.ClusterBytes))
	}
	if e.Device != "" {
		parts = append(parts, "on "+e.Device)
	}
	if e.WriteCache != "" {
		parts = append(parts, e.WriteCache)
	}
	return strings.Join(parts, ", ")
}
