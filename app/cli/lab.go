package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"coffer/app/session"
)

// labFlags are the choices of an experiment.
type labFlags struct {
	request session.LabRequest
	report  string
	only    []string
	formats []string
	via     string
	drive   session.LabDriveRequest
	size    string
}

func (a *program) labCommand() *cobra.Command {
	return a.group("lab", groupProgram, "Measure on this computer what encryption costs: copy, ciphers, drive, all",
		"  coffer lab all --quick\n  coffer lab copy --report copy.html\n  coffer lab drive ~/photos",
		a.labCopyCommand(), a.labCiphersCommand(), a.labDriveCommand(), a.labAllCommand())
}

// register adds the flags of all experiments.
func (f *labFlags) register(c *cobra.Command, at bool) {
	flags := c.Flags()
	flags.BoolVar(&f.request.Quick, "quick", false, "smaller and fewer: about a minute")
	flags.IntVar(&f.request.Rounds, "rounds", 0, "how often everything is measured (0: as many as the experiment needs)")
	flags.BoolVar(&f.request.Warm, "warm", false, "leave the caches of the system alone: what was read before is read from memory")
	flags.StringVar(&f.report, "report", "", "also write the report to this file; its extension says how: "+session.ReportExtensions())
	flags.Float64Var(&f.request.Scale, "scale", 0, "sizes, as a part of the usual ones")
	_ = flags.MarkHidden("scale") // figures of other sizes cannot be compared with anybody's
	if at {
		flags.StringVar(&f.request.At, "at", ".", "folder on the disk to measure; a temporary folder in it is removed at the end")
	}
}

func (a *program) labCopyCommand() *cobra.Command {
	f := &labFlags{}
	c := &cobra.Command{
		Use:   "copy [FOLDER]",
		Short: "Copies: plain to plain, plain to encrypted, encrypted to plain",
		Long: "Copies [a] one large file and [b] a photo archive, or your own FOLDER, from plain to plain, into a FAT volume without\n" +
			"encryption, into containers, and back out, in rounds. So you see what encryption costs, and what the file system costs.\n" +
			"Everything, also a plain copy of your FOLDER, lies in a temporary folder at --at, which is removed at the end and when\n" +
			"you press Ctrl-C. A full run copies about 40 GB and takes a few minutes on a fast disk.",
		Example: "  coffer lab copy --quick\n  coffer lab copy ~/Pictures --at /mnt/disk --report copy.html\n  coffer lab copy --only a --via mount --rounds 11",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(a); err != nil {
				return err
			}
			request, err := f.copyRequest(a, args)
			if err != nil {
				return err
			}
			return a.runLab(f, func() (*session.Experiment, error) {
				request.LabRequest = f.request
				return session.LabCopy(c.Context(), request)
			})
		},
	}
	f.register(c, true)
	c.Flags().StringSliceVar(&f.only, "only", nil, "only workload a (one large file) or b (a photo archive)")
	c.Flags().StringSliceVar(&f.formats, "format", []string{session.FormatLUKS2}, "container formats; raw, without encryption, is always measured")
	c.Flags().StringVar(&f.via, "via", "direct", "path of the copies: direct (through this program) or mount (through drives)")
	return c
}

// copyRequest understands the flags of the copy experiment.
func (f *labFlags) copyRequest(a *program, args []string) (session.LabCopyRequest, error) {
	r := session.LabCopyRequest{LabRequest: f.request, Only: f.only, Formats: f.formats}
	if len(args) > 0 {
		r.Folder = args[0]
		if f.only != nil {
			return r, usagef("lab copy: --only chooses among the files made for it, not in a folder of your own")
		}
	}
	for _, name := range f.only {
		if name != "a" && name != "b" {
			return r, usagef("lab copy: --only %s: there are a and b", name)
		}
	}
	for _, format := range f.formats {
		target := targetFlags{format: format}
		if _, err := target.target(""); err != nil {
			return r, err
		}
		if format == session.FormatAuto {
			return r, usagef("lab copy: --format %s: name the formats to compare", format)
		}
	}
	switch f.via {
	case "direct":
	case "mount":
		mounter, err := a.labMounter()
		if err != nil {
			return r, err
		}
		r.Mounter = mounter
	default:
		return r, usagef("--via %s: it is direct or mount", f.via)
	}
	return r, nil
}

func (a *program) labCiphersCommand() *cobra.Command {
	f := &labFlags{}
	c := &cobra.Command{
		Use:   "ciphers",
		Short: "Every cipher with every authentication, in memory and through a file",
		Long: "Measures ciphers (the null cipher among them) with and without authentication, by sector size, from zeros and from\n" +
			"random data, in memory and through an image file, with one core and with all.",
		Example: "  coffer lab ciphers --quick\n  coffer lab ciphers --at /mnt/disk --report ciphers.html",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(a); err != nil {
				return err
			}
			return a.runLab(f, func() (*session.Experiment, error) { return session.LabCiphers(c.Context(), f.request) })
		},
	}
	f.register(c, true)
	return c
}

// check validates the flags and completes the request.
func (f *labFlags) check(a *program) error {
	if r := f.request.Rounds; r < 0 || r > 1000 {
		return usagef("--rounds %d: it is 1 to 1000", r)
	}
	if s := f.request.Scale; s < 0 || s > 1000 {
		return usagef("--scale %g: it is up to 1000", s)
	}
	f.request.Program = "coffer " + programVersion()
	if f.report == "" {
		return nil
	}
	if err := session.CheckReportFile(f.report); err != nil {
		return err
	}
	return notThere(f.report)
}

// notThere refuses a report file that exists.
func notThere(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return &session.Error{What: "write report " + path, Err: errors.New("the file exists already")}
	}
	return nil
}

// measured runs one experiment behind a progress bar and keeps it among the records.
func (a *program) measured(f *labFlags, run func() (*session.Experiment, error)) (*session.Experiment, error) {
	// Whatever is made for an experiment is removed before the process ends, so that a second Ctrl-C must wait for it.
	a.patient()
	progress := a.startProgress()
	defer progress.close()
	f.request.Report = progress.event
	experiment, err := run()
	progress.close()
	if err != nil {
		return nil, err
	}
	if folder := a.recordsFolder(); folder != "" {
		if err := session.KeepExperiment(folder, experiment); err != nil {
			a.warn(err.Error())
		}
	}
	return experiment, nil
}

// runLab runs one experiment and shows it.
func (a *program) runLab(f *labFlags, run func() (*session.Experiment, error)) error {
	experiment, err := a.measured(f, run)
	if err != nil {
		return err
	}
	return errors.Join(a.writeLab(f.report, experiment), a.experimentShow(experiment))
}

// writeLab writes the report file, if one is asked for.
func (a *program) writeLab(to string, experiment *session.Experiment) error {
	if to == "" {
		return nil
	}
	if err := session.ExportExperiment(to, experiment); err != nil {
		return err
	}
	a.note("wrote " + to)
	return nil
}

func (a *program) labAllCommand() *cobra.Command {
	f := &labFlags{}
	c := &cobra.Command{
		Use:   "all",
		Short: "All experiments, one after the other",
		Long: "Makes the experiments copy, ciphers and drive on the disk of --at. A report FILE.html becomes three: FILE-copy.html,\n" +
			"FILE-ciphers.html, FILE-drive.html.",
		Example: "  coffer lab all --quick\n  coffer lab all --at /mnt/disk --report disk.html",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, args []string) error { return a.labAll(c.Context(), f) },
	}
	f.register(c, true)
	return c
}

// labAll makes all experiments; one that fails ends it, those before are kept.
func (a *program) labAll(ctx context.Context, f *labFlags) error {
	if err := f.check(a); err != nil {
		return err
	}
	steps := []struct {
		name string
		run  func() (*session.Experiment, error)
	}{
		{"copy", func() (*session.Experiment, error) {
			return session.LabCopy(ctx, session.LabCopyRequest{LabRequest: f.request})
		}},
		{"ciphers", func() (*session.Experiment, error) { return session.LabCiphers(ctx, f.request) }},
		{"drive", func() (*session.Experiment, error) {
			return session.LabDriveFolder(ctx, session.LabDriveRequest{LabRequest: f.request, Folder: f.request.At})
		}},
	}
	files := make([]string, len(steps))
	for i, step := range steps {
		if files[i] = reportOf(f.report, step.name); files[i] != "" {
			if err := notThere(files[i]); err != nil {
				return err
			}
		}
	}
	var all []*session.Experiment
	for i, step := range steps {
		experiment, err := a.measured(f, step.run)
		if err != nil {
			return err
		}
		all = append(all, experiment)
		if err := a.writeLab(files[i], experiment); err != nil {
			return err
		}
		if !a.out.json {
			if err := a.experimentShow(experiment); err != nil {
				return err
			}
			if i+1 < len(steps) {
				a.out.say("")
			}
		}
	}
	return a.out.document(map[string]any{"experiments": all})
}

// reportOf is the report file of one of several experiments: "disk.html" of copy is "disk-copy.html".
func reportOf(to, name string) string {
	if to == "" {
		return ""
	}
	extension := filepath.Ext(to)
	return strings.TrimSuffix(to, extension) + "-" + name + extension
}

func (a *program) labDriveCommand() *cobra.Command {
	f := &labFlags{}
	c := &cobra.Command{
		Use:   "drive DIR",
		Short: "What a drive or folder can do: sequential, seeks, many files",
		Long: "Measures any folder, on a drive of Coffer's, of another program, or on a plain disk: writing, rewriting and reading one\n" +
			"large file, seeks, and making, looking at and deleting many files, with the columns of bonnie++. With --plain another\n" +
			"folder is measured in turn with it, and every figure has its ratio to that one. Nothing stays in the folder.",
		Example: "  coffer lab drive ~/photos --plain ~/tmp\n  coffer lab drive /mnt/disk --size 32GiB --files 100000 --report drive.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(a); err != nil {
				return err
			}
			request, err := f.driveRequest(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.runLab(f, func() (*session.Experiment, error) {
				request.LabRequest = f.request
				return session.LabDriveFolder(c.Context(), request)
			})
		},
	}
	f.register(c, false)
	c.Flags().StringVar(&f.drive.Plain, "plain", "", "a folder to compare with, measured in turn")
	c.Flags().StringVar(&f.size, "size", "", "size of the large file (default 1GiB, with --quick 128MiB)")
	c.Flags().IntVar(&f.drive.Files, "files", 0, "how many small files (default 16384, with --quick 1024)")
	return c
}

// driveRequest understands the flags of the drive experiment.
func (f *labFlags) driveRequest(ctx context.Context, folder string) (session.LabDriveRequest, error) {
	r := f.drive
	r.Folder = folder
	if f.size != "" {
		size, err := parseSize(f.size)
		if err != nil {
			return r, usagef("--size: %w", err)
		}
		if size < 1<<20 {
			return r, usagef("--size %s: it is at least 1MiB", f.size)
		}
		r.SizeBytes = size
	}
	if r.Files < 0 || r.Files > 10_000_000 {
		return r, usagef("--files %d: it is up to 10000000", r.Files)
	}
	r.Serving = servingCPU(ctx, folder)
	return r, nil
}
