package transfer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"coffer/fat32"
)

// The state of a copy lies in the target folder, beside the data it describes:
// inside the container for copies in. It is a file of JSON lines that only
// grows; a torn last line is ignored. It holds only what was durable before the
// line was written, so believing it is always safe. See docs/adr-0002-resume.md.
//
//	{"copyState":1}
//	{"done":"a/b.txt","size":N,"modified":nanoseconds}         durable
//	{"part":"a/.coffer-part-...","of":"a/b.txt","size":N,"modified":ns,"bytes":durable}
const (
	statePrefix = ".coffer-copy-"
	stateSuffix = ".state"
	// maxStateDone and maxStateParts bound what a hostile state file can claim.
	maxStateDone  = 4 << 20
	maxStateParts = 4096
	maxStateLine  = 4 * maxPathBytes
)

type stateLine struct {
	Version  int    `json:"copyState,omitempty"`
	Done     string `json:"done,omitempty"`
	Part     string `json:"part,omitempty"`
	Of       string `json:"of,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Modified int64  `json:"modified,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
}

// partState is a file an interrupted run left unfinished.
type partState struct {
	path           string
	size, modified int64
	bytes          int64 // durable
}

// resumeState reads what an earlier run left and writes what this one does.
// Reading is done by Plan; writing is not safe for concurrent use.
type resumeState struct {
	tree   tree
	name   string
	seed   maphash.Seed
	done   map[uint64]struct{}
	parts  map[string]partState // by final path
	found  bool
	resume bool
	named  bool // the source folder gets a name of its own at the target
	idle   bool // nothing is to be written: no file is made, which may find no room
	// garbage are part files seen in target folders.
	garbage []string

	file targetFile
	over bool  // removed: nothing is written any more
	end  int64 // where the next line goes
}

// stateName depends on what is selected and where it goes, so that the same
// command finds it again and others do not.
func stateName(ops []operand, to landing) string {
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = op.name
		if to.as != "" {
			names[i] = to.as
		}
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, n := range names {
		h.Write(append([]byte(n), 0))
	}
	return fmt.Sprintf("%s%016x%s", statePrefix, h.Sum64(), stateSuffix)
}

// stateExists tells whether an interrupted run landed at to.
func stateExists(d Place, to landing, ops []operand) bool {
	t, err := openTree(d, to.root)
	if err != nil {
		return false
	}
	defer t.close()
	n, err := t.stat(stateName(ops, to))
	return err == nil && n.kind == kindFile
}

// openState reads the state an earlier run left, if there is one.
func openState(t tree, name string, resume bool) (*resumeState, error) {
	s := &resumeState{tree: t, name: name, resume: resume, seed: maphash.MakeSeed(), done: map[uint64]struct{}{}, parts: map[string]partState{}}
	f, n, err := t.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state of an interrupted copy: %w", err)
	}
	defer f.Close()
	s.found = true
	s.parse(io.NewSectionReader(f, 0, n.size))
	return s, nil
}

// parse takes lines as long as they make sense.
func (s *resumeState) parse(r io.Reader) {
	b := bufio.NewReaderSize(r, maxStateLine)
	for first := true; ; first = false {
		raw, err := b.ReadSlice('\n')
		if err != nil {
			return // the end, a torn line, or one too long to be ours
		}
		var l stateLine
		if json.Unmarshal(raw, &l) != nil || first && l.Version != 1 {
			return
		}
		switch {
		case l.Done != "" && len(s.done) < maxStateDone:
			s.done[s.key(l.Done, l.Size, l.Modified)] = struct{}{}
			delete(s.parts, l.Done)
		case l.Part != "" && l.Of != "" && (len(s.parts) < maxStateParts || s.parts[l.Of].path != ""):
			s.parts[l.Of] = partState{path: l.Part, size: l.Size, modified: l.Modified, bytes: l.Bytes}
		}
		s.end += int64(len(raw))
	}
}

func (s *resumeState) key(p string, size, modified int64) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.WriteString(p)
	maphash.WriteComparable(&h, [2]int64{size, modified})
	return h.Sum64()
}

// has tells whether a copy was durable with this size and time of its source.
func (s *resumeState) has(p string, size int64, modified time.Time) bool {
	if !s.resume {
		return false
	}
	_, ok := s.done[s.key(p, size, modified.UnixNano())]
	return ok
}

// part is how many bytes of an unfinished file can be kept: 0 if none.
func (s *resumeState) part(p string, n node) int64 {
	if !s.resume {
		return 0
	}
	have, ok := s.parts[p]
	if !ok || have.path != partPath(p) || have.size != n.size || have.modified != n.modified.UnixNano() || have.bytes <= 0 || have.bytes > n.size {
		return 0
	}
	there, err := s.tree.stat(have.path)
	if err != nil || there.kind != kindFile || there.size < have.bytes || there.size > n.size {
		return 0
	}
	return have.bytes / blockBytes * blockBytes
}

// partBytes is how long the unfinished copy of a file is that an earlier run left; 0: there is none.
func (s *resumeState) partBytes(p string) int64 {
	if have, ok := s.parts[p]; !ok || have.path != partPath(p) {
		return 0
	}
	there, err := s.tree.stat(partPath(p))
	if err != nil || there.kind != kindFile {
		return 0
	}
	return there.size
}

// partPath is the named part of a file: in the same folder, found again by a
// later run.
func partPath(p string) string {
	dir, name := split(p)
	h := fnv.New64a()
	h.Write([]byte(name))
	return join(dir, padPart(fmt.Sprintf("%s%016x", partPrefix, h.Sum64()), name))
}

// padPart makes the name of a part take at least as many directory slots in a
// FAT folder as the final name: then the one can become the other in place, in
// one sector.
func padPart(part, final string) string {
	if want := (fat32.DirSlots(final) - 1) * 13; want > len(part) {
		part += strings.Repeat("0", min(want, 255)-len(part))
	}
	return part
}

// begin makes ready for writing. A run that does not resume removes what an
// earlier one left; a resuming one removes parts it has no use for. The file is
// made at once, so that whatever interrupts the run, the next one knows of it.
func (s *resumeState) begin() error {
	if s.found {
		keep := map[string]bool{}
		if s.resume {
			for _, p := range s.parts {
				keep[p.path] = true
			}
		}
		for _, p := range s.garbage {
			if keep[p] {
				continue
			}
			if err := s.tree.remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the part of an interrupted copy: %w", err)
			}
		}
	}
	if s.idle && !s.found {
		s.over = true
		return nil
	}
	resume := s.resume && s.found && s.end > 0
	f, err := s.tree.create(createOptions{path: s.name, part: s.name, resume: resume})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fat32.ErrDirFull) {
		s.over = true // perhaps its subfolders can be written: copy without
		return nil
	}
	if err != nil {
		return fmt.Errorf("state of the copy: %w", err)
	}
	s.file = f
	if resume {
		return nil
	}
	s.end = 0
	return s.append([]stateLine{{Version: 1}})
}

// append adds lines to the file, which is made with the first.
func (s *resumeState) append(lines []stateLine) error {
	if len(lines) == 0 || s.over || s.file == nil {
		return nil
	}
	var buf []byte
	for _, l := range lines {
		raw, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("state of the copy: %w", err)
		}
		buf = append(append(buf, raw...), '\n')
	}
	if _, err := s.file.WriteAt(buf, s.end); err != nil {
		return fmt.Errorf("state of the copy: %w", err)
	}
	s.end += int64(len(buf))
	return nil
}

// remove is for a copy that reached its end.
func (s *resumeState) remove() error {
	s.over = true
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.discard()
}

// keep is for one that did not.
func (s *resumeState) keep() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.keep()
}
