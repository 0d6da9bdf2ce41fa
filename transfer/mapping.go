package transfer

import "strings"

// earlierNamed tells whether an existing destination folder is what an earlier
// run of the same command made under that name, rather than a folder to copy
// into. An interrupted run left its state beside it; of one that reached its end
// only the content tells. See docs/adr-0002-resume.md.
func earlierNamed(j *Job, op operand, into, whole landing) bool {
	ops := []operand{op}
	if stateExists(j.Destination, into, ops) {
		return true
	}
	if op.name == "" || op.node.kind != kindFolder || stateExists(j.Destination, whole, ops) {
		return false
	}
	target, err := openTree(j.Destination, whole.root)
	if err != nil {
		return false
	}
	defer target.close()
	source, err := openTree(j.Sources[0], op.root)
	if err != nil {
		return false
	}
	defer source.close()
	r := rulesOf(j.Destination, target)
	if limit := j.tune.maxFileBytes; limit > 0 && r.fat {
		r.maxFileBytes = limit
	}
	want := arriving(j, &r, source, op.name)
	return holds(&r, target, "", want) && !holds(&r, target, op.name, want)
}

// arriving are the names and kinds of a source folder that a copy can bring to
// the target; what is always left out says nothing.
func arriving(j *Job, r *rules, source tree, dir string) map[string]kind {
	list, err := source.list(dir)
	if err != nil {
		return nil
	}
	out := map[string]kind{}
	for _, n := range list {
		name := n.name
		if n.kind != kindFile && n.kind != kindFolder || isLeftover(name) || r.check(name) != nil {
			continue
		}
		if n.kind == kindFile {
			if h, ok := source.(*hostTree); ok && h.readable(join(dir, name)) != nil {
				continue
			}
			switch cut := r.maxFileBytes > 0 && n.size > r.maxFileBytes; {
			case cut && !j.Split:
				continue
			case cut:
				name += manifestSuffix
			case j.Split && !r.fat && (strings.HasSuffix(name, manifestSuffix) || strings.Contains(name, ".part")):
				continue // becomes part of a joined file
			}
		}
		out[r.fold(name)] = n.kind
	}
	return out
}

// holds tells whether a target folder has all these names. Of nothing only an
// empty folder is the copy.
func holds(r *rules, target tree, dir string, want map[string]kind) bool {
	list, err := target.list(dir)
	if err != nil {
		return false
	}
	if len(want) == 0 {
		return len(list) == 0
	}
	found := 0
	for _, n := range list {
		if k, ok := want[r.fold(n.name)]; ok && k == n.kind {
			found++
		}
	}
	return found == len(want)
}
