package cli

import (
	"errors"
	"fmt"

	"coffer/app/session"
)

// usagef makes an error of a command that was written wrong (exit code 2).
func usagef(format string, values ...any) error {
	return &session.Error{Err: fmt.Errorf(format, values...), Code: session.Usage}
}

// later makes the refusal of what this version does not have (exit code 7).
func later(what string) error {
	return &session.Error{What: what, Err: errors.New("not in this version"), Code: session.Unsupported}
}
