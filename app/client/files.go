package client

import (
	"context"

	"coffer/app/protocol"
)

// The files inside an unlocked container, by the identity of the container and paths from its root: "/2019/a.jpg". What is
// changed is seen at once by everybody and durable when the call returns.

// List calls visit for everything in the folder at path, with recursive also below it, folders before their content.
func (c *Client) List(ctx context.Context, id, path string, recursive bool, visit func(protocol.Entry) error) error {
	return c.operate(ctx, id, "ls", protocol.Operation{Image: id, Path: path, Recursive: recursive}, visit, nil)
}

// Mkdir makes a folder.
func (c *Client) Mkdir(ctx context.Context, id, path string) error {
	return c.change(ctx, id, "mkdir", protocol.Operation{Image: id, Path: path})
}

// Remove removes a file, or a folder with all that is in it.
func (c *Client) Remove(ctx context.Context, id, path string) error {
	return c.change(ctx, id, "rm", protocol.Operation{Image: id, Path: path, Recursive: true})
}

// Rename gives a file or folder another path. What is there already is not replaced.
func (c *Client) Rename(ctx context.Context, id, from, to string) error {
	return c.change(ctx, id, "mv", protocol.Operation{Image: id,
		Sources: []protocol.PlaceInside{{Image: id, Path: from}}, To: protocol.PlaceInside{Image: id, Path: to}})
}

// Move moves files and folders into a folder that is there.
func (c *Client) Move(ctx context.Context, id string, paths []string, folder string) error {
	q := protocol.Operation{Image: id, To: protocol.PlaceInside{Image: id, Path: folder, Folder: true}}
	for _, path := range paths {
		q.Sources = append(q.Sources, protocol.PlaceInside{Image: id, Path: path})
	}
	return c.change(ctx, id, "mv", q)
}

func (c *Client) change(ctx context.Context, id, name string, q protocol.Operation) error {
	if err := c.operate(ctx, id, name, q, nil, nil); err != nil {
		return err
	}
	return c.operate(ctx, id, "sync", protocol.Operation{Image: id}, nil, nil)
}

// Copy jobs, which belong to the agent of the container and go on without this process; see protocol.CopyJob.

// StartCopy puts a copy at the end of the agent's queue.
func (c *Client) StartCopy(ctx context.Context, id string, job protocol.CopyJob) (*protocol.Job, error) {
	return c.job(ctx, id, "start", job)
}

// Jobs lists the copy jobs of an agent, oldest first, those that have ended and were not forgotten too.
func (c *Client) Jobs(ctx context.Context, id string) ([]protocol.Job, error) {
	var jobs []protocol.Job
	err := c.ask(ctx, id, protocol.JobsPrefix+"list", struct{}{}, &jobs)
	return jobs, err
}

// Job is one job with the rates of its windows from number from on.
func (c *Client) Job(ctx context.Context, id string, job uint64, from int) (*protocol.Job, error) {
	return c.job(ctx, id, "show", protocol.JobShow{ID: job, From: from})
}

// AnswerJob answers the questions of a job.
func (c *Client) AnswerJob(ctx context.Context, id string, answer protocol.JobAnswer) (*protocol.Job, error) {
	return c.job(ctx, id, "answer", answer)
}

// PauseJob stops a job until it is resumed.
func (c *Client) PauseJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.job(ctx, id, "pause", protocol.JobID{ID: job})
}

// ResumeJob goes on with a job that was paused.
func (c *Client) ResumeJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.job(ctx, id, "resume", protocol.JobID{ID: job})
}

// CancelJob ends a job; what was durable stays.
func (c *Client) CancelJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.job(ctx, id, "cancel", protocol.JobID{ID: job})
}

// ForgetJob takes a job that has ended off the list.
func (c *Client) ForgetJob(ctx context.Context, id string, job uint64) error {
	return c.ask(ctx, id, protocol.JobsPrefix+"forget", protocol.JobID{ID: job}, nil)
}

func (c *Client) job(ctx context.Context, id, verb string, in any) (*protocol.Job, error) {
	var job protocol.Job
	if err := c.ask(ctx, id, protocol.JobsPrefix+verb, in, &job); err != nil {
		return nil, err
	}
	return &job, nil
}
