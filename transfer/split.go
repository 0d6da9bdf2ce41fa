package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"
)

// A file FAT cannot hold is cut into parts NAME.part0001, NAME.part0002, ...
// and a manifest NAME.coffer-split.json, written last:
//
//	{"format":"coffer-split","version":1,"name":"NAME","sizeBytes":N,
//	 "modified":"2026-11-30T13:20:15Z","sha256":"hex of the whole",
//	 "parts":[{"name":"NAME.part0001","sizeBytes":N,"sha256":"hex"}, ...]}
//
// The parts in order, put one behind the other, are the file: without Coffer,
// `cat NAME.part* > NAME` joins them and `sha256sum NAME` checks them.
const (
	manifestSuffix   = ".coffer-split.json"
	manifestFormat   = "coffer-split"
	manifestMaxBytes = 4 << 20
	maxParts         = 9999
)

type manifest struct {
	Format    string         `json:"format"`
	Version   int            `json:"version"`
	Name      string         `json:"name"`
	SizeBytes int64          `json:"sizeBytes"`
	Modified  time.Time      `json:"modified"`
	SHA256    string         `json:"sha256"`
	Parts     []manifestPart `json:"parts"`
}

type manifestPart struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"`
}

func partName(name string, k int) string { return fmt.Sprintf("%s.part%04d", name, k+1) }

// cutSizes are the sizes of the parts of a file.
func cutSizes(size, partBytes int64) []int64 {
	out := make([]int64, 0, size/partBytes+1)
	for size > 0 {
		n := min(size, partBytes)
		out = append(out, n)
		size -= n
	}
	return out
}

// childCut is child for a file that will be cut: every part and the manifest
// need a name at the target.
func (s *scanner) childCut(at int32, n node, target string, names map[string]string, existing map[string]node, used int) int {
	f := &s.plan.folders[at]
	from := join(f.from, n.name)
	sizes := cutSizes(n.size, s.job.PartBytes)
	if len(sizes) > maxParts {
		s.fail(from, ReasonTooBig, fmt.Errorf("it would take %d parts of %d bytes; %d are possible", len(sizes), s.job.PartBytes, maxParts))
		return 0
	}
	all := []string{target + manifestSuffix}
	for k := range sizes {
		all = append(all, partName(target, k))
	}
	it := item{name: n.name, size: n.size, modified: n.modified.UnixNano(), place: n.place, folder: at, flags: flagCut}
	slots, need := 0, s.plan.rules.allocated(manifestMaxBytes/1024)
	finished := s.job.Resume && !s.plan.state.found && !s.job.Move && !s.job.Verify // else parts are compared
	for i, name := range all {
		if err := s.plan.rules.check(name); err != nil {
			var fe *fileError
			errors.As(err, &fe)
			s.fail(from, fe.reason, fmt.Errorf("part %q: %w", name, fe.err))
			return 0
		}
		key := s.plan.rules.fold(name)
		if other, taken := names[key]; taken {
			s.fail(from, ReasonCollision, fmt.Errorf("part %q would be the same as %q", name, other))
			return 0
		}
		there, exists := existing[key]
		part := n
		if i > 0 {
			part.size = sizes[i-1]
			if !exists || !s.job.Resume || !alike(part, there) {
				need += s.plan.rules.allocated(part.size)
			}
		} else {
			part.size = there.size // the manifest's own size cannot be known yet
		}
		finished = finished && exists && alike(part, there)
		if exists && !s.mayReplace(from, part, there, &it) {
			return 0
		}
		if !exists {
			slots += s.plan.rules.slots(name)
		}
	}
	if limit := s.plan.rules.slotLimit(s.atRoot(f.to)); used+slots > limit {
		s.fail(from, ReasonDirectoryFull, fmt.Errorf("the folder holds %d slots", limit))
		return 0
	}
	if !s.canRead(f.source, from) {
		return 0
	}
	for _, name := range all {
		names[s.plan.rules.fold(name)] = name
	}
	s.oddTime(n)
	s.plan.items = append(s.plan.items, it)
	if target != n.name {
		s.plan.renamed[int32(len(s.plan.items)-1)] = target
	}
	if finished {
		s.there(int32(len(s.plan.items)-1), false)
		return slots
	}
	s.adds = true
	s.plan.Files++
	s.plan.Bytes += n.size
	s.plan.NeedBytes += need
	return slots
}

// findJoins replaces parts and their manifest by the file they make.
func (s *scanner) findJoins(at int32, children []node) []node {
	if !s.job.Split || s.plan.rules.fat {
		return children
	}
	f := &s.plan.folders[at]
	var joins []node
	gone := map[string]bool{}
	for _, n := range children {
		if n.kind != kindFile || !strings.HasSuffix(n.name, manifestSuffix) {
			continue
		}
		m, err := readManifest(s.plan.sources[f.source], f.from, n, children)
		if err != nil {
			// Nothing is lost: parts and manifest are copied as they are.
			s.fail(join(f.from, n.name), ReasonSplitDamaged, err)
			continue
		}
		gone[n.name] = true
		for _, p := range m.Parts {
			gone[p.Name] = true
		}
		joins = append(joins, node{name: m.Name, kind: kindFile, size: m.SizeBytes, modified: m.Modified, join: m})
	}
	children = slices.DeleteFunc(children, func(n node) bool { return gone[n.name] })
	return append(children, joins...)
}

// readManifest reads and checks a manifest; siblings are its folder's files.
func readManifest(t sourceTree, dir string, n node, siblings []node) (*manifest, error) {
	if n.size > manifestMaxBytes {
		return nil, fmt.Errorf("manifest of %d bytes", n.size)
	}
	file, _, err := t.open(join(dir, n.name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, n.size))
	if err != nil {
		return nil, err
	}
	return parseManifest(data, n.name, siblings)
}

// parseManifest checks every field: the file may come from anywhere.
func parseManifest(data []byte, fileName string, siblings []node) (*manifest, error) {
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if m.Format != manifestFormat || m.Version != 1 {
		return nil, fmt.Errorf("manifest: format %q version %d is not known", m.Format, m.Version)
	}
	if m.Name+manifestSuffix != fileName || checkHostName(m.Name) != nil || isLeftover(m.Name) {
		return nil, fmt.Errorf("manifest names another file: %q", m.Name)
	}
	if len(m.Parts) == 0 || len(m.Parts) > maxParts || !isDigest(m.SHA256) {
		return nil, errors.New("manifest: parts or digest missing")
	}
	sizes := map[string]int64{}
	for _, sib := range siblings {
		if sib.kind == kindFile {
			sizes[sib.name] = sib.size
		}
	}
	var sum int64
	for k, p := range m.Parts {
		size, there := sizes[p.Name]
		switch {
		case p.Name != partName(m.Name, k):
			return nil, fmt.Errorf("manifest: part %d is called %q", k+1, p.Name)
		case !there:
			return nil, fmt.Errorf("part %q is missing", p.Name)
		case size != p.SizeBytes || size <= 0 || !isDigest(p.SHA256):
			return nil, fmt.Errorf("part %q has %d bytes, the manifest says %d", p.Name, size, p.SizeBytes)
		}
		sum += size
	}
	if sum != m.SizeBytes {
		return nil, fmt.Errorf("parts hold %d bytes, the manifest says %d", sum, m.SizeBytes)
	}
	return m, nil
}

func isDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}

// encode is the manifest as a file.
func (m *manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// joinedSource reads parts as one file.
type joinedSource struct {
	m     *manifest
	files []sourceFile
	first []node // as opened, to notice changes
}

func openJoined(t sourceTree, dir string, m *manifest) (*joinedSource, error) {
	j := &joinedSource{m: m}
	for _, p := range m.Parts {
		f, n, err := t.open(join(dir, p.Name))
		if err != nil {
			j.Close()
			return nil, err
		}
		j.files = append(j.files, f)
		if n.size != p.SizeBytes {
			err = fmt.Errorf("part %q has %d bytes, the manifest says %d", p.Name, n.size, p.SizeBytes)
		}
		if err != nil {
			j.Close()
			return nil, err
		}
		j.first = append(j.first, n)
	}
	return j, nil
}

// ReadAt reads across part boundaries.
func (j *joinedSource) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for k, part := range j.m.Parts {
		if off >= part.SizeBytes {
			off -= part.SizeBytes
			continue
		}
		n := int(min(int64(len(p)-done), part.SizeBytes-off))
		got, err := j.files[k].ReadAt(p[done:done+n], off)
		done += got
		if got < n {
			return done, err
		}
		if done == len(p) {
			return done, nil
		}
		off = 0
	}
	return done, io.EOF
}

// stat is that of the whole; a part that changed shows as another size.
func (j *joinedSource) stat() (node, error) {
	n := node{name: j.m.Name, kind: kindFile, size: j.m.SizeBytes, modified: j.m.Modified}
	for k, f := range j.files {
		now, err := f.stat()
		if err != nil {
			return node{}, err
		}
		if !unchanged(j.first[k], now) {
			n.size = -1
		}
	}
	return n, nil
}

func (j *joinedSource) forget() {
	for _, f := range j.files {
		f.forget()
	}
}

// Close closes all parts.
func (j *joinedSource) Close() error {
	var errs []error
	for _, f := range j.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// joinCheck hashes a joined stream part by part and as a whole.
type joinCheck struct {
	m     *manifest
	part  int
	left  int64
	sum   hash.Hash
	whole hash.Hash
	err   error
}

func newJoinCheck(m *manifest) *joinCheck {
	return &joinCheck{m: m, left: m.Parts[0].SizeBytes, sum: sha256.New(), whole: sha256.New()}
}

// Write never fails; finish tells what was found.
func (c *joinCheck) Write(p []byte) (int, error) {
	total := len(p)
	c.whole.Write(p)
	for len(p) > 0 && c.part < len(c.m.Parts) {
		n := min(int64(len(p)), c.left)
		c.sum.Write(p[:n])
		p, c.left = p[n:], c.left-n
		if c.left == 0 {
			if got := hex.EncodeToString(c.sum.Sum(nil)); !strings.EqualFold(got, c.m.Parts[c.part].SHA256) && c.err == nil {
				c.err = fmt.Errorf("part %q does not have the SHA-256 of its manifest", c.m.Parts[c.part].Name)
			}
			c.sum.Reset()
			if c.part++; c.part < len(c.m.Parts) {
				c.left = c.m.Parts[c.part].SizeBytes
			}
		}
	}
	return total, nil
}

func (c *joinCheck) finish() error {
	if c.err == nil && !strings.EqualFold(hex.EncodeToString(c.whole.Sum(nil)), c.m.SHA256) {
		c.err = errors.New("the joined file does not have the SHA-256 of its manifest")
	}
	return c.err
}
