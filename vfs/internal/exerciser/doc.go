// Package exerciser tests a mounted file system by random operations against a model in memory.
//
// File works on one file: reads, writes, appends, truncations up and down, shared memory maps, several handles at
// once, dropped caches, renames. Tree works on folders and files: creation, replacement, removal of open files,
// listings, the case rules of FAT. Both compare everything they see with what the model says at once, so a failure
// names the operation that showed it, and both are exactly repeatable by their seed.
//
// They use the operating system through the interface System, so tests put faults below them to prove that they notice.
package exerciser
