package session

import "coffer/app/protocol"

// What is said to the one who asked; see package protocol.
type (
	Event    = protocol.Event
	Problem  = protocol.Problem
	ExitCode = protocol.ExitCode
	Entry    = protocol.Entry
)

// Kinds of events of long work.
const (
	EventProgress = protocol.EventProgress
	EventStage    = protocol.EventStage
	EventDurable  = protocol.EventDurable
	EventFailed   = protocol.EventFailed
	EventNote     = protocol.EventNote
	EventWarning  = protocol.EventWarning
)

// Units of Done and Total.
const (
	UnitBytes        = protocol.UnitBytes
	UnitClusters     = protocol.UnitClusters
	UnitFiles        = protocol.UnitFiles
	UnitMeasurements = protocol.UnitMeasurements
)

// The exit codes.
const (
	Done         = protocol.Done
	Failed       = protocol.Failed
	Usage        = protocol.Usage
	WrongKey     = protocol.WrongKey
	Damaged      = protocol.Damaged
	InUse        = protocol.InUse
	NoSpace      = protocol.NoSpace
	Unsupported  = protocol.Unsupported
	Integrity    = protocol.Integrity
	Partly       = protocol.Partly
	NoMount      = protocol.NoMount
	NoCredential = protocol.NoCredential
	Interrupted  = protocol.Interrupted
)

// Reporter receives events; it may be called from several goroutines and must not block for long. nil: nobody listens.
type Reporter func(Event)

// send calls the reporter if there is one.
func (r Reporter) send(e Event) {
	if r != nil {
		r(e)
	}
}
