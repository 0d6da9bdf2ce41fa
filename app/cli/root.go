package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/app/session"
)

// Groups of commands in the help text.
const (
	groupDrive     = "drive"
	groupContainer = "container"
	groupFiles     = "files"
	groupKeys      = "keys"
	groupProgram   = "program"
)

// command builds the tree of commands.
func (a *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "coffer",
		Short: "Encrypted drives in a file",
		Long: "Coffer keeps files in an encrypted container: one ordinary file, opened with a password, that holds a FAT file\n" +
			"system. IMAGE:/path names something inside a container, everything else is a path on this computer.",
		Example: "  coffer create photos.img --size 2GiB\n  coffer copy ~/Pictures photos.img:/ --verify\n" +
			"  coffer ls -R photos.img:/\n  coffer copy photos.img:/Pictures restored",
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.begin(c) },
	}
	root.DisableSuggestions = true // usageHint makes them
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(&a.out)
	root.SetErr(a.stderr)
	root.PersistentFlags().BoolVar(&a.out.json, "json", false, "one JSON document on stdout; long work reports as JSON lines on stderr")
	root.PersistentFlags().BoolVar(&a.out.quiet, "quiet", false, "no progress, no notes")
	root.AddGroup(
		&cobra.Group{ID: groupDrive, Title: "Drives:"},
		&cobra.Group{ID: groupContainer, Title: "Containers:"},
		&cobra.Group{ID: groupFiles, Title: "Files inside (no mount needed):"},
		&cobra.Group{ID: groupKeys, Title: "Keys and headers:"},
		&cobra.Group{ID: groupProgram, Title: "The program:"},
	)
	root.AddCommand(a.unlockCommand(), a.lockCommand(), a.listCommand(), a.guiCommand())
	root.AddCommand(a.createCommand(), a.infoCommand(), a.checkCommand(), a.dumpCommand(), a.destroyCommand())
	root.AddCommand(a.lsCommand(), a.catCommand(), a.mkdirCommand(), a.rmCommand(), a.mvCommand(), a.copyCommand(), a.reportCommand())
	root.AddCommand(a.keyCommand(), a.keyfileCommand(), a.headerCommand())
	root.AddCommand(a.labCommand(), a.selftestCommand(), a.versionCommand(), a.completionCommand())
	root.AddCommand(a.laterCommands()...)
	root.AddCommand(a.hiddenCommands()...)
	root.SetHelpCommandGroupID(groupProgram)
	return root
}

// targetFlags say how to open the container of a command.
type targetFlags struct {
	format string
	header string
}

// register adds the flags; prefix tells two containers of one command apart.
func (f *targetFlags) register(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&f.format, prefix+"format", session.FormatAuto, "container format: auto, luks2, raw (a bare FAT volume, never guessed)")
	flags.StringVar(&f.header, prefix+"header", "", "detached header file")
}

// target is the container at path as the flags say.
func (f *targetFlags) target(path string) (session.Target, error) {
	switch f.format {
	case session.FormatAuto, session.FormatLUKS2, session.FormatRaw:
		return session.Target{Path: path, Format: f.format, Header: f.header}, nil
	case "native", "luks1", "veracrypt", "truecrypt", "geli", "plain":
		return session.Target{}, &session.Error{What: "format " + f.format, Err: errors.New("not in this version"), Code: session.Unsupported}
	}
	return session.Target{}, usagef("--format %s: there is no such format; known are auto, luks2, raw", f.format)
}

// containerFlags are the flags of every command that opens one container.
type containerFlags struct {
	target     targetFlags
	credential credentialFlags
}

func (f *containerFlags) register(flags *pflag.FlagSet) {
	f.target.register(flags, "")
	f.credential.register(flags, "", "the container")
}

// group is a command that only has subcommands: named alone or with an unknown one it is a usage error.
func (a *program) group(use, id, short, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, GroupID: id, Short: short, Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			var names []string
			for _, child := range c.Commands() {
				if !child.Hidden {
					names = append(names, child.Name())
				}
			}
			choice := strings.Join(names, ", ")
			if len(args) > 0 {
				return usagef("%s %s: there is no such command; known are %s", use, args[0], choice)
			}
			return usagef("%s: say which of %s", use, choice)
		},
	}
	c.AddCommand(children...)
	return c
}

// commandName is the command as a person types it after the program's name: "report list".
func commandName(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// laterCommands are names of the stable interface whose work this version does not have: refused plainly, exit code 7.
func (a *program) laterCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, name := range []string{"verify", "convert", "resize", "compact"} {
		commands = append(commands, a.laterCommand(name))
	}
	return commands
}

// laterCommand is one of them.
func (a *program) laterCommand(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, Short: "Not in this version", Example: "  coffer " + name,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			for _, argument := range args {
				a.out.json = a.out.json || argument == "--json"
			}
			return later(commandName(c))
		},
	}
}
