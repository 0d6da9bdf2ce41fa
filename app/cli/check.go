package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coffer/app/session"
)

func (a *program) checkCommand() *cobra.Command {
	f, request := &containerFlags{}, session.CheckRequest{}
	c := &cobra.Command{
		Use:     "check IMAGE",
		GroupID: groupContainer,
		Short:   "Check the file system inside; repair it; salvage what can be read",
		Long: "Checks the file system inside. Without --repair nothing is written. --salvage copies everything that can still be\n" +
			"read into a folder, whatever the state of the file system.",
		Example: "  coffer check photos.img\n  coffer check photos.img --repair\n  coffer check photos.img --salvage rescued",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.check(c, f, request, args[0]) },
	}
	c.Flags().BoolVar(&request.Repair, "repair", false, "mend what is found")
	c.Flags().StringVar(&request.SalvageTo, "salvage", "", "copy out what can be read into this new or empty folder")
	f.register(c.Flags())
	return c
}

// checkDocument is the JSON of `check`.
type checkDocument struct {
	Check   *session.CheckResult   `json:"check,omitempty"`
	Salvage *session.SalvageResult `json:"salvage,omitempty"`
}

func (a *program) check(c *cobra.Command, f *containerFlags, request session.CheckRequest, image string) (err error) {
	if request.Repair && request.SalvageTo != "" {
		return usagef("check: --repair and --salvage are two commands; salvage first")
	}
	device, err := a.openDevice(c, f, image, !request.Repair)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	progress := a.startProgress()
	defer progress.close()
	var remarks remarks
	defer func() { a.showNotes(&remarks) }()
	request.Report = remarks.besides(progress.event)
	if request.SalvageTo != "" {
		result, err := device.Salvage(c.Context(), request)
		progress.close()
		return a.showSalvage(request, result, err)
	}
	result, err := device.Check(c.Context(), request)
	progress.close()
	if err != nil {
		return err
	}
	return a.showCheck(image, request.Repair, result)
}

func (a *program) showCheck(image string, repairing bool, r *session.CheckResult) error {
	fixed := 0
	for _, finding := range r.Findings {
		state := ""
		if finding.Fixed {
			state, fixed = " (repaired)", fixed+1
		}
		place := ""
		if finding.Path != "" {
			place = escape(finding.Path) + ": "
		}
		a.out.say("%s: %s%s%s", finding.Code, place, escape(finding.Detail), state)
	}
	a.out.say("%s, %s; clusters: %d used, %d free, %d bad, %d lost", count(r.Files, "file"), count(r.Folders, "folder"), r.ClustersUsed, r.ClustersFree,
		r.ClustersBad, r.ClustersLost)
	switch {
	case r.Clean:
		a.out.say("%s is clean", escape(image))
	case r.Sound:
		a.out.say("%s: %s, all repaired", escape(image), count(int64(fixed), "finding"))
	}
	if err := a.out.document(checkDocument{Check: r}); err != nil {
		return err
	}
	if r.Sound {
		return nil
	}
	problem := &session.Error{What: "check " + image, Err: fmt.Errorf("%s, %d of them repaired", count(int64(len(r.Findings)+r.Omitted), "finding"), fixed), Code: session.Damaged}
	switch {
	case !repairing && r.Traces == session.TracesNotClosed:
		problem.Hint = "nothing is damaged: it was not locked properly, and is in order after it was unlocked and locked again"
	case !repairing && r.Traces == session.TracesInterrupted:
		problem.Hint = "no finished file is damaged: what an interruption left behind is cleared up when it is unlocked next"
	case repairing:
		problem.Hint = "`coffer check --salvage FOLDER` saves what can be read"
	case fixed == 0:
		problem.Hint = "save what you can with `coffer check --salvage FOLDER`, then run `coffer check --repair`"
	}
	return problem
}

func (a *program) showSalvage(request session.CheckRequest, r *session.SalvageResult, err error) error {
	if r == nil {
		return err
	}
	for _, problem := range r.Problems {
		a.out.say("%s: %s: %s", problem.Code, escape(problem.Path), escape(problem.Detail))
	}
	a.out.say("salvaged %s (%d of them without a name) and %s, %s, into %s", count(r.Files, "file"), r.LostChains, count(r.Folders, "folder"),
		formatSize(r.Bytes), escape(request.SalvageTo))
	if documentErr := a.out.document(checkDocument{Salvage: r}); documentErr != nil {
		return documentErr
	}
	if err == nil && len(r.Problems) > 0 {
		return &session.Error{What: "salvage", Err: errors.New(notWhole(len(r.Problems) + r.Omitted)), Code: session.Partly}
	}
	return err
}

// notWhole counts what a salvage could not save whole.
func notWhole(n int) string {
	if n == 1 {
		return "1 file or folder is not whole"
	}
	return fmt.Sprintf("%d files or folders are not whole", n)
}
