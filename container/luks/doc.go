// Package luks reads and writes LUKS2 containers (specification: "LUKS2
// On-Disk Format Specification", version 1.1, of the cryptsetup project).
//
// Layout of a device, all offsets in bytes:
//
//	0                binary header, 4096 bytes (table below), then JSON text
//	hdr_size         the second copy of both
//	2*hdr_size       keyslot areas (encrypted, split key material), keyslots_size bytes
//	segment offset   payload
//
// Binary header, big-endian:
//
//	off len field
//	  0   6 magic "LUKS\xBA\xBE", in the second copy "SKUL\xBA\xBE"
//	  6   2 version 2
//	  8   8 hdr_size: binary header and JSON area, 16 KiB..4 MiB, a power of two
//	 16   8 seqid: goes up with every update; of two good copies the higher wins
//	 24  48 label, NUL-terminated
//	 72  32 checksum algorithm ("sha256")
//	104  64 salt, random in every copy and every write
//	168  40 uuid
//	208  48 subsystem
//	256   8 hdr_offset: where this copy lies
//	448  64 checksum of the hdr_size bytes with this field zero
//	512     zeros to 4096
//
// # Reading
//
// [Read] looks at both copies, searches the second one at every place the
// specification allows when the first is lost, and never writes. [Header.Repair]
// rewrites a copy that is damaged or behind; it is for writable opens.
//
// # Writing
//
// An update of the header writes the first copy, syncs, writes the second,
// syncs: a cut at any write leaves one good copy, old or new. Key material is
// written and synced before a header refers to it and wiped as described at
// [Header.RemoveKey] and [Header.ChangeKey].
//
// A Header is not safe for concurrent use. It keeps JSON members and tokens it
// does not know and writes them back.
package luks
