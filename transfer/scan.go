package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"coffer/transfer/report"
)

// Plan looks at the whole selection and at the target and writes nothing. The
// error is for what makes the job impossible; what concerns single files is in
// Problems, and a lack of space in SpaceErr.
func (j Job) Plan(ctx context.Context) (*Plan, error) {
	j, err := j.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	j.Control.enter()
	defer j.Control.leave()
	usage := report.ProcessTimes()
	p := &Plan{job: j, watch: startWatch(j.Control), found: newProblems(), renamed: map[int32]string{}, joined: map[int32]*manifest{}, started: j.Now()}
	s := &scanner{ctx: ctx, plan: p, job: &p.job, top: map[string]string{}}
	s.emit(EventStage)
	if err := s.run(); err != nil {
		p.used.Store(true)
		p.release()
		return nil, fmt.Errorf("plan: %w", err)
	}
	p.scanTime = p.watch.read()
	p.scanUsage = report.UsageBetween(usage, report.ProcessTimes(), p.scanTime)
	return p, nil
}

// scanner builds a plan.
type scanner struct {
	ctx  context.Context
	plan *Plan
	job  *Job
	top  map[string]string // folded names given in the target's root -> name, over all operands
	todo []int32           // folders to look into
	seen map[uint64]bool   // places of the folders of this operand: a damaged volume can lead in circles
	last time.Time         // of the latest progress event

	replacedBytes   int64 // allocated to files that will be replaced
	largestReplaced int64
	oddTimes        int64
	adds            bool // something is to be written
}

func (s *scanner) run() error {
	ops := make([]operand, len(s.job.Sources))
	for i, src := range s.job.Sources {
		op, err := resolveSource(src)
		if err != nil {
			return err
		}
		ops[i] = op
	}
	to, err := resolveTarget(s.job, ops)
	if err != nil {
		return err
	}
	if err := checkApart(s.job, ops, to); err != nil {
		return err
	}
	if s.plan.target, err = openTree(s.job.Destination, to.root); err != nil {
		return err
	}
	s.plan.rules = rulesOf(s.job.Destination, s.plan.target)
	if limit := s.job.tune.maxFileBytes; limit > 0 && s.plan.rules.fat {
		s.plan.rules.maxFileBytes = limit
	}
	if s.plan.state, err = openState(s.plan.target, stateName(ops, to), s.job.Resume); err != nil {
		return err
	}
	s.plan.state.named = to.as != "" && ops[0].node.kind == kindFolder
	if err := s.scanOperands(ops, to); err != nil {
		return err
	}
	s.finish()
	return nil
}

// scanOperands looks at all sources; those with the same root share a tree.
func (s *scanner) scanOperands(ops []operand, to landing) error {
	trees := map[string]int32{}
	var existing map[string]node
	slots, rootSlots := 0, 0
	for i, op := range ops {
		t, ok := trees[op.root]
		if !ok {
			opened, err := openTree(s.job.Sources[i], op.root)
			if err != nil {
				return err
			}
			t = int32(len(s.plan.sources))
			trees[op.root] = t
			s.plan.sources = append(s.plan.sources, opened)
		}
		f := folder{source: t, parent: -1, made: true}
		s.seen = map[uint64]bool{op.node.place: true}
		if op.name == "" && to.as == "" { // contents into an existing folder
			s.addFolder(f)
			if err := s.drain(); err != nil {
				return err
			}
			continue
		}
		if existing == nil {
			var err error
			if existing, rootSlots, err = s.existing(""); err != nil {
				return err
			}
		}
		if op.name == "" { // contents into a new folder
			f.to, f.made, f.like = to.as, false, op.node
			s.addFolder(f)
			slots += s.plan.rules.slots(to.as)
		} else {
			parent := s.appendFolder(f)
			added := s.child(parent, op.node, to.as, s.top, existing, rootSlots+slots)
			slots += added
		}
		if err := s.drain(); err != nil {
			return err
		}
	}
	// The state file and parts beside what is finished.
	slots += s.plan.rules.slots(s.plan.state.name) + s.job.Workers*minPartSlots
	s.plan.NeedBytes += s.growth(rootSlots, slots, s.atRoot("")) + s.plan.rules.allocated(1)
	return nil
}

// appendFolder adds a folder that need not be looked into.
func (s *scanner) appendFolder(f folder) int32 {
	s.plan.folders = append(s.plan.folders, f)
	return int32(len(s.plan.folders) - 1)
}

func (s *scanner) addFolder(f folder) {
	s.todo = append(s.todo, s.appendFolder(f))
	if f.to != "" {
		s.plan.Directories++
	}
	s.adds = s.adds || !f.made
}

// drain looks into folders until none is left.
func (s *scanner) drain() error {
	for len(s.todo) > 0 {
		at := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if err := s.scanFolder(at); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) fail(name, reason string, err error) {
	s.note(report.Problem{Name: name, Reason: reason, Detail: err.Error(), Failed: true})
}

func (s *scanner) skip(name, reason, why string) {
	s.note(report.Problem{Name: name, Reason: reason, Detail: why})
}

func (s *scanner) note(p report.Problem) { s.plan.found.add(p) }

// minPartSlots is what the name of a part takes at least (see padPart).
const minPartSlots = 3

// scanFolder looks at the children of one folder and at its counterpart.
func (s *scanner) scanFolder(at int32) error {
	_ = s.job.Control.pass(s.ctx)
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.progress()
	f := s.plan.folders[at]
	children, err := s.plan.sources[f.source].list(f.from)
	if err != nil {
		s.fail(f.from, readReason(err), err)
		if len(children) == 0 {
			return nil
		}
	}
	slices.SortFunc(children, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	var existing map[string]node
	used := 0
	if f.made {
		if existing, used, err = s.existing(f.to); err != nil {
			s.fail(f.from, writeReason(err), err)
			return nil
		}
	}
	children = s.findJoins(at, children)
	names := map[string]string{}
	if f.to == "" {
		names = s.top
	}
	slots, widest, before := 0, 0, len(s.todo)
	for i, n := range children {
		if i%1024 == 1023 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		took := s.child(at, n, "", names, existing, used+slots)
		slots, widest = slots+took, max(widest, took)
	}
	if slots > 0 { // parts take room beside what is finished
		slots += s.job.Workers * max(widest, minPartSlots)
	}
	slices.Reverse(s.todo[before:]) // taken from the end
	if !f.made {
		s.plan.NeedBytes += s.plan.rules.folderBytes(slots, false)
	} else {
		s.plan.NeedBytes += s.growth(used, slots, s.atRoot(f.to))
	}
	return nil
}

// existing lists a target folder by folded name, and how many slots it uses.
func (s *scanner) existing(dir string) (map[string]node, int, error) {
	list, err := s.plan.target.list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	out := make(map[string]node, len(list))
	used := 0
	for _, n := range list {
		if n.kind == kindFile && strings.HasPrefix(n.name, partPrefix) {
			s.plan.state.garbage = append(s.plan.state.garbage, join(dir, n.name))
			if s.plan.state.found {
				continue
			}
		}
		out[s.plan.rules.fold(n.name)] = n
		used += s.plan.rules.slots(n.name)
	}
	return out, used, nil
}

// growth is what an existing folder grows by.
func (s *scanner) growth(used, added int, isRoot bool) int64 {
	return max(0, s.plan.rules.folderBytes(used+added, isRoot)-s.plan.rules.folderBytes(used, isRoot))
}

// atRoot tells whether a target path is the root folder of the volume.
func (s *scanner) atRoot(dir string) bool {
	v, ok := s.plan.target.(*volumeTree)
	return ok && dir == "" && v.base == "/"
}

// child takes one name of the selection into the plan, or lists why not. It
// returns the directory slots the name will take in addition to used.
func (s *scanner) child(at int32, n node, as string, names map[string]string, existing map[string]node, used int) int {
	f := &s.plan.folders[at]
	from := join(f.from, n.name)
	target := n.name
	if as != "" {
		target = as
	}
	switch {
	case n.kind != kindFile && n.kind != kindFolder:
		s.skip(from, n.kind.reason(), "not a file or folder; not followed")
		return 0
	case isLeftover(n.name):
		s.skip(from, ReasonLeftover, "left by an interrupted copy")
		return 0
	}
	if err := s.plan.rules.check(target); err != nil {
		var fe *fileError
		errors.As(err, &fe)
		s.fail(from, fe.reason, fe.err)
		return 0
	}
	if len(f.to)+len(target) > maxPathBytes || len(from) > maxPathBytes {
		s.fail(from, ReasonNameLong, fmt.Errorf("the path is longer than %d bytes", maxPathBytes))
		return 0
	}
	if limit := s.plan.rules.maxFileBytes; n.kind == kindFile && limit > 0 && n.size > limit {
		if !s.job.Split {
			s.fail(from, ReasonTooBig, fmt.Errorf("%d bytes; FAT holds %d in one file (split it)", n.size, limit))
			return 0
		}
		return s.childCut(at, n, target, names, existing, used)
	}
	key := s.plan.rules.fold(target)
	if other, taken := names[key]; taken {
		why := fmt.Errorf("would be the same as %q", other)
		if !s.plan.rules.sameName(other, target) { // looks the same on a screen
			why = fmt.Errorf("would be the same as %q (another Unicode form of the same letters)", other)
		}
		s.fail(from, ReasonCollision, why)
		return 0
	}
	there, exists := existing[key]
	if exists && !s.plan.rules.sameName(there.name, target) {
		s.fail(from, ReasonCollision, fmt.Errorf("differs from %q at the target only in Unicode form", there.name))
		return 0
	}
	slots := 0
	if !exists {
		slots = s.plan.rules.slots(target)
		// Parts being written take slots too.
		if s.plan.rules.fat && used+slots+s.job.Workers*max(slots, minPartSlots) > s.plan.rules.slotLimit(s.atRoot(f.to)) {
			s.fail(from, ReasonDirectoryFull, fmt.Errorf("the folder holds %d slots", s.plan.rules.slotLimit(s.atRoot(f.to))))
			return 0
		}
	}
	var ok bool
	if n.kind == kindFolder {
		ok = s.takeFolder(at, n, target, there, exists)
	} else {
		ok = s.takeFile(at, n, target, there, exists)
	}
	if !ok {
		return 0
	}
	names[key] = target
	return slots
}

func (s *scanner) takeFolder(at int32, n node, target string, there node, exists bool) bool {
	f := &s.plan.folders[at]
	from, to := join(f.from, n.name), join(f.to, target)
	if exists && there.kind != kindFolder {
		s.fail(from, conflict(there), fmt.Errorf("%q at the target is not a folder", there.name))
		return false
	}
	if n.place != 0 {
		if s.seen[n.place] && f.like.place != 0 {
			s.fail(from, ReasonUnreadable, errors.New("the volume is damaged: this folder is reached by two ways"))
			return false
		}
		s.seen[n.place] = true
	}
	s.oddTime(n)
	s.addFolder(folder{from: from, to: to, source: f.source, parent: at, made: exists, like: n})
	return true
}

func conflict(there node) string {
	if there.kind == kindLink {
		return ReasonTargetLink
	}
	return ReasonType
}

// takeFile adds a file.
func (s *scanner) takeFile(at int32, n node, target string, there node, exists bool) bool {
	f := &s.plan.folders[at]
	from := join(f.from, n.name)
	it := item{name: n.name, size: n.size, modified: n.modified.UnixNano(), place: n.place, folder: at}
	if exists && !s.mayReplace(from, n, there, &it) {
		return false
	}
	if n.join == nil && !s.canRead(f.source, from) {
		return false
	}
	s.oddTime(n)
	s.plan.items = append(s.plan.items, it)
	i := int32(len(s.plan.items) - 1)
	if target != n.name {
		s.plan.renamed[i] = target
	}
	if n.join != nil {
		s.plan.items[i].flags |= flagJoin
		s.plan.joined[i] = n.join
	}
	if s.job.Resume && exists && alike(n, there) {
		s.there(i, s.plan.state.has(s.plan.targetPath(i), n.size, n.modified))
		return true
	}
	s.adds = true
	s.plan.Files++
	s.plan.Bytes += n.size
	s.plan.NeedBytes += s.plan.rules.allocated(n.size)
	if s.job.Resume { // what an interrupted run wrote of it is used again, or removed first
		s.plan.NeedBytes -= min(s.plan.rules.allocated(n.size), s.plan.rules.allocated(s.plan.state.partBytes(s.plan.targetPath(i))))
	}
	if exists && it.flags&flagReplace != 0 {
		old := s.plan.rules.allocated(there.size)
		s.replacedBytes += old
		s.largestReplaced = max(s.largestReplaced, old)
	}
	return true
}

// canRead asks the host whether a file may be opened, without opening it.
func (s *scanner) canRead(source int32, from string) bool {
	t, ok := s.plan.sources[source].(*hostTree)
	if !ok {
		return true
	}
	if err := t.readable(from); err != nil {
		s.fail(from, readReason(err), err)
		return false
	}
	return true
}

// oddTime counts what FAT cannot date.
func (s *scanner) oddTime(n node) {
	if s.plan.rules.fat && !n.modified.IsZero() && (n.modified.Year() < 1980 || n.modified.Year() > 2107) {
		s.oddTimes++
	}
}

// finish draws conclusions over the whole selection.
func (s *scanner) finish() {
	p := s.plan
	p.FreeBytes = p.rules.freeBytes
	p.NeedBytes -= max(0, s.replacedBytes-s.largestReplaced*int64(s.job.Workers))
	p.NeedBytes = max(p.NeedBytes, 0)
	if !s.adds {
		p.NeedBytes = 0
		p.state.idle = true
	}
	if p.FreeBytes >= 0 && p.NeedBytes > p.FreeBytes {
		p.SpaceErr = &SpaceError{NeedBytes: p.NeedBytes, FreeBytes: p.FreeBytes}
	}
	if p.rules.fat {
		p.Remarks = append(p.Remarks, "FAT keeps modification times to 2 seconds, in 1980 to 2107, and of permissions only read-only.")
	}
	if s.oddTimes > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("dates outside 1980 to 2107 (files and folders: %d) will be moved to the nearest bound", s.oddTimes))
	}
	if len(p.items) > math.MaxInt32-1 {
		p.SpaceErr = fmt.Errorf("%w: more than %d files", ErrTarget, math.MaxInt32)
	}
	switch p.sources[0].(type) {
	case *volumeTree, *foreignTree:
		// Read in the order in which the data lie on the device.
		p.sortByPlace()
	}
}

// sortByPlace orders items by their place; the maps keyed by index follow.
func (p *Plan) sortByPlace() {
	order := make([]int32, len(p.items))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.items[a].place, p.items[b].place) })
	items := make([]item, len(order))
	renamed, joined := map[int32]string{}, map[int32]*manifest{}
	for to, from := range order {
		items[to] = p.items[from]
		if v, ok := p.renamed[from]; ok {
			renamed[int32(to)] = v
		}
		if v, ok := p.joined[from]; ok {
			joined[int32(to)] = v
		}
	}
	p.items, p.renamed, p.joined = items, renamed, joined
}

func isLeftover(name string) bool {
	return strings.HasPrefix(name, partPrefix) || strings.HasPrefix(name, statePrefix) && strings.HasSuffix(name, stateSuffix)
}

// progress emits at most ten events a second while scanning.
func (s *scanner) progress() {
	if now := time.Now(); now.Sub(s.last) >= progressInterval {
		s.last = now
		s.emit(EventProgress)
	}
}

func (s *scanner) emit(k EventKind) {
	if s.job.OnEvent != nil {
		s.job.OnEvent(Event{Kind: k, Stage: StageScan, Files: s.plan.Files, Bytes: s.plan.Bytes})
	}
}
