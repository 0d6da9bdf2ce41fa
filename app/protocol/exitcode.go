package protocol

// ExitCode is the result of a command: a stable interface, never reused for something else.
type ExitCode int

// The exit codes.
const (
	Done         ExitCode = 0   // done
	Failed       ExitCode = 1   // failed, none of the reasons below
	Usage        ExitCode = 2   // the command was written wrong
	WrongKey     ExitCode = 3   // wrong password or key
	Damaged      ExitCode = 4   // damaged header or file system
	InUse        ExitCode = 5   // in use by another program
	NoSpace      ExitCode = 6   // no space, inside or on the host
	Unsupported  ExitCode = 7   // format or feature not supported
	Integrity    ExitCode = 8   // tag mismatch, rollback, fork, old header
	Partly       ExitCode = 9   // partly done: some files failed and are listed
	NoMount      ExitCode = 10  // no FUSE or WinFsp on this system
	NoCredential ExitCode = 11  // locked and no credential given
	Interrupted  ExitCode = 130 // SIGINT or SIGTERM
)
