package session

import (
	"errors"
	"io/fs"
	"strings"
)

// Error is a failure with all that a person is told: what failed on which object, why, how it counts and what to do.
type Error struct {
	What string   // what failed, on which object: "open photos.img"
	Err  error    // why
	Code ExitCode // 0: found by Explain from Err
	Hint string   // what to do, "" when there is nothing
}

// Error is "what: why". Layers below often say the same what, or name the object again: that is said once.
func (e *Error) Error() string {
	why := e.Err.Error()
	if e.What == "" {
		return why
	}
	var path *fs.PathError
	if errors.As(e.Err, &path) && why == path.Error() && strings.HasSuffix(e.What, path.Path) {
		why = path.Err.Error()
	}
	verb, object, _ := strings.Cut(e.What, " ")
	why = withoutObject(object, strings.TrimPrefix(strings.TrimPrefix(why, e.What+": "), verb+": "))
	if _, inside, ok := strings.Cut(object, ":/"); ok { // the file system names a file by its path inside
		why = withoutObject("/"+inside, why)
	}
	return e.What + ": " + why
}

// withoutObject leaves out openings of why such as "open image photos.img: " when the object has been named already.
func withoutObject(object, why string) string {
	for object != "" {
		head, rest, found := strings.Cut(why, object+": ")
		if !found || strings.Contains(head, ":") || head != "" && !strings.HasSuffix(head, " ") {
			break
		}
		why = rest
	}
	return why
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// wrap says what failed on which object unless the error already does. nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	var told *Error
	if errors.As(err, &told) {
		return err
	}
	return &Error{What: what, Err: err}
}
