package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coffer/app/session"
)

// usagef makes an error of a command that was written wrong (exit code 2).
func usagef(format string, values ...any) error {
	return &session.Error{Err: fmt.Errorf(format, values...), Code: session.Usage}
}

// asksForJSON says whether --json is among args that could not be read in order.
func asksForJSON(args []string) bool {
	for _, argument := range args {
		switch argument {
		case "--json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// usageHint says where help is, and what a misspelt command may have meant.
func usageHint(command *cobra.Command, args []string) string {
	hint := "see `" + command.CommandPath() + " --help`"
	if command.HasParent() {
		return hint
	}
	for _, argument := range args {
		if strings.HasPrefix(argument, "-") {
			continue
		}
		if meant := command.SuggestionsFor(argument); len(meant) > 0 {
			hint = "did you mean " + strings.Join(meant, " or ") + "? " + hint
		}
		break
	}
	return hint
}

// later makes the refusal of what this version does not have (exit code 7).
func later(what string) error {
	return &session.Error{What: what, Err: errors.New("not in this version"), Code: session.Unsupported}
}
