package fat32

// Device is the block device below a volume. Offsets and lengths are bytes and
// need no alignment. Concurrent calls on disjoint ranges are allowed even when
// they share a sector, data unit or block: the device serialises the
// read-modify-write. Buffers belong to the caller again when a call returns.
type Device interface {
	// ReadAt follows io.ReaderAt.
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt follows io.WriterAt. What it wrote is seen by later reads and is
	// durable only after Sync.
	WriteAt(p []byte, off int64) (int, error)
	// Sync returns nil only if all earlier writes are durable.
	Sync() error
	// Size is the length of the device in bytes; it does not change.
	Size() int64
}

// Discarder is implemented by devices that can use the knowledge that a range
// holds nothing any more. Reads of it may return anything afterwards.
type Discarder interface {
	Discard(off, n int64) error
}

// Transactional is implemented by devices on which everything between two
// Seals becomes durable together or not at all.
type Transactional interface {
	// Reserve admits an operation that dirties at most n bytes of blocks. It may
	// wait for a commit that runs, but must not call the volume: it is called
	// with the gate shared that Seal has exclusively. An error for which
	// errors.Is(err, ErrTooLarge) holds, or that has a method TooLarge() bool
	// returning true, asks to split the operation; any other asks to commit
	// and try again. release is called once, when the operation is over.
	Reserve(n int64) (release func(), err error)
	// WriteMeta is WriteAt for FATs, directories, FSInfo and boot sectors.
	WriteMeta(p []byte, off int64) (int, error)
	// Seal ends the open transaction. The caller guarantees that no operation
	// is running. wait returns when the sealed transaction is durable.
	Seal() (wait func() error)
}
