package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coffer/fat32"
)

// operand is one source, resolved.
type operand struct {
	root string // host folder, or path in the volume, that becomes the root of a tree
	name string // "" : the contents of root
	node node
}

// resolveSource finds what a source place means.
func resolveSource(s Place) (operand, error) {
	if s.Source != nil {
		return resolveForeign(s)
	}
	if s.Volume != nil {
		return resolveVolumeSource(s)
	}
	if s.Path == "" {
		return operand{}, fmt.Errorf("%w: empty path", ErrNoSource)
	}
	abs, err := filepath.Abs(s.Path)
	if err != nil {
		return operand{}, err
	}
	// A link named by the user with a slash behind it means what it points to.
	if strings.HasSuffix(s.Path, string(filepath.Separator)) || s.Contents {
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return operand{}, err
		}
	}
	st, err := os.Lstat(abs)
	if err != nil {
		return operand{}, err
	}
	n := nodeOf(st)
	if s.Contents || filepath.Dir(abs) == abs {
		if n.kind != kindFolder {
			return operand{}, fmt.Errorf("%s: %w: not a folder", s.shown(), ErrNoSource)
		}
		return operand{root: abs, node: n}, nil
	}
	return operand{root: filepath.Dir(abs), name: filepath.Base(abs), node: n}, nil
}

func resolveVolumeSource(s Place) (operand, error) {
	p := path.Clean("/" + s.Path)
	if p == "/" {
		return operand{root: p, node: node{kind: kindFolder}}, nil
	}
	info, err := s.Volume.Stat(p)
	if err != nil {
		return operand{}, err
	}
	n := nodeOfInfo(info)
	if s.Contents {
		if n.kind != kindFolder {
			return operand{}, fmt.Errorf("%s: %w: not a folder", s.shown(), ErrNoSource)
		}
		return operand{root: p, node: n}, nil
	}
	return operand{root: path.Dir(p), name: n.name, node: n}, nil
}

// landing is where the copies go.
type landing struct {
	root string // existing folder that becomes the root of the target tree
	as   string // name the single source gets; "": it keeps its own
}

// resolveTarget decides as cp does: an existing folder takes the sources by
// their names; otherwise the single source gets the given name.
func resolveTarget(j *Job, ops []operand) (landing, error) {
	d := j.Destination
	root, name, kindThere, exists, err := lookTarget(d)
	if err != nil {
		return landing{}, err
	}
	into := landing{root: root, as: name}
	if name == "" {
		return into, nil // the root of a volume or of the host
	}
	whole := landing{root: joinRoot(d, root, name)}
	if exists && kindThere == kindFolder {
		if j.Resume && len(ops) == 1 && earlierNamed(j, ops[0], into, whole) {
			return into, nil
		}
		return whole, nil
	}
	if len(ops) != 1 {
		return landing{}, fmt.Errorf("%w: several sources need an existing folder, and %q is none", ErrTarget, d.shown())
	}
	if exists && kindThere != kindFile {
		return landing{}, fmt.Errorf("%w: %q is neither file nor folder", ErrTarget, d.shown())
	}
	if exists && ops[0].node.kind == kindFolder {
		return landing{}, fmt.Errorf("%w: %q is a file", ErrTarget, d.shown())
	}
	if !exists && strings.HasSuffix(d.Path, "/") && ops[0].node.kind != kindFolder {
		return landing{}, fmt.Errorf("%w: folder %q does not exist", ErrTarget, d.shown())
	}
	return into, nil
}

func joinRoot(d Place, root, name string) string {
	if d.Volume != nil {
		return path.Join(root, name)
	}
	return filepath.Join(root, name)
}

// lookTarget cuts a destination into its parent and name, and tells what is there.
func lookTarget(d Place) (root, name string, k kind, exists bool, err error) {
	if d.Volume != nil {
		p := path.Clean("/" + d.Path)
		if p == "/" {
			return p, "", kindFolder, true, nil
		}
		info, err := d.Volume.Stat(p)
		if errors.Is(err, fat32.ErrNotExist) {
			if up, upErr := d.Volume.Stat(path.Dir(p)); path.Dir(p) != "/" && (upErr != nil || !up.IsDir()) {
				return "", "", 0, false, fmt.Errorf("%w: folder %q does not exist", ErrTarget, path.Dir(p))
			}
			return path.Dir(p), path.Base(p), 0, false, nil
		}
		if err != nil {
			return "", "", 0, false, err
		}
		return path.Dir(p), info.Name, nodeOfInfo(info).kind, true, nil
	}
	if d.Path == "" {
		return "", "", 0, false, fmt.Errorf("%w: empty path", ErrTarget)
	}
	abs, err := filepath.Abs(d.Path)
	if err != nil {
		return "", "", 0, false, err
	}
	// What the user names may be a link to a folder; links found inside are not followed.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	if filepath.Dir(abs) == abs {
		return abs, "", kindFolder, true, nil
	}
	st, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
		if err != nil {
			return "", "", 0, false, fmt.Errorf("%w: %w", ErrTarget, err)
		}
		return parent, filepath.Base(abs), 0, false, nil
	}
	if err != nil {
		return "", "", 0, false, err
	}
	return filepath.Dir(abs), filepath.Base(abs), kindOf(st.Mode()), true, nil
}

// openTree opens a folder of the host or of a volume as a tree.
func openTree(p Place, root string) (tree, error) {
	if p.Source != nil {
		return &foreignTree{p.Source, root}, nil
	}
	if p.Volume != nil {
		return newVolumeTree(p, root), nil
	}
	return newHostTree(root)
}

// checkApart refuses copying a folder into itself and a thing onto itself.
func checkApart(j *Job, ops []operand, to landing) error {
	for i, op := range ops {
		from := j.Sources[i]
		if from.Source != nil { // whoever gave it has seen to it that it is another volume
			continue
		}
		if (from.Volume == nil) != (j.Destination.Volume == nil) || from.Volume != j.Destination.Volume {
			continue
		}
		same := hostSame
		if from.Volume != nil {
			same = volumeSame
		}
		whole := joinRoot(j.Destination, op.root, op.name)
		name := op.name
		if to.as != "" {
			name = to.as
		}
		if same(whole, joinRoot(j.Destination, to.root, name)) {
			return fmt.Errorf("%s: %w", from.shown(), ErrSame)
		}
		if op.node.kind != kindFolder {
			continue
		}
		for up := to.root; ; up = filepath.Dir(up) {
			if same(whole, up) {
				return fmt.Errorf("%s: %w", from.shown(), ErrInside)
			}
			if filepath.Dir(up) == up {
				break
			}
		}
	}
	return nil
}

func hostSame(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

func volumeSame(a, b string) bool {
	return fat32.FoldName(path.Clean(a)) == fat32.FoldName(path.Clean(b))
}
