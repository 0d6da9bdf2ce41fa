package protocol

import (
	"time"

	"coffer/transfer/report"
)

// JobsPrefix is where the copy jobs of an agent are on its control socket. Every request is a POST with a JSON document:
//
//	start   CopyJob      -> Job         puts it at the end of the queue
//	list    {}           -> []Job       oldest first, without Windows, with the first few Problems
//	show    JobShow      -> Job         with the Windows asked for
//	answer  JobAnswer    -> Job         goes on with a job that is asking
//	pause, resume, cancel   JobID -> Job
//	forget  JobID        -> {}          takes a job that has ended off the list
//
// Jobs belong to the agent: they go on when the one who started them goes away. One runs at a time, also while it is paused;
// one that asks lets others go first until it is answered. Names in them come from inside the container; they are kept in
// memory only and go with the agent. Of jobs that have ended the last hundred are kept.
//
// A request that cannot be done in the state of the job is refused. One to pause or to cancel returns when it has happened,
// or after two seconds all the same.
const JobsPrefix = "/v1/jobs/"

// CopyJob is a copy to be run by an agent. Paths are absolute: of the host, or inside a container with "/" between names.
type CopyJob struct {
	Sources      []string `json:"sources"`
	FromInside   bool     `json:"fromInside,omitempty"` // Sources are inside this container, or that of Peer
	Peer         string   `json:"peer,omitempty"`       // ID of another unlocked container that has the sources
	Destination  string   `json:"destination"`          // a folder that is there, or the new name of a single source
	ToInside     bool     `json:"toInside,omitempty"`   // Destination is inside this container
	Verify       bool     `json:"verify,omitempty"`     // re-read past the caches and compare
	Move         bool     `json:"move,omitempty"`       // remove sources once their copies are durable
	Resume       bool     `json:"resume,omitempty"`     // go on where an interrupted copy stopped
	Split        bool     `json:"split,omitempty"`      // cut files that FAT cannot hold; join parts on the way out
	Existing     string   `json:"existing,omitempty"`   // one of the Existing constants; "": ExistingAsk
	Label        string   `json:"label,omitempty"`      // the person's own text, for the record
	WindowMillis int64    `json:"windowMillis,omitempty"`
	Records      string   `json:"records,omitempty"` // folder of the records; "": none is kept
	Program      string   `json:"program,omitempty"` // name and version, for the record; "": that of the agent, which does the copying
}

// What to do with files that exist at the target.
const (
	ExistingAsk     = "ask"     // if there are any, the job stops at JobAsking before anything is written
	ExistingReplace = "replace" // replace them
	ExistingNewer   = "newer"   // replace those that are older than their source
	ExistingSkip    = "skip"    // leave them alone
)

// JobState is how far a job is.
type JobState string

// States of a job. Those from JobDone on are final.
const (
	JobWaiting   JobState = "waiting"  // in the queue
	JobPlanning  JobState = "planning" // looks at sources and target
	JobAsking    JobState = "asking"   // waits for answers to Questions
	JobRunning   JobState = "running"
	JobPaused    JobState = "paused"
	JobDone      JobState = "done"      // everything arrived
	JobPartly    JobState = "partly"    // some files failed or were left out; see Problems
	JobFailed    JobState = "failed"    // see Problem
	JobCancelled JobState = "cancelled" // what was durable stays
)

// Ended says whether the state is final.
func (s JobState) Ended() bool {
	return s == JobDone || s == JobPartly || s == JobFailed || s == JobCancelled
}

// Kinds of questions.
const (
	QuestionExists = "exists"  // files exist at the target; answers: the Existing constants but ask
	QuestionTooBig = "too-big" // files FAT cannot hold; answers: "split", "skip"
)

// Question is what a job asks before it begins; one answer holds for all its files.
type Question struct {
	Kind     string   `json:"kind"`
	Files    int64    `json:"files"`
	Examples []string `json:"examples,omitempty"` // a few of the names
	Answers  []string `json:"answers"`            // what can be answered
}

// Job is a copy job as it is now.
type Job struct {
	ID      uint64    `json:"id"` // within its agent
	State   JobState  `json:"state"`
	Copy    CopyJob   `json:"copy"`
	Queued  time.Time `json:"queued"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	Stage      string `json:"stage,omitempty"` // "scan" (totals are what was found so far), "copy", "sync", "verify", "move"
	Files      int64  `json:"files"`
	Bytes      int64  `json:"bytes"`
	TotalFiles int64  `json:"totalFiles"`
	TotalBytes int64  `json:"totalBytes"`

	// Rates in bytes per second. Maximum and Minimum are of whole windows; 0 before there is one.
	Current          float64 `json:"current"`
	Average          float64 `json:"average"`
	Maximum          float64 `json:"maximum"`
	Minimum          float64 `json:"minimum"`
	RemainingSeconds float64 `json:"remainingSeconds,omitempty"` // estimated; 0: not known
	// Windows are the rates of whole windows from the number asked for on, in bytes per second. When WindowSeconds has changed
	// (a short run has ended, a very long one goes on) they are to be asked for from 0 on again.
	Windows       []float64 `json:"windows,omitempty"`
	WindowSeconds float64   `json:"windowSeconds,omitempty"`

	Questions []Question       `json:"questions,omitempty"`
	Notes     []string         `json:"notes,omitempty"`
	Problems  []report.Problem `json:"problems,omitempty"` // files that failed or were left out
	Dropped   int64            `json:"dropped,omitempty"`  // problems beyond those listed
	Problem   *Problem         `json:"problem,omitempty"`  // why it failed
	Record    *report.Record   `json:"record,omitempty"`   // once it has ended
}

// JobID names a job.
type JobID struct {
	ID uint64 `json:"id"`
}

// JobShow asks for a job with its windows from number From on.
type JobShow struct {
	ID   uint64 `json:"id"`
	From int    `json:"from,omitempty"`
}

// JobAnswer answers the questions of a job by kind. A question that is not answered cancels the job.
type JobAnswer struct {
	ID      uint64            `json:"id"`
	Answers map[string]string `json:"answers"`
}
