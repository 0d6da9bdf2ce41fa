package protocol

// Problem is an error as a person is told it.
type Problem struct {
	Sentence string   `json:"message"`        // "open photos.img: wrong password or key"
	Hint     string   `json:"hint,omitempty"` // what to do
	Code     ExitCode `json:"exitCode"`
}
