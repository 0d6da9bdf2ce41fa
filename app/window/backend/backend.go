// Package backend is what the window asks of Coffer, in small interfaces, so that its rules can be tested with a fake at the
// edge; see package fake. The real thing is *client.Client for all of them.
package backend

import (
	"context"

	"coffer/app/agent/registry"
	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/transfer/report"
)

// Drives are the unlocked containers, by identity.
type Drives interface {
	Drives(ctx context.Context) ([]protocol.Status, error)
	Unlock(ctx context.Context, r client.UnlockRequest, to client.Reporter) (*registry.Entry, error)
	Lock(ctx context.Context, id string, force bool) error
	Users(ctx context.Context, id string) ([]protocol.User, error)
}

// Containers are container files, by path.
type Containers interface {
	Info(ctx context.Context, image string) (*client.Info, error)
	Create(ctx context.Context, r client.CreateRequest, to client.Reporter) (*client.Created, error)
	Check(ctx context.Context, r client.CheckRequest, to client.Reporter) (*client.Checked, error)
	Destroy(ctx context.Context, image string) error
}

// Keys are key slots, key files and headers of locked containers.
type Keys interface {
	AddKey(ctx context.Context, image string, present, added client.Credential) (slot int, err error)
	ChangeKey(ctx context.Context, image string, present, added client.Credential) (slot int, err error)
	RemoveKey(ctx context.Context, image string, slot int, force bool) error
	NewKeyfile(ctx context.Context, path string) error
	BackupHeader(ctx context.Context, image, to string) error
	RestoreHeader(ctx context.Context, image, from string, force bool) error
}

// Files are the files inside an unlocked container, by its identity.
type Files interface {
	List(ctx context.Context, id, path string, recursive bool, visit func(protocol.Entry) error) error
	Mkdir(ctx context.Context, id, path string) error
	Remove(ctx context.Context, id, path string) error
	Rename(ctx context.Context, id, from, to string) error
	Move(ctx context.Context, id string, paths []string, folder string) error
}

// Jobs are the copy jobs of an unlocked container.
type Jobs interface {
	StartCopy(ctx context.Context, id string, job protocol.CopyJob) (*protocol.Job, error)
	Jobs(ctx context.Context, id string) ([]protocol.Job, error)
	Job(ctx context.Context, id string, job uint64, from int) (*protocol.Job, error)
	AnswerJob(ctx context.Context, id string, answer protocol.JobAnswer) (*protocol.Job, error)
	// Died says whether the agent that had the jobs ended without locking its container.
	Died(id string) bool
	JobControl
}

// JobControl stops jobs and goes on with them.
type JobControl interface {
	PauseJob(ctx context.Context, id string, job uint64) (*protocol.Job, error)
	ResumeJob(ctx context.Context, id string, job uint64) (*protocol.Job, error)
	CancelJob(ctx context.Context, id string, job uint64) (*protocol.Job, error)
	ForgetJob(ctx context.Context, id string, job uint64) error
}

// Lab makes experiments and tests the program.
type Lab interface {
	Lab(ctx context.Context, r client.LabRequest, to client.Reporter) ([]*report.Experiment, error)
	SelfTest(ctx context.Context) ([]client.Test, error)
	Version(ctx context.Context) (client.Version, error)
}

// Backend is all of it.
type Backend struct {
	Drives     Drives
	Containers Containers
	Keys       Keys
	Files      Files
	Jobs       Jobs
	Lab        Lab
}

// Of is the real thing.
func Of(c *client.Client) Backend { return Backend{c, c, c, c, c, c} }
