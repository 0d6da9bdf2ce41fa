package protocol

import "encoding/json"

// OperationsPrefix is where the operations on the files of an unlocked container are on the control socket of its agent; see
// package operations. Those a front end asks for: ls, mkdir, rm, mv, info, sync, check, salvage.
const OperationsPrefix = "/v1/op/"

// Kinds of lines beside the events.
const (
	LineJob   = "job"   // first: the number by which the request can be cancelled
	LineEntry = "entry" // one entry of a listing
	LineEnd   = "end"   // last: result, problem or both
)

// Line is one line of an answer.
type Line struct {
	Event
	Job     uint64          `json:"job,omitempty"`
	Entry   *Entry          `json:"entry,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Problem *Problem        `json:"problem,omitempty"`
}

// PlaceInside is a path inside a container, as operations take it.
type PlaceInside struct {
	Image  string // the container as the person named it: for messages only
	Path   string
	Folder bool // the path must be a folder
}

// Operation is what an operation takes; each looks at what concerns it.
type Operation struct {
	Image     string        `json:"image"` // the container as the person named it: for messages only
	Path      string        `json:"path,omitempty"`
	Recursive bool          `json:"recursive,omitempty"`
	Parents   bool          `json:"parents,omitempty"`
	Force     bool          `json:"force,omitempty"`
	Sources   []PlaceInside `json:"sources,omitempty"`
	To        PlaceInside   `json:"to,omitzero"`
	Folder    string        `json:"folder,omitempty"` // salvage: absolute path on the host
	Typed     string        `json:"typed,omitempty"`  // folder as the person wrote it
	Repair    bool          `json:"repair,omitempty"`
}
