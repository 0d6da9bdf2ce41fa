package protocol

import "time"

// Entry is one file or folder inside, as `ls` shows it.
type Entry struct {
	Path      string    `json:"path"`
	Folder    bool      `json:"folder"`
	SizeBytes int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	ReadOnly  bool      `json:"readOnly,omitempty"`
	Hidden    bool      `json:"hidden,omitempty"`
	System    bool      `json:"system,omitempty"`
}
