package protocol

import "coffer/app/agent/registry"

// Status is how an unlocked container is. As JSON its field names are stable.
type Status struct {
	registry.Entry
	IdleSeconds  float64 `json:"idleSeconds"`            // since the last use; 0 while something runs
	LocksIn      float64 `json:"locksInSeconds"`         // until it locks by itself, should nobody use it; 0: never, or as soon as Warning allows
	FileSystem   Traffic `json:"fileSystem"`             // bytes of files, or of the raw device
	Backing      Traffic `json:"imageFile"`              // bytes of the image file
	Busy         Busy    `json:"busy"`                   // what its work has taken
	Jobs         int     `json:"jobs"`                   // operations under way
	OpenFiles    int     `json:"openFiles"`              // through the drive
	TotalBytes   int64   `json:"totalBytes,omitempty"`   // of the file system inside
	FreeBytes    int64   `json:"freeBytes"`              // of the file system inside
	Problem      string  `json:"problem,omitempty"`      // why nothing can be written any more
	Warning      string  `json:"warning,omitempty"`      // what a person should know
	Label        string  `json:"label,omitempty"`        // of the file system inside
	Unresponsive bool    `json:"unresponsive,omitempty"` // the agent did not answer in time; all but Entry is unknown
}

// Busy is how long a container has been at work since it was unlocked, in seconds, summed over all that goes on in it at once.
type Busy struct {
	Crypto float64 `json:"cryptoSeconds"`
	Read   float64 `json:"readSeconds"`  // of the image file
	Write  float64 `json:"writeSeconds"` // of the image file
	Sync   float64 `json:"syncSeconds"`
}

// Traffic is what has passed some place since the container was unlocked, and how fast it passes now.
type Traffic struct {
	BytesRead    int64   `json:"bytesRead"`
	BytesWritten int64   `json:"bytesWritten"`
	ReadRate     float64 `json:"readRate"`  // bytes per second, over the last seconds
	WriteRate    float64 `json:"writeRate"` // bytes per second
}

// User is a program that uses a drive.
type User struct {
	PID     int    `json:"pid"`     // 0 when not known
	Program string `json:"program"` // "" when not known
	Path    string `json:"path"`    // what it uses
	Write   bool   `json:"write"`   // it may write there
	WorksIn bool   `json:"worksIn"` // the path is a folder that is its working directory
}

// LockRequest asks to lock.
type LockRequest struct {
	Force bool `json:"force"`
}

// EndsHeader of a refusal says that the agent ends all the same.
const EndsHeader = "Coffer-Ends"

// Failure is the body of an answer that is not 200.
type Failure struct {
	Error Problem `json:"error"`
}
