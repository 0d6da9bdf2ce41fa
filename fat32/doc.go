// Package fat32 is a FAT file system (FAT12, FAT16 and FAT32, with long names)
// over any random-access device. It needs the standard library only and knows
// nothing of containers or encryption.
//
// # Locks
//
// Taken in this order, each at most once by a goroutine:
//
//  1. node.write: one extending write, truncation or reservation per file
//  2. node.io: shared by every transfer of file data, exclusive for shrinking, so that
//     clusters never change hands under a running transfer
//  3. Volume.gate: shared by every operation that changes anything, exclusive for the
//     moment in which a flush takes its snapshot (memory only)
//  4. Volume.ns: the name space: nodes, directories, entry slots
//  5. node.mu: size, extents and times of one file
//  6. dirtySet.mu, allocator.mu, fatCache.mu: short, no I/O
//
// Device I/O happens under node.write, node.io and the shared gate only. Readers take
// node.io shared, Volume.ns shared and node.mu, so no reader waits for a disk on
// behalf of somebody else. (On a transactional device the exclusive gate covers WriteMeta,
// which the device contract calls memory speed.)
//
// # How changes reach the disk
//
// Operations change memory only, but for file data, which WriteAt writes at once into
// clusters nobody else can see. A flush (Sync, every few seconds, too much dirty, Close)
// takes a snapshot of everything dirty, the plan, and carries it out: on a transactional
// device as one transaction, elsewhere in stages with a barrier behind each, so
// that a power cut leaves nothing worse than lost clusters, a chain longer than its file, orphaned
// long-name slots, two names of one file. Plans are carried out one after the other and
// completely; what an operation after the snapshot does belongs to the next plan.
// So within one plan nothing may depend on a later stage of the same plan:
// an operation that would (a name given away and taken again, a shortened chain extended)
// answers errFlushFirst before it changes anything, and is tried again after a flush.
//
// Removed entry sets that are on the disk stay in the directory as ghosts until the
// snapshot. Freed clusters are parked until the flush that frees them has returned, because data
// is written at once and must never land in a cluster some file on the disk still owns.
package fat32
