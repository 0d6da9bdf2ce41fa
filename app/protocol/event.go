package protocol

// Kinds of events of long work.
const (
	EventProgress = "progress" // how far a stage is
	EventStage    = "stage"    // a stage begins
	EventDurable  = "durable"  // everything up to Through is safely down
	EventFailed   = "file-failed"
	EventNote     = "note"    // something a person should know, in Detail
	EventWarning  = "warning" // something that should have happened beside the work did not, in Detail
)

// Units of Done and Total.
const (
	UnitBytes    = "bytes"
	UnitClusters = "clusters"
	UnitFiles    = "files"
	// UnitMeasurements is that of experiments which take time rather than bytes.
	UnitMeasurements = "measurements"
)

// Event is one sign of life of long work. As JSON it is one line on stderr; its field names are stable.
type Event struct {
	Kind    string `json:"event"`
	Stage   string `json:"stage,omitempty"` // "scan", "copy", "sync", "verify", "check", ...
	Done    int64  `json:"done,omitempty"`  // in Unit
	Total   int64  `json:"total,omitempty"` // in Unit; 0 when not known
	Unit    string `json:"unit,omitempty"`
	Files   int64  `json:"files,omitempty"`   // durable: files safely down so far
	Bytes   int64  `json:"bytes,omitempty"`   // durable: bytes safely down so far
	Through string `json:"through,omitempty"` // durable: the last file of the batch
	Name    string `json:"name,omitempty"`    // file-failed
	Reason  string `json:"reason,omitempty"`  // file-failed: reason code
	Detail  string `json:"detail,omitempty"`  // file-failed, note, warning: for people
}
