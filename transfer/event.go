package transfer

import (
	"time"

	"coffer/transfer/report"
)

// EventKind tells what an Event is about.
type EventKind string

// Kinds of events.
const (
	EventStage    EventKind = "stage"       // a new stage began
	EventProgress EventKind = "progress"    // at most ten a second
	EventDurable  EventKind = "durable"     // a batch is safely down
	EventFailed   EventKind = "file-failed" // one file failed; Problem says which and why
)

// Stages, in order.
const (
	StageScan   = "scan"
	StageCopy   = "copy"
	StageSync   = "sync"
	StageVerify = "verify"
	StageMove   = "move"
)

// Event is what OnEvent gets. Names in it may come from inside a container.
type Event struct {
	Kind  EventKind `json:"event"`
	Stage string    `json:"stage"`

	// Progress, in "progress" and "stage" events: what is done of what is planned.
	Files      int64 `json:"files"`
	Bytes      int64 `json:"bytes"`
	TotalFiles int64 `json:"totalFiles,omitempty"`
	TotalBytes int64 `json:"totalBytes,omitempty"`
	// Rate is bytes per second over the last second.
	Rate float64 `json:"rate,omitempty"`
	// Remaining is the estimated time to the end of the stage; 0: unknown.
	Remaining time.Duration `json:"remainingNanoseconds,omitempty"`

	// In "durable" events Files and Bytes count all copies that are durable so
	// far. Through is the last target path, in the order of the plan, up to which
	// everything is durable or has been reported as failed or left out.
	Through string `json:"through,omitempty"`
	// Safe are the target paths that became durable with this event: relative to
	// the destination, with slashes.
	Safe []string `json:"-"`

	// Problem, in "file-failed" events.
	Problem *report.Problem `json:"problem,omitempty"`
}
