package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/session"
)

// version is set by the build (-ldflags -X).
var version string

// programVersion is the version of this program: what the build set, else the revision that the Go tool recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
				return setting.Value[:12]
			}
		}
	}
	return "unknown"
}

func (a *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", GroupID: groupProgram, Short: "Show version, Go version and engine", Example: "  coffer version",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			engine := session.EngineName()
			a.out.say("coffer %s", programVersion())
			a.out.say("%s %s/%s, engine %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, engine)
			return a.out.document(map[string]string{"version": programVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "engine": engine})
		},
	}
}

func (a *program) selftestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "selftest", GroupID: groupProgram, Short: "Check ciphers, KDFs and a small container on this computer", Example: "  coffer selftest",
		Long: "Runs the test vectors of every cipher and KDF on the code this processor uses, and makes, fills, reads back and checks a\n" +
			"1 MiB file in a small container in the temporary folder (its content is random, its key is thrown away).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			results, err := session.SelfTest(c.Context())
			failed := 0
			for _, result := range results {
				state := "ok"
				if result.Error != "" {
					state, failed = "FAILED: "+result.Error, failed+1
				}
				a.out.say("%-40s %s", escape(result.Name), escape(state))
			}
			if documentErr := a.out.document(map[string]any{"tests": results}); err == nil {
				err = documentErr
			}
			if err == nil && failed > 0 {
				err = &session.Error{What: "selftest", Err: fmt.Errorf("%d of %d failed; do not trust this build on this computer", failed, len(results))}
			}
			return err
		},
	}
}

func (a *program) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:                   "completion bash|zsh|fish|powershell",
		GroupID:               groupProgram,
		Short:                 "Write the completion script of a shell",
		Example:               "  coffer completion bash > ~/.local/share/bash-completion/completions/coffer\n  source <(coffer completion zsh)",
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		Args:                  cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			var script bytes.Buffer
			if err := completionScript(c.Root(), args[0], &script); err != nil {
				return err
			}
			if a.out.json {
				return a.out.document(map[string]string{"shell": args[0], "script": script.String()})
			}
			_, err := script.WriteTo(&a.out)
			return err
		},
	}
}

// completionScript writes the completion script of a shell to w.
func completionScript(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}

// hiddenCommands are verbs this program runs itself with. Secrets reach them through pipes only.
func (a *program) hiddenCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: session.KDFVerb, Hidden: true, Short: "Derive a key for the parent process", Example: "  (started by coffer itself)", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return session.ServeKDF(os.Stdin, os.Stdout) },
		},
		{
			Use: agent.Verb, Hidden: true, Short: "Hold one container open for the parent process", Example: "  (started by coffer itself)", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				a.patient()
				return agent.ServeSpawned(c.Context(), os.Stdin, os.Stdout, a.logEvent)
			},
		},
		{
			Use: strengthVerb, Hidden: true, Short: "Rate a password for the parent process", Example: "  (started by coffer itself)", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return serveStrength(a.stdin, &a.out) },
		},
	}
}

// sortedKeys returns the keys of m in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
