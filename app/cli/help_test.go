package cli

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandExplainsItself walks the tree: each command has a summary and an example, and reads its own flags.
func TestEveryCommandExplainsItself(t *testing.T) {
	a := &program{out: output{to: &bytes.Buffer{}}, stderr: &bytes.Buffer{}}
	seen := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		seen[c.CommandPath()] = true
		for _, alias := range c.Aliases {
			seen[c.Parent().CommandPath()+" "+alias] = true
		}
		if c.Name() != "help" && (c.Short == "" || c.Example == "") {
			t.Errorf("%s: summary %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		if c.RunE == nil && c.Run == nil && c.HasParent() && c.Name() != "help" {
			t.Errorf("%s does nothing", c.CommandPath())
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(a.command())
	for _, path := range []string{"create", "info", "ls", "cat", "mkdir", "rm", "mv", "copy", "report list", "report show",
		"report export", "report compare", "check", "verify", "dump", "convert", "key list", "key add", "key remove", "key change",
		"key reencrypt", "keyfile new", "header backup", "header restore", "resize", "compact", "destroy", "selftest", "version",
		"completion", "gui", "unlock", "mount", "lock", "unmount", "list", "lab copy", "lab ciphers", "lab drive", "lab all"} {
		if !seen["coffer "+path] {
			t.Errorf("the stable interface names `coffer %s`; it is missing", path)
		}
	}
}

// TestFlagsOfTheInterface checks the names that scripts rely on.
func TestFlagsOfTheInterface(t *testing.T) {
	a := &program{out: output{to: &bytes.Buffer{}}, stderr: &bytes.Buffer{}}
	root := a.command()
	for path, flags := range map[string][]string{
		"create": {"size", "usable", "format", "cipher", "label", "label-stdin", "cluster-size", "sector-size", "preallocate", "kdf-memory", "kdf-time", "from",
			"password-stdin", "password-fd", "password-file", "keyfile", "json", "quiet"},
		"copy":     {"verify", "resume", "move", "split", "label", "via", "window", "report", "from-password-stdin", "from-keyfile", "json"},
		"ls":       {"recursive", "format", "header", "recovery-key-stdin"},
		"check":    {"repair", "salvage"},
		"key add":  {"new-password-stdin", "new-password-fd", "new-password-file", "new-keyfile"},
		"destroy":  {"yes"},
		"unlock":   {"read-only", "foreground", "idle", "lifetime", "no-mount", "raw", "password-stdin", "keyfile", "json"},
		"mount":    {"read-only", "no-mount"},
		"lock":     {"all", "force"},
		"lab copy": {"quick", "rounds", "only", "format", "via", "at", "report", "json"},
	} {
		c, _, err := root.Find(splitWords(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range flags {
			if c.Flag(name) == nil && root.PersistentFlags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", path, name)
			}
		}
	}
}

func splitWords(path string) (words []string) {
	for word := range bytes.FieldsSeq([]byte(path)) {
		words = append(words, string(word))
	}
	return words
}
