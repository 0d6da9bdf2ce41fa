package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"coffer/app/session"
	"coffer/container/secret"
)

// createFlags are what a person says about a new container.
type createFlags struct {
	request    session.CreateRequest
	container  containerFlags
	labelStdin bool
}

func (a *program) createCommand() *cobra.Command {
	f := &createFlags{}
	c := &cobra.Command{
		Use:     "create IMAGE (--size SIZE | --usable SIZE | --from DIR)",
		GroupID: groupContainer,
		Short:   "Make a new container with an empty FAT volume",
		Long: "Makes a new container. It never overwrites anything, and a create that fails leaves no file.\n" +
			"--size is the size of the file, --usable what is left for files. --from sizes it to a folder and fills it.\n" +
			"The label will be inside; with --label-stdin no other user of the computer sees it among the arguments.",
		Example: "  coffer create photos.img --size 2GiB\n  coffer create backup.img --from ~/Documents\n" +
			"  coffer create plain.img --size 64MiB --format raw",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.create(c, f, args[0]) },
	}
	flags := c.Flags()
	f.container.register(flags)
	flags.Var(sizeFlag{&f.request.SizeBytes}, "size", "size of the container file: KiB MiB GiB, KB MB GB, or bytes")
	flags.Var(sizeFlag{&f.request.UsableBytes}, "usable", "bytes usable for files and the FAT")
	flags.StringVar(&f.request.From, "from", "", "size the container to this folder and copy it in")
	flags.StringVar(&f.request.Cipher, "cipher", "", "aes-256-xts (default) or aes-128-xts")
	flags.StringVar(&f.request.Label, "label", "", "volume label, at most 11 characters")
	flags.BoolVar(&f.labelStdin, "label-stdin", false, "read the label from standard input, unseen by others (the line after the password with --password-stdin, else the first)")
	flags.Var(sizeFlag{&f.request.ClusterSizeBytes}, "cluster-size", "bytes of a FAT cluster, a power of two from 512 B to 64 KiB (default: by volume size)")
	flags.Var(sizeFlag{&f.request.SectorSizeBytes}, "sector-size", "bytes encrypted under one tweak and of a FAT sector: 512, 1024, 2048 or 4096 (default 4096, 512 below 272 MiB)")
	flags.BoolVar(&f.request.Preallocate, "preallocate", false, "take the whole space on the host now")
	registerKDF(flags, &f.request.KDF)
	return c
}

// create makes the container, and fills it when asked to.
func (a *program) create(c *cobra.Command, f *createFlags, path string) error {
	given := 0
	for _, name := range []string{"size", "usable", "from"} {
		if c.Flags().Changed(name) {
			given++
		}
	}
	if given == 0 {
		return usagef("create: say how big: --size 2GiB, --usable 2GiB or --from FOLDER")
	}
	if c.Flags().Changed("size") && c.Flags().Changed("usable") {
		return usagef("create: only one of --size and --usable can be given")
	}
	for name, sizeBytes := range map[string]int64{"size": f.request.SizeBytes, "usable": f.request.UsableBytes} {
		if c.Flags().Changed(name) && sizeBytes == 0 {
			return usagef("create: --%s 0: a container needs some room", name)
		}
	}
	if c.Flags().Changed("label") && f.labelStdin {
		return usagef("create: only one of --label and --label-stdin can be given")
	}
	target, err := f.container.target.target(path)
	if err != nil {
		return err
	}
	f.request.Target = target
	a.completeKDF(&f.request.KDF)
	if err := session.CheckCreate(f.request); err != nil {
		return err
	}
	credential, err := a.credentialAndLabel(c.Context(), f, path)
	if err != nil {
		return err
	}
	defer credential.Destroy()
	progress := a.startProgress()
	defer progress.close()
	var remarks remarks
	f.request.Report = remarks.besides(progress.event)
	f.request.Records, f.request.Program = a.recordsFolder(), "coffer "+programVersion()
	created, err := session.Create(c.Context(), f.request, credential)
	progress.close()
	if err != nil {
		return err
	}
	if f.request.From != "" {
		created.Notes = a.showRemarks(&remarks)
	}
	if asked := f.request.SizeBytes; created.ImageBytes < asked {
		a.note(fmt.Sprintf("--size %d was rounded down to %d bytes, whole sectors", asked, created.ImageBytes))
	}
	return a.showCreated(created)
}

// credentialAndLabel reads what opens the new container and, if it comes from standard input, the label, in the order of
// their lines. The caller destroys the credential.
func (a *program) credentialAndLabel(ctx context.Context, f *createFlags, path string) (credential session.Credential, err error) {
	from := &f.container.credential
	read := func() error {
		credential, err = a.credentialFor(ctx, f.request.Target, from, question{object: path, isNew: true})
		return err
	}
	steps := []func() error{read}
	if f.labelStdin {
		label := func() error { return a.readLabel(ctx, &f.request) }
		if from.passwordStdin || from.passwordFD == 0 {
			steps = []func() error{read, label}
		} else { // before anybody is asked for a password
			steps = []func() error{label, read}
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			credential.Destroy()
			return credential, err
		}
	}
	return credential, nil
}

// maxLabelLine bounds the line of a label; what fits is decided later.
const maxLabelLine = 1024

// readLabel reads the label from standard input.
func (a *program) readLabel(ctx context.Context, r *session.CreateRequest) error {
	line, err := readSecret(ctx, func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil }, func(from io.Reader) (*secret.Buffer, error) {
		return secret.ReadLine(from, maxLabelLine)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), err == nil && line.Len() == 0:
		line.Destroy()
		return usagef("create: --label-stdin: there is no label on standard input")
	case err != nil:
		return &session.Error{What: "read the label from standard input", Err: err}
	}
	defer line.Destroy()
	r.Label = string(line.Bytes())
	return session.CheckCreate(*r)
}

// showCreated prints what was made.
func (a *program) showCreated(created *session.Created) error {
	a.out.say("created %s: %s, %s", escape(created.Path), formatSize(created.ImageBytes), created.Format)
	a.out.say("usable: %s (%d bytes) in %s, clusters of %s", formatSize(created.FreeBytes), created.FreeBytes, created.FileSystem,
		formatSize(int64(created.ClusterSizeBytes)))
	if created.Record != nil {
		a.listProblems(created.Record)
		a.out.say("%s", escape(session.RecordLine(created.Record)))
	}
	if err := a.out.document(created); err != nil {
		return err
	}
	return session.RecordError(created.Record)
}
