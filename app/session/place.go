package session

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Place is one argument of a command: a path on the host, or a path inside a container.
type Place struct {
	// Image is the host path of the container; "" means that Path is a host path.
	Image string
	// Path is absolute, cleaned and uses "/" when it is inside a container; as the person wrote it when on the host.
	Path string
	// Typed is a host path as the person wrote it, when Path was made absolute: for messages.
	Typed string
	// Folder is set when the argument ended in a separator: the person means a folder.
	Folder bool
}

// Inside says whether the place is inside a container.
func (p Place) Inside() bool { return p.Image != "" }

// String is the place as a person writes it.
func (p Place) String() string {
	if p.Inside() {
		return p.Image + ":" + p.Path
	}
	if p.Typed != "" {
		return p.Typed
	}
	return p.Path
}

// Absolute is p for another process: a host path, and the path of an image, that do not depend on the working folder.
func (p Place) Absolute() (Place, error) {
	if p.Inside() || filepath.IsAbs(p.Path) {
		return p, nil
	}
	absolute, err := filepath.Abs(p.Path)
	if err != nil {
		return p, &Error{What: "copy", Err: err}
	}
	// What matters at the end of a path and Abs takes away: a dot, which means the content, and a separator.
	switch base := filepath.Base(p.Path); {
	case base == "." || base == "..":
		absolute += string(filepath.Separator) + "."
	case p.Folder && !os.IsPathSeparator(absolute[len(absolute)-1]):
		absolute += string(filepath.Separator)
	}
	p.Typed, p.Path = p.Path, absolute
	return p, nil
}

// NoImageError says that an argument looks like IMAGE:/path but the part before ":/" is no existing file. It matters
// most for destinations: taken as a host path, files meant for the container would be written in the clear.
type NoImageError struct {
	Argument string
	Image    string // what was taken for the image
}

// Error names the missing image.
func (e *NoImageError) Error() string {
	return fmt.Sprintf("%s: there is no container file %s", e.Argument, e.Image)
}

// ParsePlace reads an argument. `IMAGE:/path` is a path inside a container when the part before the first ":/" for
// which that holds is an existing file; everything else is a host path, so `C:/x` stays one on Windows. "." and ".."
// inside are resolved by name and never leave the root. An argument that only looks like the first form is refused
// with NoImageError unless its first part is a folder on the host.
func ParsePlace(argument string) (Place, error) {
	return parsePlace(argument, fileKind)
}

// hostKind is what stands at a host path.
type hostKind int

const (
	kindNothing hostKind = iota
	kindFile             // a file or a device: may be an image
	kindFolder
)

func fileKind(name string) hostKind {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return kindNothing
	case info.IsDir():
		return kindFolder
	}
	return kindFile
}

func parsePlace(argument string, kind func(string) hostKind) (Place, error) {
	if argument == "" {
		return Place{}, fmt.Errorf("an empty path names nothing")
	}
	if strings.ContainsRune(argument, 0) {
		return Place{}, fmt.Errorf("a path cannot hold a NUL character")
	}
	looksInside := ""
	for from := 0; ; {
		at := strings.Index(argument[from:], ":/")
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		if at == 0 {
			continue
		}
		image, inside := argument[:at], argument[at+1:]
		if kind(image) == kindFile {
			return Place{Image: image, Path: path.Clean("/" + inside), Folder: strings.HasSuffix(inside, "/")}, nil
		}
		drive := runtime.GOOS == "windows" && at == 1
		if looksInside == "" && !drive && kind(image+":") != kindFolder {
			looksInside = image
		}
	}
	if looksInside != "" && kind(argument) == kindNothing {
		return Place{}, &NoImageError{Argument: argument, Image: looksInside}
	}
	folder := os.IsPathSeparator(argument[len(argument)-1])
	return Place{Path: argument, Folder: folder}, nil
}
