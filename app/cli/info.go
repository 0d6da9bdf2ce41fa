package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/session"
)

func (a *program) infoCommand() *cobra.Command {
	f := &containerFlags{}
	c := &cobra.Command{
		Use:     "info IMAGE",
		GroupID: groupContainer,
		Short:   "Show format, cipher, KDF, key slots and sizes",
		Long: "Shows what can be known without a password. With one (any of the credential options) it also opens the\n" +
			"container and shows the file system inside, as it does without one while the container is unlocked.",
		Example: "  coffer info photos.img\n  coffer info photos.img --password-stdin < password.txt",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.info(c, f, args[0]) },
	}
	f.register(c.Flags())
	return c
}

// infoDocument is the JSON of `info`.
type infoDocument struct {
	Path       string                  `json:"path"`
	Container  *session.ContainerInfo  `json:"container"`
	FileSystem *session.FileSystemInfo `json:"fileSystem,omitempty"`
}

func (a *program) info(c *cobra.Command, f *containerFlags, path string) error {
	target, err := f.target.target(path)
	if err != nil {
		return err
	}
	container, err := session.Inspect(target)
	if err != nil {
		return err
	}
	document := infoDocument{Path: path, Container: container}
	client, err := agent.FindImage(path)
	switch {
	case err == nil && client.Entry().Raw: // nobody here knows what is in it
	case err == nil:
		if document.FileSystem, err = client.Operations(path).FileSystem(c.Context()); err != nil {
			return err
		}
	case !errors.Is(err, agent.ErrNotUnlocked):
		return err
	case f.credential.given() || target.Format == session.FormatRaw:
		credential, err := a.credentialFor(c.Context(), target, &f.credential, question{object: path})
		if err != nil {
			return err
		}
		defer credential.Destroy()
		opened, err := session.Open(c.Context(), target, session.OpenOptions{ReadOnly: true}, credential)
		if err != nil {
			return err
		}
		defer opened.Close()
		if document.FileSystem, err = opened.FileSystem(c.Context()); err != nil {
			return err
		}
	}
	a.showInfo(document)
	return a.out.document(document)
}

// field prints one aligned line of a description, unless the value is empty.
func (a *program) field(name, format string, values ...any) {
	if value := fmt.Sprintf(format, values...); value != "" {
		a.out.say("%-14s %s", name+":", escape(value))
	}
}

func (a *program) showInfo(d infoDocument) {
	i := d.Container
	a.field("file", "%s", d.Path)
	a.field("format", "%s", i.Format)
	a.field("cipher", "%s", i.Cipher)
	a.field("engine", "%s", i.Engine)
	a.field("uuid", "%s", i.UUID)
	a.field("label", "%s", i.Label)
	a.field("header", "%s", headerState(i.HeaderState))
	a.field("sector", "%d bytes", i.SectorSizeBytes)
	a.field("file size", "%s (%d bytes)", formatSize(i.ImageBytes), i.ImageBytes)
	a.field("payload", "%s (%d bytes) from offset %d", formatSize(i.UsableBytes), i.UsableBytes, i.PayloadOffset)
	for _, slot := range i.Slots {
		a.field(fmt.Sprintf("key slot %d", slot.Number), "%s", slot.Describe())
	}
	for _, warning := range i.Warnings {
		a.field("warning", "%s", warning)
	}
	if fs := d.FileSystem; fs != nil {
		a.field("file system", "%s, label %s, serial %08X", fs.Type, quoteLabel(fs.Label), fs.SerialNumber)
		a.field("clusters", "%d of %s", fs.Clusters, formatSize(int64(fs.ClusterSizeBytes)))
		a.field("free", "%s of %s", formatSize(fs.FreeBytes), formatSize(fs.TotalBytes))
		if fs.Dirty {
			a.field("state", "not closed cleanly; see coffer check")
		}
	}
}

func quoteLabel(label string) string {
	if strings.TrimSpace(label) == "" {
		return "none"
	}
	return `"` + label + `"`
}

// headerState is the state of the two header copies in words; "" for formats without.
func headerState(copies []string) string {
	for _, state := range copies {
		if state != "good" {
			return "first copy " + strings.Join(copies, ", second copy ")
		}
	}
	if len(copies) == 2 {
		return "both copies good"
	}
	return strings.Join(copies, ", ")
}
