// Package report holds what a transfer leaves behind: the Record, a Store of
// records in a per-user folder, exports (csv, json, md) and the one-line form.
//
// A record never holds a name from inside a container: not a file, not a
// folder. The problems of a run carry such names, are shown on the screen, and
// reach a file only when an export asks for names.
package report

import (
	"time"

	"coffer/transfer/rate"
)

// SchemaVersion is the version of the JSON form described by record.schema.json.
const SchemaVersion = 1

// Outcome says how a transfer ended.
type Outcome string

// Outcomes.
const (
	Done      Outcome = "done"      // everything selected was copied
	Partial   Outcome = "partial"   // some files failed or were left out; the rest is durable
	Failed    Outcome = "failed"    // stopped by an error
	Cancelled Outcome = "cancelled" // stopped by the user
)

// Record is one transfer. Its JSON tags are stable; fields are only added.
type Record struct {
	Schema  int       `json:"schema"`
	ID      string    `json:"id"`    // sortable by start
	Label   string    `json:"label"` // the user's own text
	Start   time.Time `json:"start"` // UTC
	End     time.Time `json:"end"`   // UTC
	Outcome Outcome   `json:"outcome"`

	Source      Endpoint `json:"source"`
	Destination Endpoint `json:"destination"`
	Path        string   `json:"path"` // "direct" or "mount"

	Files       int64            `json:"files"`       // copied whole
	Directories int64            `json:"directories"` // made or found
	Bytes       int64            `json:"bytes"`       // payload that arrived, each byte once; parts kept for a resume included
	FailedBytes int64            `json:"failedBytes"` // accepted too, but of copies that were given up; Rates count both
	Resumed     int64            `json:"resumed"`     // files an interrupted run had already made durable
	Verified    int64            `json:"verified"`    // files re-read and found equal
	Moved       int64            `json:"moved"`       // sources deleted after their copy was durable
	Skipped     map[string]int64 `json:"skipped"`     // count by reason code
	Failed      map[string]int64 `json:"failed"`      // count by reason code

	Seconds Seconds `json:"seconds"`
	// PausedSeconds is how long the transfer stood still because somebody stopped it: it is in none of Seconds, Rates and
	// Phases, but between Start and End.
	PausedSeconds float64 `json:"pausedSeconds,omitempty"`

	CPU     CPU     `json:"cpu"`
	Machine Machine `json:"machine"`
	Program string  `json:"program"` // name and version
	Cache   string  `json:"cache"`   // state of the source's cache at the start: "dropped", "warm" or "unknown"
	Options Options `json:"options"`

	Rates rate.Summary `json:"rates"`

	// Phases tell where the time of copy and sync went, in the order in which they are drawn; empty when it was not
	// measured, as in records of before. They add up to Seconds.Copy + Seconds.Sync; see SharePhases.
	Phases []Phase `json:"phases,omitempty"`

	// Problems names what failed or was left out. Never stored.
	Problems []Problem `json:"-"`
	// ProblemsDropped counts problems beyond those kept in Problems.
	ProblemsDropped int64 `json:"-"`
}

// Endpoint is one side of a transfer, without any name of a file.
type Endpoint struct {
	Kind         string `json:"kind"`         // "host" or "container"
	FileSystem   string `json:"fileSystem"`   // "ext4", "FAT32", ...; "" when unknown
	Device       string `json:"device"`       // host device holding the files or the image; "" when unknown
	WriteCache   string `json:"writeCache"`   // of that device: "write back", "write through"; "" when the system does not tell
	Format       string `json:"format"`       // container format: "luks2", "raw", ...
	Cipher       string `json:"cipher"`       // "aes-256-xts", ...
	Engine       string `json:"engine"`       // "vaes", "aesni", ...
	SectorBytes  int64  `json:"sectorBytes"`  // sector or block size of the container, 0 on the host
	ClusterBytes int64  `json:"clusterBytes"` // allocation unit of the file system, 0 when unknown
}

// Seconds are wall-clock durations by the monotonic clock.
type Seconds struct {
	Total  float64 `json:"total"`
	Scan   float64 `json:"scan"`
	Copy   float64 `json:"copy"`
	Sync   float64 `json:"sync"` // the final one; syncs during the copy are part of Copy
	Verify float64 `json:"verify"`
}

// Usage is processor time of this process over a stretch.
type Usage struct {
	UserSeconds   float64 `json:"userSeconds"`
	SystemSeconds float64 `json:"systemSeconds"`
	Percent       float64 `json:"percent"` // of one core
}

// CPU is processor time of this process, in total and by stage.
type CPU struct {
	Total  Usage `json:"total"`
	Scan   Usage `json:"scan"`
	Copy   Usage `json:"copy"`
	Sync   Usage `json:"sync"`
	Verify Usage `json:"verify"`
}

// Machine is what the run ran on. Empty or 0 where the system does not tell.
type Machine struct {
	CPUModel      string  `json:"cpuModel"`
	Cores         int     `json:"cores"`
	OS            string  `json:"os"`     // "linux", "windows", ...
	OSName        string  `json:"osName"` // "Debian GNU/Linux 13", ...
	Kernel        string  `json:"kernel"`
	Arch          string  `json:"arch"`
	GovernorStart string  `json:"governorStart"`
	GovernorEnd   string  `json:"governorEnd"`
	ClockMHzStart float64 `json:"clockMHzStart"`
	ClockMHzEnd   float64 `json:"clockMHzEnd"`
}

// Options are the choices that change what was measured.
type Options struct {
	Verify  bool `json:"verify"`
	Resume  bool `json:"resume"`
	Move    bool `json:"move"`
	Split   bool `json:"split"`
	Workers int  `json:"workers"`
}

// Problem is one thing that failed or was left out.
type Problem struct {
	Name   string `json:"name"`   // as it stood in the source (or target), may come from inside a container
	Reason string `json:"reason"` // reason code, as counted in Record.Failed or Record.Skipped
	Detail string `json:"detail"` // why, for people
	Failed bool   `json:"failed"` // false: left out
}

// Incomplete tells whether something selected did not arrive: files failed, or
// were skipped for a reason other than the overwrite policy the user chose or
// that an earlier run had copied them.
func (r *Record) Incomplete() bool {
	if len(r.Failed) > 0 {
		return true
	}
	for reason := range r.Skipped {
		if reason != ReasonPolicy && reason != ReasonThere {
			return true
		}
	}
	return false
}

// ReasonPolicy counts files the user's own overwrite policy left alone.
const ReasonPolicy = "exists-kept"

// ReasonThere counts files that a resumed copy found already there, finished by
// an earlier run. They are counted, not named.
const ReasonThere = "already-there"

// Sum adds up counts by reason.
func Sum(counts map[string]int64) int64 {
	var n int64
	for _, v := range counts {
		n += v
	}
	return n
}
