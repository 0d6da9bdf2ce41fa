package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"coffer/app/session"
)

func (a *program) dumpCommand() *cobra.Command {
	f := &containerFlags{}
	c := &cobra.Command{
		Use:     "dump IMAGE FILE",
		GroupID: groupContainer,
		Short:   "Write the whole decrypted payload as bytes",
		Long: "Writes the decrypted payload, a bare FAT volume, to a new file, or to stdout for `-`. What it writes is NOT\n" +
			"encrypted.",
		Example: "  coffer dump photos.img photos.fat\n  coffer dump photos.img - | sha256sum",
		Args:    cobra.ExactArgs(2),
		RunE:    func(c *cobra.Command, args []string) error { return a.dump(c, f, args[0], args[1]) },
	}
	f.register(c.Flags())
	return c
}

func (a *program) dump(c *cobra.Command, f *containerFlags, image, to string) (err error) {
	if to == "-" && a.out.json {
		return usagef("dump: with `-` stdout carries the payload, so there is no room for --json")
	}
	device, err := a.openDevice(c, f, image, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	progress := a.startProgress()
	defer progress.close()
	var remarks remarks
	defer func() { a.showNotes(&remarks) }()
	if to == "-" {
		return device.Dump(c.Context(), &a.out, remarks.besides(progress.event))
	}
	written, err := device.DumpFile(c.Context(), to, remarks.besides(progress.event))
	progress.close()
	if err != nil {
		return err
	}
	a.out.chat("wrote %s: %s, not encrypted", escape(to), formatSize(written))
	return a.out.document(map[string]any{"file": to, "bytes": written})
}

// openDevice opens the decrypted payload of image without looking at the file system in it; that of an unlocked container
// is reached through its agent.
func (a *program) openDevice(c *cobra.Command, f *containerFlags, image string, readOnly bool) (session.Payload, error) {
	target, err := f.target.target(image)
	if err != nil {
		return nil, err
	}
	if client, err := unlocked(image); err != nil {
		return nil, err
	} else if client != nil {
		return client, nil
	}
	if err := session.CheckTarget(target); err != nil {
		return nil, err
	}
	credential, err := a.credentialFor(c.Context(), target, &f.credential, question{object: image})
	if err != nil {
		return nil, err
	}
	defer credential.Destroy()
	return session.OpenDevice(c.Context(), target, readOnly, credential)
}
