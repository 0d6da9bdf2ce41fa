package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/vfs"
)

// drivesFolder is where drives without a mount point of their own appear, in the runtime folder.
const drivesFolder = "drives"

// noMountHint is for systems without FUSE or WinFsp: files can be reached nevertheless.
const noMountHint = "without it `coffer unlock --no-mount`, `ls` and `copy` work all the same"

// CheckDrive says whether this system can show a drive where one is asked for: to be known before a person is asked for a
// password.
func CheckDrive(s Settings) error {
	if s.NoMount {
		return nil
	}
	err := vfs.Probe()
	if err == nil && s.MountPoint != "" {
		if err = s.complete(); err == nil {
			err = vfs.CheckPoint(s.MountPoint, s.Image)
		}
		if err != nil {
			err = fmt.Errorf("mount at %s: %w", s.MountPoint, err)
		}
	}
	return explainDrive(s.Named, err)
}

// explainDrive gives a failed mount its exit code and hint. nil stays nil.
func explainDrive(named string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	problem := &session.Error{What: "mount " + named, Err: err}
	switch {
	case errors.Is(err, vfs.ErrNoFUSE):
		problem.Code, problem.Hint = session.NoMount, noMountHint
	case errors.Is(err, vfs.ErrPoint):
		problem.Code, problem.Hint = session.Failed, "name an empty folder of your own, or one that does not exist yet; or none, and one is chosen"
	}
	return problem
}

// openDrive mounts the drive, unless there shall be none. The registry learns of the mount point before there is a mount:
// should this process be killed, the next command knows what to clean up.
func (c *core) openDrive(ctx context.Context, watch Watch) (err error) {
	s := c.settings
	if s.NoMount {
		return nil
	}
	watch.stage("mount")
	point, own, err := c.choosePoint()
	if err != nil {
		return explainDrive(s.Named, err)
	}
	if err := c.claim.Update(func(e *Entry) { e.MountPoint, e.OwnPoint = point, own }); err != nil {
		return explainDrive(s.Named, err)
	}
	options := vfs.Options{ReadOnly: s.ReadOnly, AllowOther: s.AllowOther, Name: driveName(s.Image), Image: s.Image, RemovePoint: own && s.MountPoint == "",
		Litter: s.Litter == config.LitterMemory, Log: c.log, OnPanic: c.panicked}
	if s.Raw {
		c.mount, err = vfs.MountRaw(ctx, c.device.Payload(), point, session.RawName, options)
	} else {
		options.Room = c.session.HostRoom
		c.mount, err = vfs.MountVolume(ctx, c.session.Volume, point, options)
	}
	if err != nil {
		c.mount = nil
		if own && s.MountPoint == "" {
			_ = os.Remove(point)
		}
		return explainDrive(s.Named, err)
	}
	// Links on the way to it are resolved now.
	if err := c.claim.Update(func(e *Entry) { e.MountPoint = c.mount.Point() }); err != nil {
		return errors.Join(explainDrive(s.Named, err), c.mount.Unmount(context.WithoutCancel(ctx), true))
	}
	return nil
}

// choosePoint is the mount point asked for, or the next free one. own: it is a folder that goes with the mount.
func (c *core) choosePoint() (point string, own bool, err error) {
	if c.settings.MountPoint != "" {
		_, err := os.Lstat(c.settings.MountPoint)
		return c.settings.MountPoint, errors.Is(err, os.ErrNotExist) && !isDrive(c.settings.MountPoint), nil
	}
	folder, err := c.pointsFolder()
	if err != nil {
		return "", false, err
	}
	point, err = vfs.DefaultPoint(folder, driveName(c.settings.Image))
	return point, err == nil && !isDrive(point), err
}

// pointsFolder is where mount points are made: the person's own folder, which may be open to others as the drives are not, or
// one in the runtime folder.
func (c *core) pointsFolder() (string, error) {
	if own := c.settings.Drives; own != "" && filepath.IsAbs(own) {
		if err := os.MkdirAll(own, 0o700); err != nil {
			return "", fmt.Errorf("folder for drives, as set: %w", err)
		}
		return own, nil
	}
	folder, err := config.RuntimeDir()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(folder, drivesFolder)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return folder, config.CheckPrivate(folder)
}

// driveName is what a drive is called: the image's name without its ending.
func driveName(image string) string {
	name := filepath.Base(image)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}

// panicked notes a panic in a callback of the drive. The report holds no names and no content.
func (c *core) panicked(report []byte) {
	c.log("panic in the drive", errors.New(string(report)))
	c.warn("an internal error made the drive read-only; lock it and unlock it again")
}

// detachDead detaches the dead mount at a mount point, if there is one.
func detachDead(point string) error { return vfs.CleanStale(point) }

// unmount takes the drive away. Without a drive it does nothing.
func (c *core) unmount(ctx context.Context, force bool) error {
	if c.mount == nil {
		return nil
	}
	var err error
	if c.settings.Raw && !force {
		err = c.unmountRaw(ctx)
	} else {
		err = c.mount.Unmount(ctx, force)
	}
	var busy *vfs.BusyError
	if errors.As(err, &busy) {
		return c.explainBusy(busy.Users)
	}
	if err == nil {
		return nil
	}
	problem := &session.Error{What: "unmount " + c.mount.Point(), Err: err}
	if !force && ctx.Err() == nil {
		problem.Hint = "--force locks it all the same; what could not be written is lost"
	}
	return problem
}

// User is a program that uses the drive.
type User = protocol.User

// users are the programs that use the drive.
func (c *core) users() []User {
	users := []User{}
	if c.mount != nil {
		for _, u := range c.mount.Users() {
			users = append(users, User(u))
		}
	}
	return users
}

// maxUsersNamed is how many programs a refusal names.
const maxUsersNamed = 5

// explainBusy names who is in the way: program, process, file, and whether it writes.
func (c *core) explainBusy(users []vfs.User) error {
	problem := &session.Error{What: "lock " + c.named(), Code: session.InUse, Err: vfs.ErrBusy,
		Hint: "close the programs, or add --force: it takes the drive from them, and keeps what they have written"}
	if len(users) == 0 {
		problem.Err = errors.New("a program that this system does not name uses the drive")
		return problem
	}
	// Who writes comes first: there is something to lose.
	users = slices.Clone(users)
	slices.SortStableFunc(users, func(a, b vfs.User) int {
		switch {
		case a.Write == b.Write:
			return 0
		case a.Write:
			return -1
		}
		return 1
	})
	var words []string
	for i, u := range users {
		if i == maxUsersNamed {
			words = append(words, fmt.Sprintf("%d more", len(users)-i))
			break
		}
		words = append(words, describeUser(u))
	}
	problem.Err = fmt.Errorf("in use by %s", strings.Join(words, ", "))
	return problem
}

// describeUser is a program in the way, in words.
func describeUser(u vfs.User) string {
	who, how := u.Program, "has open"
	if who == "" {
		who = "a program"
	}
	if u.PID != 0 {
		who = fmt.Sprintf("%s (process %d)", who, u.PID)
	}
	switch {
	case u.Write:
		how = "writes"
	case u.WorksIn:
		how = "works in"
	}
	if u.Path == "" {
		return who
	}
	return fmt.Sprintf("%s, which %s %s", who, how, u.Path)
}
