package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"coffer/app/agent"
	"coffer/app/session"
	"coffer/container/secret"
)

// labMounter makes drives for the experiments, each with an agent of its own, as `coffer unlock` does.
type labMounter struct{ program *program }

// labMounter says first whether this system can show drives.
func (a *program) labMounter() (session.LabMounter, error) {
	if err := agent.CheckDrive(agent.Settings{}); err != nil {
		return nil, err
	}
	return labMounter{a}, nil
}

// Mount unlocks the container at path.
func (m labMounter) Mount(ctx context.Context, path, format, dir string, password *secret.Buffer) (session.LabDrive, error) {
	settings := agent.Settings{Image: path, Named: filepath.Base(path), Format: format, Program: programVersion(), Slot: -1,
		Idle: agent.Duration(orphanTime)}
	if runtime.GOOS != "windows" {
		settings.MountPoint = filepath.Join(dir, "drive")
		if err := os.MkdirAll(settings.MountPoint, 0o700); err != nil {
			return nil, err
		}
	}
	credential := session.Credential{Slot: -1}
	if format != session.FormatRaw {
		credential.Password = password
	}
	entry, err := agent.Unlock(ctx, settings, credential, agent.Watch{})
	if err != nil {
		return nil, fmt.Errorf("make a drive of a temporary container: %w", err)
	}
	return &labDrive{entry}, nil
}

// orphanTime is how long a drive outlives an experiment that was killed outright.
const orphanTime = 30 * time.Minute

// labDrive is one of these drives.
type labDrive struct{ entry agent.Entry }

// Folder is where the drive is.
func (d *labDrive) Folder() string { return d.entry.MountPoint }

// CPU is what the agent has used.
func (d *labDrive) CPU() time.Duration { return processCPU(d.entry.PID) }

// BusyTimes asks the agent; zeros when it does not answer.
func (d *labDrive) BusyTimes() (crypto, read, write, sync time.Duration) {
	client, err := agent.FindImage(d.entry.Image)
	if err != nil {
		return 0, 0, 0, 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), busyWait)
	defer cancel()
	s, err := client.Status(ctx)
	if err != nil {
		return 0, 0, 0, 0
	}
	of := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	return of(s.Busy.Crypto), of(s.Busy.Read), of(s.Busy.Write), of(s.Busy.Sync)
}

// busyWait is how long an agent may take to say what it has done.
const busyWait = 5 * time.Second

// Unmount locks the container. Nobody else uses the drive: whoever looks at it must not keep it.
func (d *labDrive) Unmount(ctx context.Context) error {
	client, err := agent.FindImage(d.entry.Image)
	if err != nil {
		return fmt.Errorf("lock a temporary container: %w", err)
	}
	return client.Lock(ctx, true)
}

// servingCPU tells the processor time of the agent behind a folder, in seconds; nil when no drive of ours is there.
func servingCPU(ctx context.Context, folder string) func() float64 {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return nil
	}
	entries, err := agent.List(ctx)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.MountPoint == "" {
			continue
		}
		relative, err := filepath.Rel(e.MountPoint, absolute)
		if err == nil && filepath.IsLocal(relative) {
			return func() float64 { return processCPU(e.PID).Seconds() }
		}
	}
	return nil
}
