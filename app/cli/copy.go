package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/config"
	"coffer/app/session"
)

// copyFlags are the choices of one copy.
type copyFlags struct {
	container containerFlags  // the container; of two, the one copied into
	from      credentialFlags // with two containers: the one copied from
	fromTo    targetFlags
	request   session.CopyRequest
	window    time.Duration
	via       string
	report    string
}

func (a *program) copyCommand() *cobra.Command {
	f := &copyFlags{}
	c := &cobra.Command{
		Use:     "copy SRC... DST",
		Aliases: []string{"cp"},
		GroupID: groupFiles,
		Short:   "Copy files in, out, or between containers, and record how fast",
		Long: "Copies files and folders (with all that is in them). A DST that is a folder, or ends in /, receives the sources by\n" +
			"name; otherwise it is the new name of the one source. Everything that cannot work is found before the first byte\n" +
			"is written. No file ever stands under its final name with less than all of its bytes.",
		Example: "  coffer copy ~/Pictures photos.img:/ --verify\n  coffer copy photos.img:/Pictures restored --window 500ms\n" +
			"  coffer copy old.img:/ new.img:/ --from-password-file old.txt --password-file new.txt\n" +
			"  coffer copy film.mkv photos.img:/ --split",
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return a.copy(c, f, args) },
	}
	flags := c.Flags()
	f.container.register(flags)
	f.fromTo.register(flags, "from-")
	f.from.register(flags, "from-", "the container copied from")
	flags.BoolVar(&f.request.Verify, "verify", false, "read every file again past the caches and compare its SHA-256")
	flags.BoolVar(&f.request.Resume, "resume", false, "go on where an interrupted copy stopped")
	flags.BoolVar(&f.request.Move, "move", false, "remove each source once its copy is durable")
	flags.BoolVar(&f.request.Split, "split", false, "cut files over 4 GiB - 1 into parts; on the way out, join them")
	flags.BoolVarP(&f.request.Force, "force", "f", false, "replace existing files")
	flags.StringVar(&f.request.Label, "label", "", "your own text in the record")
	flags.StringVar(&f.via, "via", "direct", "path taken: direct (through this program), or mount (through the drives of unlocked containers, as any program goes)")
	flags.DurationVar(&f.window, "window", time.Second, "length of one rate window, a multiple of 10ms")
	flags.StringVar(&f.report, "report", "", "also write the record, with the names of failed files, to this file ("+session.ReportExtensions()+")")
	return c
}

// copyPlan is a copy command understood: which containers take part.
type copyPlan struct {
	sources     []session.Place
	destination session.Place
	fromImage   string // "" when the sources are on the host
}

// planCopy reads the arguments. All sources are on one side.
func planCopy(args []string) (copyPlan, error) {
	var plan copyPlan
	for i, argument := range args {
		place, err := session.ParsePlace(argument)
		if err != nil {
			return plan, placeError("copy", err)
		}
		if i == len(args)-1 {
			plan.destination = place
			break
		}
		if i > 0 && place.Image != plan.fromImage {
			return plan, usagef("copy: the sources %s and %s are not in the same place; copy in and out are two commands", args[0], argument)
		}
		plan.fromImage = place.Image
		plan.sources = append(plan.sources, place)
	}
	return plan, nil
}

// check validates the flags and completes the request.
func (f *copyFlags) check(a *program, changed func(string) bool) error {
	switch f.via {
	case "direct":
	case "mount":
		if f.container.credential.given() || f.from.given() {
			return usagef("copy: --via mount goes through drives of unlocked containers, which take no password")
		}
	default:
		return usagef("--via %s: it is direct or mount", f.via)
	}
	f.request.Window = f.window
	if !changed("window") {
		f.request.Window = time.Duration(a.settings.Window)
	}
	if err := config.CheckWindow(f.request.Window); err != nil {
		return usagef("--window: %w", err)
	}
	if a.settings.Verify && !changed("verify") {
		f.request.Verify = true
	}
	if f.report != "" {
		if err := session.CheckReportFile(f.report); err != nil {
			return err
		}
		if _, err := os.Lstat(f.report); err == nil {
			return &session.Error{What: "write report " + f.report, Err: errors.New("the file exists already")}
		}
	}
	return nil
}

func (a *program) copy(c *cobra.Command, f *copyFlags, args []string) (err error) {
	plan, err := planCopy(args)
	if err != nil {
		return err
	}
	if err := f.check(a, c.Flags().Changed); err != nil {
		return err
	}
	f.request.Sources, f.request.Destination = plan.sources, plan.destination
	if err := session.CheckHostPlaces(f.request); err != nil {
		return err
	}
	closing := func(s session.Files) {
		if s != nil {
			err = withClose(err, s.Close())
		}
	}
	from, to, err := session.Files(nil), session.Files(nil), error(nil)
	if f.via == "mount" {
		f.request.Drives, err = copyDrives(c.Context(), plan)
	} else {
		from, to, err = a.openBoth(c, f, plan)
	}
	if to != from {
		defer closing(to)
	}
	defer closing(from)
	if err != nil {
		return err
	}
	progress := a.startProgress()
	defer progress.close()
	var remarks remarks
	f.request.Report, f.request.Records, f.request.Program = remarks.besides(progress.event), a.recordsFolder(), "coffer "+programVersion()
	record, err := agent.Copy(c.Context(), from, to, f.request)
	progress.close()
	return a.showCopy(f, record, a.showRemarks(&remarks), err)
}

// copyDrives finds the drives of the containers of a copy, all of which must be unlocked.
func copyDrives(ctx context.Context, plan copyPlan) (map[string]*session.Drive, error) {
	drives := map[string]*session.Drive{}
	for _, image := range []string{plan.fromImage, plan.destination.Image} {
		if image == "" {
			continue
		}
		client, err := agent.FindImage(image)
		refusal := &session.Error{What: "copy through the drive of " + image, Code: session.NoMount, Hint: "`coffer unlock " + image + "` first, or leave out --via mount"}
		switch {
		case agent.IsNotUnlocked(err):
			refusal.Err = agent.ErrNotUnlocked
			return nil, refusal
		case err != nil:
			return nil, err
		case client.Entry().MountPoint == "" || client.Entry().Raw:
			refusal.Err = errors.New("it is unlocked without a drive for files")
			return nil, refusal
		}
		d := &session.Drive{Point: client.Entry().MountPoint, Timed: &labDrive{client.Entry()}}
		if d.Container, err = session.Inspect(session.Target{Path: image, Format: session.FormatAuto}); err != nil {
			d.Container = nil // a bare FAT volume
		}
		if d.FileSystem, err = client.Operations(image).FileSystem(ctx); err != nil {
			return nil, err
		}
		drives[image] = d
	}
	if len(drives) == 0 {
		return nil, usagef("copy: --via mount needs a container on one side")
	}
	return drives, nil
}

// openBoth opens the containers of a copy: none, one, or two. One container on both sides is opened once.
func (a *program) openBoth(c *cobra.Command, f *copyFlags, plan copyPlan) (from, to session.Files, err error) {
	into := plan.destination.Image
	if plan.fromImage != "" && into != "" && session.SameFile(plan.fromImage, into) {
		to, err = a.open(c, &f.container, into, false)
		return to, to, err
	}
	if into != "" {
		if to, err = a.open(c, &f.container, into, false); err != nil {
			return nil, nil, err
		}
	}
	if plan.fromImage != "" {
		flags := &f.container
		if into != "" || f.from.given() || f.fromTo.format != session.FormatAuto {
			flags = &containerFlags{target: f.fromTo, credential: f.from}
		}
		if from, err = a.open(c, flags, plan.fromImage, !f.request.Move); err != nil {
			return nil, to, err
		}
	}
	return from, to, nil
}

// showCopy prints the record, also of a copy that failed on the way.
func (a *program) showCopy(f *copyFlags, record *session.Record, notes []string, err error) error {
	if record == nil {
		return err
	}
	a.listProblems(record)
	if err == nil || record.Bytes > 0 || record.Files > 0 { // a copy that never began has no rates
		a.out.chat("%s", copied(record))
		a.out.say("%s", session.RecordLine(record))
	}
	if f.report != "" {
		err = errors.Join(err, session.WriteReport(f.report, record))
	}
	if err == nil {
		err = session.RecordError(record)
	}
	return errors.Join(err, a.out.document(session.RecordWithProblems(record, notes)))
}

// listProblems names on stderr what failed or was left out; with --json the document does.
func (a *program) listProblems(record *session.Record) {
	if a.out.json {
		return
	}
	for _, problem := range record.Problems {
		kind := "skipped"
		if problem.Failed {
			kind = "failed"
		}
		fmt.Fprintf(a.stderr, "%s: %s: %s (%s)\n", kind, escape(problem.Name), escape(problem.Detail), problem.Reason)
	}
	if record.ProblemsDropped > 0 {
		fmt.Fprintf(a.stderr, "... and %d more\n", record.ProblemsDropped)
	}
}

// copied is what a copy moved, in words.
func copied(r *session.Record) string {
	text := fmt.Sprintf("%s, %s, %s", count(r.Files, "file"), count(r.Directories, "folder"), formatSize(r.Bytes))
	if there := session.ThereAlready(r); there > 0 {
		text += fmt.Sprintf("; there already: %s", count(there, "file"))
	}
	if r.FailedBytes > 0 {
		text += fmt.Sprintf("; %s of copies that were given up", formatSize(r.FailedBytes))
	}
	if r.Verified > 0 {
		text += fmt.Sprintf("; verified %d", r.Verified)
	}
	if r.Moved > 0 {
		text += fmt.Sprintf("; moved %d", r.Moved)
	}
	return text
}
