package agent

// keepFilesBack has nothing to do: handles are inherited only when they are named.
func keepFilesBack() {}
