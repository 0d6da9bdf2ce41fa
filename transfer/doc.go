// Package transfer copies files between the host and FAT volumes, in every
// direction, and records how fast.
//
// A Job is planned first: Plan looks at the whole selection and at the target
// and knows everything that will be left out, fail or not fit before a byte is
// written. Run then copies with parallel readers and writers, makes the copies
// durable in batches, re-reads them if asked, and returns a report.Record.
//
// Promises, and where they are kept:
//   - no short file ever stands under a final name: data is written to an
//     unnamed or ".coffer-part" file that is published when complete
//     (docs/adr-0001-publish.md);
//   - what a "durable" event names survives a power cut (batch.go);
//   - nothing is written outside the target folder and links are never followed:
//     every folder is opened relative to its parent (hosttree.go);
//   - a source that changes while it is read is reported and not published;
//   - bytes are booked when the destination has accepted them, once (engine.go);
//   - memory stays bounded: blocks come from a fixed pool, at most 32 MiB are
//     not yet handed to write-back, the plan takes about 100 bytes a file.
package transfer
