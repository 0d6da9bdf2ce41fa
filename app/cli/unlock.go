package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/config"
	"coffer/app/session"
)

// unlockFlags are the choices of one unlock.
type unlockFlags struct {
	container  containerFlags
	settings   agent.Settings
	foreground bool
	idle       time.Duration
	lifetime   time.Duration
	lockOn     string
	lockForce  bool
	litter     string
}

func (a *program) unlockCommand() *cobra.Command {
	f := &unlockFlags{}
	c := &cobra.Command{
		Use:     "unlock IMAGE [MOUNTPOINT]",
		Aliases: []string{"mount"},
		GroupID: groupDrive,
		Short:   "Unlock a container and make it a drive",
		Long: "Unlocks a container and makes it a drive that programs use like any other: at MOUNTPOINT, else at the next free drive\n" +
			"letter (Windows) or in a folder of your own (prints which). A process in the background holds the key until `coffer lock`;\n" +
			"closing the terminal changes nothing. A wrong password takes as long to refuse as a right one takes to unlock.",
		Example: "  coffer unlock photos.img\n  coffer unlock photos.img ~/photos --idle 10m\n  coffer unlock photos.img --read-only --password-stdin < password.txt",
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(c *cobra.Command, args []string) error { return a.unlock(c, f, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.settings.ReadOnly, "read-only", false, "nothing can be written")
	flags.BoolVar(&f.foreground, "foreground", false, "stay in this process until locked; Ctrl-C locks")
	flags.DurationVar(&f.idle, "idle", 0, "lock after so long without use, for example 10m (0: never)")
	flags.DurationVar(&f.lifetime, "lifetime", 0, "lock after so long whatever happens, for example 8h (0: never)")
	flags.StringVar(&f.lockOn, "lock-on", "suspend", "lock before the computer sleeps (suspend), when the screen is locked (screen), both, or none")
	flags.BoolVar(&f.lockForce, "lock-force", false, "lock on these events even if programs use the drive, which else is only flushed")
	flags.StringVar(&f.litter, "litter", config.Defaults().Litter, "files systems strew about (Thumbs.db, .DS_Store, trash): memory (gone when locked) or keep")
	flags.BoolVar(&f.settings.NoMount, "no-mount", false, "no drive: only `coffer ls`, `copy` and the like reach the files")
	flags.BoolVar(&f.settings.Raw, "raw", false, "the drive holds one file, the decrypted device, for other file systems")
	flags.BoolVar(&f.settings.AllowOther, "allow-other", false, "other users of this computer may use the drive, with all rights (give a MOUNTPOINT they can reach)")
	f.container.register(flags)
	return c
}

// choose takes from the settings file what no flag says.
func (f *unlockFlags) choose(changed func(string) bool, s config.Settings) {
	if !changed("idle") {
		f.idle = time.Duration(s.Idle)
	}
	if !changed("lifetime") {
		f.lifetime = time.Duration(s.Lifetime)
	}
	if !changed("lock-on") {
		f.lockOn = s.LockOn
	}
	if !changed("lock-force") {
		f.lockForce = s.LockForce
	}
	if !changed("litter") {
		f.litter = s.Litter
	}
	f.settings.Drives = s.Drives
}

// checkLocking validates how the drive locks by itself, and where litter goes.
func (f *unlockFlags) checkLocking() (err error) {
	s := &f.settings
	if err := config.CheckAutoLock("--idle", f.idle); err != nil {
		return usagef("unlock: %v", err)
	}
	if err := config.CheckAutoLock("--lifetime", f.lifetime); err != nil {
		return usagef("unlock: %v", err)
	}
	if s.AutoLock.Suspend, s.AutoLock.Screen, err = config.ParseLockOn(f.lockOn); err != nil {
		return usagef("unlock: --lock-on %v", err)
	}
	if err := config.CheckLitter(f.litter); err != nil {
		return usagef("unlock: --litter %v", err)
	}
	s.AutoLock.Force, s.Litter = f.lockForce, f.litter
	s.Idle, s.Lifetime = config.Duration(f.idle), config.Duration(f.lifetime)
	return nil
}

// check validates the flags and completes the settings.
func (f *unlockFlags) check(args []string) error {
	s := &f.settings
	s.Image, s.Named = args[0], args[0]
	if len(args) > 1 {
		s.MountPoint = args[1]
	}
	switch {
	case s.NoMount && s.MountPoint != "":
		return usagef("unlock: --no-mount makes no drive, so %s can be no mount point", s.MountPoint)
	case s.NoMount && s.Raw:
		return usagef("unlock: --raw is a drive with one file; it does not go with --no-mount")
	case s.NoMount && s.AllowOther:
		return usagef("unlock: --no-mount makes no drive that others could use")
	}
	if err := f.checkLocking(); err != nil {
		return err
	}
	s.Program = programVersion()
	return nil
}

func (a *program) unlock(c *cobra.Command, f *unlockFlags, args []string) error {
	f.choose(c.Flags().Changed, a.settings)
	if err := f.check(args); err != nil {
		return err
	}
	target, err := f.container.target.target(args[0])
	if err != nil {
		return err
	}
	f.settings.Format, f.settings.Header = target.Format, target.Header
	if err := session.CheckTarget(target); err != nil {
		return err
	}
	if err := agent.CheckFree(f.settings); err != nil {
		return err
	}
	if err := agent.CheckDrive(f.settings); err != nil {
		return err
	}
	credential, err := a.credentialFor(c.Context(), target, &f.container.credential, question{object: args[0]})
	if err != nil {
		return err
	}
	defer credential.Destroy()
	watch := agent.Watch{Note: a.note, Stage: a.stage}
	if f.foreground {
		a.patient()
		f.settings.Slot = credential.Slot
		return agent.Serve(c.Context(), f.settings, &credential, agent.Hooks{Watch: watch, Ready: a.showUnlocked(f), Log: a.logEvent})
	}
	ready, err := agent.Unlock(c.Context(), f.settings, credential, watch)
	if err != nil {
		return err
	}
	return a.showUnlocked(f)(ready)
}

// showUnlocked prints where a drive is.
func (a *program) showUnlocked(f *unlockFlags) func(agent.Entry) error {
	return func(e agent.Entry) error {
		switch {
		case e.MountPoint != "":
			a.out.say("%s", escape(e.MountPoint))
		default:
			a.out.chat("unlocked %s, without a drive", escape(f.settings.Named))
		}
		return a.out.document(e)
	}
}

// stage tells a program that reads our JSON lines what is being done.
func (a *program) stage(name string) {
	if a.out.json && !a.out.quiet {
		(&jsonProgress{to: a.stderr, now: time.Now}).event(session.Event{Kind: session.EventStage, Stage: name})
	}
}

// logEvent notes what an agent does.
func (a *program) logEvent(event string, err error) {
	if err != nil {
		a.log.Error().Err(err).Msg(event)
		return
	}
	a.log.Info().Msg(event)
}

func (a *program) lockCommand() *cobra.Command {
	all, force := false, false
	c := &cobra.Command{
		Use:     "lock IMAGE|MOUNTPOINT|--all",
		Aliases: []string{"unmount"},
		GroupID: groupDrive,
		Short:   "Write everything down, take the drive away and forget the key",
		Long: "Locks one container, named by its file or its drive, or all of them. When it returns, everything is written down, the\n" +
			"drive is gone and the process that held the key has ended. A drive that programs use is not locked; they are named.\n" +
			"--force takes it from them: what they have written is kept, what they write afterwards fails.",
		Example: "  coffer lock photos.img\n  coffer lock ~/photos --force\n  coffer lock --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("lock: name one container or drive, or give --all")
			}
			if all {
				return a.lockAll(c, force)
			}
			client, err := agent.Find(c.Context(), args[0])
			if err != nil {
				return explainLock(args[0], err)
			}
			return a.lock(c, []*agent.Client{client}, force)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every container that is unlocked")
	c.Flags().BoolVar(&force, "force", false, "also when programs use the drive")
	return c
}

// explainLock says what can be meant when there is nothing to lock.
func explainLock(named string, err error) error {
	if !agent.IsNotUnlocked(err) {
		return err
	}
	return &session.Error{What: "lock " + named, Err: agent.ErrNotUnlocked, Code: session.Failed, Hint: "`coffer list` shows what is unlocked"}
}

// lockAll locks every container there is.
func (a *program) lockAll(c *cobra.Command, force bool) error {
	entries, err := agent.List(c.Context())
	if err != nil {
		return err
	}
	var clients []*agent.Client
	// The last first: a container that lies on another's drive is in the way of that one, and by force it would lose its disk.
	for _, e := range slices.Backward(entries) {
		client, err := agent.Find(c.Context(), e.Image)
		if err == nil {
			clients = append(clients, client)
		} else if !agent.IsNotUnlocked(err) { // locked meanwhile is what was asked for
			return err
		}
	}
	return a.lock(c, clients, force)
}

// lockDocument is the JSON of `lock`.
type lockDocument struct {
	Locked []string          `json:"locked"`           // images
	Failed []session.Problem `json:"failed,omitempty"` // those still unlocked, or not locked cleanly
}

// leaveDrive goes to a folder that no drive is above: this process itself may have been started on one.
func leaveDrive() {
	system := os.TempDir()
	_ = os.Chdir(filepath.VolumeName(system) + string(filepath.Separator))
}

// lock locks containers one after the other; one that cannot be locked does not keep the others open.
func (a *program) lock(c *cobra.Command, clients []*agent.Client, force bool) error {
	leaveDrive()
	document := lockDocument{Locked: []string{}}
	var failed []error
	for _, client := range clients {
		image := client.Entry().Image
		if err := client.Lock(c.Context(), force); err != nil {
			failed = append(failed, err)
			document.Failed = append(document.Failed, session.Explain(err))
			continue
		}
		document.Locked = append(document.Locked, image)
		a.out.chat("locked %s", escape(image))
	}
	switch {
	case len(failed) == 0:
		return a.out.document(document)
	case len(clients) == 1:
		return failed[0]
	}
	for _, problem := range document.Failed {
		a.report(problem)
	}
	if err := a.out.document(document); err != nil {
		return err
	}
	return &session.Error{What: "lock", Err: fmt.Errorf("%d of %d could not be locked", len(failed), len(clients)), Code: session.Partly}
}
