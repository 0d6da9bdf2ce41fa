package client

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"coffer/app/agent/registry"
	"coffer/transfer/report"
)

// Info is what is known of a container; FileSystem only when it is unlocked.
type Info struct {
	Path      string `json:"path"`
	Container struct {
		Format         string   `json:"format"`
		Cipher         string   `json:"cipher"`
		Engine         string   `json:"engine"`
		UUID           string   `json:"uuid"`
		Label          string   `json:"label"`
		KDF            string   `json:"kdf"`
		Slots          []Slot   `json:"slots"`
		SectorBytes    int      `json:"sectorSizeBytes"`
		ImageBytes     int64    `json:"imageBytes"`
		AllocatedBytes int64    `json:"allocatedBytes"` // on the host; less than ImageBytes if sparse
		UsableBytes    int64    `json:"usableBytes"`
		HeaderState    []string `json:"headerState"` // of the first and second copy: good, stale, damaged, missing
		Unsupported    string   `json:"unsupported"` // why it cannot be opened
		Warnings       []string `json:"warnings"`
	} `json:"container"`
	FileSystem *FileSystem `json:"fileSystem"`
}

// Slot is a key slot.
type Slot struct {
	Number     int    `json:"slot"`
	KDF        string `json:"kdf"`
	MemoryKiB  uint64 `json:"memoryKiB"`
	Iterations uint64 `json:"iterations"`
	Threads    uint64 `json:"threads"`
	Hash       string `json:"hash"`
	KeyBits    int    `json:"keyBits"`
	Bound      bool   `json:"bound"` // false: holds a key that is not the payload's
}

// FileSystem is the file system inside.
type FileSystem struct {
	Type         string `json:"type"`
	Label        string `json:"label"`
	ClusterBytes int    `json:"clusterSizeBytes"`
	TotalBytes   int64  `json:"totalBytes"`
	FreeBytes    int64  `json:"freeBytes"`
	Dirty        bool   `json:"dirty"` // it was not closed cleanly
}

// Info looks at a container without a password.
func (c *Client) Info(ctx context.Context, image string) (*Info, error) {
	var info Info
	if err := c.run(ctx, []string{"info", "--", image}, nil, nil, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// CreateRequest says what container to make. One of SizeBytes, UsableBytes and From must be set.
type CreateRequest struct {
	Image        string
	SizeBytes    int64  // of the file
	UsableBytes  int64  // for files and the FAT
	From         string // folder of the host to size for and to copy in
	Credential   Credential
	Format       string // "": the default
	Cipher       string // "": the default
	Label        string // at most 11 characters
	ClusterBytes int64  // 0: by size
	Preallocate  bool
	KDFMemory    int64         // bytes; 0: calibrated
	KDFTime      time.Duration // 0: the settings'
}

// Created is what was made.
type Created struct {
	Path        string         `json:"path"`
	Format      string         `json:"format"`
	Cipher      string         `json:"cipher"`
	ImageBytes  int64          `json:"imageBytes"`
	UsableBytes int64          `json:"usableBytes"`
	FreeBytes   int64          `json:"freeBytes"`
	FileSystem  string         `json:"fileSystem"`
	Record      *report.Record `json:"record"` // of the copy in
	Notes       []string       `json:"notes"`
}

// Create makes a container. It never overwrites anything, and leaves no file when it fails or is cancelled.
func (c *Client) Create(ctx context.Context, r CreateRequest, to Reporter) (*Created, error) {
	var in bytes.Buffer
	arguments := append([]string{"create"}, r.Credential.arguments("", &in)...)
	number := func(flag string, n int64) {
		if n != 0 {
			arguments = append(arguments, flag, strconv.FormatInt(n, 10))
		}
	}
	text := func(flag, value string) {
		if value != "" {
			arguments = append(arguments, flag, value)
		}
	}
	number("--size", r.SizeBytes)
	number("--usable", r.UsableBytes)
	number("--cluster-size", r.ClusterBytes)
	number("--kdf-memory", r.KDFMemory)
	text("--from", r.From)
	text("--format", r.Format)
	text("--cipher", r.Cipher)
	if r.KDFTime != 0 {
		text("--kdf-time", r.KDFTime.String())
	}
	if r.Preallocate {
		arguments = append(arguments, "--preallocate")
	}
	if r.Label != "" { // it will be inside: not an argument
		arguments = append(arguments, "--label-stdin")
		in.WriteString(r.Label + "\n")
	}
	var created Created
	if err := c.run(ctx, append(arguments, "--", r.Image), &in, to, &created); err != nil {
		return nil, err
	}
	return &created, nil
}

// UnlockRequest says what to unlock and how. The zero values mean what the settings file says.
type UnlockRequest struct {
	Image      string
	Format     string // "": found out; "raw" for a bare FAT volume
	Credential Credential
	MountPoint string // "": chosen
	ReadOnly   bool
	NoMount    bool           // no drive: files are reached through this package only
	Idle       *time.Duration // lock after so long without use; 0: never; nil: as set
	Lifetime   *time.Duration // lock after so long; 0: never; nil: as set
	LockOn     string         // "suspend", "screen", "suspend,screen", "none"; "": as set
}

// Unlock starts the agent of a container, which goes on without this process, and returns when it is ready. Stages come as
// events of the kind protocol.EventStage: "open" is the derivation of the key.
func (c *Client) Unlock(ctx context.Context, r UnlockRequest, to Reporter) (*registry.Entry, error) {
	var in bytes.Buffer
	arguments := append([]string{"unlock"}, r.Credential.arguments("", &in)...)
	if r.Format != "" {
		arguments = append(arguments, "--format", r.Format)
	}
	if r.ReadOnly {
		arguments = append(arguments, "--read-only")
	}
	if r.NoMount {
		arguments = append(arguments, "--no-mount")
	}
	if r.Idle != nil {
		arguments = append(arguments, "--idle", r.Idle.String())
	}
	if r.Lifetime != nil {
		arguments = append(arguments, "--lifetime", r.Lifetime.String())
	}
	if r.LockOn != "" {
		arguments = append(arguments, "--lock-on", r.LockOn)
	}
	arguments = append(arguments, "--", r.Image)
	if r.MountPoint != "" {
		arguments = append(arguments, r.MountPoint)
	}
	var entry registry.Entry
	if err := c.run(ctx, arguments, &in, to, &entry); err != nil {
		return nil, err
	}
	return &entry, nil
}

// CheckRequest says how to check. The credential is not needed while the container is unlocked.
type CheckRequest struct {
	Image      string
	Format     string // "": found out; "raw" for a bare FAT volume
	Credential Credential
	Repair     bool
	SalvageTo  string // "": do not salvage
}

// Finding is one piece of damage.
type Finding struct {
	Code   string `json:"code"`
	Path   string `json:"path"`
	Detail string `json:"detail"`
	Fixed  bool   `json:"fixed"`
}

// Checked is what a check or a salvage found; one of the two is nil.
type Checked struct {
	Check *struct {
		Findings     []Finding `json:"findings"`
		Files        int64     `json:"files"`
		Folders      int64     `json:"folders"`
		ClustersUsed uint32    `json:"clustersUsed"`
		ClustersFree uint32    `json:"clustersFree"`
		ClustersLost uint32    `json:"clustersLost"`
		Dirty        bool      `json:"dirty"`
		Repaired     bool      `json:"repaired"`
		Clean        bool      `json:"clean"` // nothing was found
		Sound        bool      `json:"sound"` // nothing is wrong now
		Omitted      int       `json:"omitted"`
		Traces       string    `json:"traces"` // what the findings are signs of: NotClosed, Interrupted, or damage if anything
	} `json:"check"`
	Salvage *struct {
		Files      int64     `json:"files"`
		Folders    int64     `json:"folders"`
		LostChains int64     `json:"lostChains"`
		Bytes      int64     `json:"bytes"`
		Problems   []Finding `json:"problems"`
		Omitted    int       `json:"omitted"`
	} `json:"salvage"`
}

// Traces of a check that are no damage: the process that held the container ended before it locked it, between its changes or
// amid one, whose remains are cleared up when it is unlocked next.
const (
	NotClosed   = "not-closed"
	Interrupted = "interrupted"
)

// Check checks, repairs or salvages. With damage both a result and an error (protocol.Damaged, protocol.Partly) come back.
func (c *Client) Check(ctx context.Context, r CheckRequest, to Reporter) (*Checked, error) {
	var in bytes.Buffer
	arguments := append([]string{"check"}, r.Credential.arguments("", &in)...)
	if r.Format != "" {
		arguments = append(arguments, "--format", r.Format)
	}
	if r.Repair {
		arguments = append(arguments, "--repair")
	}
	if r.SalvageTo != "" {
		arguments = append(arguments, "--salvage", r.SalvageTo)
	}
	var checked Checked
	err := c.run(ctx, append(arguments, "--", r.Image), &in, to, &checked)
	if checked.Check == nil && checked.Salvage == nil {
		return nil, err
	}
	return &checked, err
}

// AddKey adds a key slot and returns its number. The container must be locked.
func (c *Client) AddKey(ctx context.Context, image string, present, added Credential) (slot int, err error) {
	return c.key(ctx, "add", image, present, added)
}

// ChangeKey replaces the present key by another and returns the number of its slot. The container must be locked.
func (c *Client) ChangeKey(ctx context.Context, image string, present, added Credential) (slot int, err error) {
	return c.key(ctx, "change", image, present, added)
}

func (c *Client) key(ctx context.Context, verb, image string, present, added Credential) (int, error) {
	var in bytes.Buffer
	arguments := append([]string{"key", verb}, present.arguments("", &in)...)
	arguments = append(arguments, added.arguments("new-", &in)...)
	var answer struct {
		Slot int `json:"slot"`
	}
	err := c.run(ctx, append(arguments, "--", image), &in, nil, &answer)
	return answer.Slot, err
}

// RemoveKey removes a key slot by its number. The last one goes only with force: nobody can open the container again then.
func (c *Client) RemoveKey(ctx context.Context, image string, slot int, force bool) error {
	arguments := []string{"key", "remove", "--slot", strconv.Itoa(slot)}
	if force {
		arguments = append(arguments, "--force", "--yes")
	}
	return c.run(ctx, append(arguments, "--", image), nil, nil, nil)
}

// NewKeyfile makes a key file of 64 random bytes; it never overwrites anything.
func (c *Client) NewKeyfile(ctx context.Context, path string) error {
	return c.run(ctx, []string{"keyfile", "new", "--", path}, nil, nil, nil)
}

// BackupHeader saves the header of a locked container to a new file.
func (c *Client) BackupHeader(ctx context.Context, image, to string) error {
	return c.run(ctx, []string{"header", "backup", "--", image, to}, nil, nil, nil)
}

// RestoreHeader puts a saved header back, with the passwords of that time; force also one of another container. The person
// has confirmed it.
func (c *Client) RestoreHeader(ctx context.Context, image, from string, force bool) error {
	arguments := []string{"header", "restore", "--yes"}
	if force {
		arguments = append(arguments, "--force")
	}
	return c.run(ctx, append(arguments, "--", image, from), nil, nil, nil)
}

// Destroy overwrites all key material of a locked container. The person has confirmed it.
func (c *Client) Destroy(ctx context.Context, image string) error {
	return c.run(ctx, []string{"destroy", "--yes", "--", image}, nil, nil, nil)
}

// LabRequest says what experiment to make.
type LabRequest struct {
	Experiment string   // "copy", "ciphers", "drive" or "all"
	At         string   // copy, all: folder on the disk to measure; drive: the folder
	Folder     string   // copy: the person's own files; "": made for it
	Formats    []string // copy; nil: LUKS2
	Via        string   // copy: "direct" or "mount"; "": direct
	Quick      bool
	Rounds     int // 0: as many as the experiment needs
}

// Lab makes an experiment, which is kept with the records (see report.Store), and returns it. "all" returns several.
func (c *Client) Lab(ctx context.Context, r LabRequest, to Reporter) ([]*report.Experiment, error) {
	arguments := []string{"lab", r.Experiment}
	if r.Quick {
		arguments = append(arguments, "--quick")
	}
	if r.Rounds != 0 {
		arguments = append(arguments, "--rounds", strconv.Itoa(r.Rounds))
	}
	if r.At != "" && r.Experiment != "drive" {
		arguments = append(arguments, "--at", r.At)
	}
	for _, format := range r.Formats {
		arguments = append(arguments, "--format", format)
	}
	if r.Via != "" {
		arguments = append(arguments, "--via", r.Via)
	}
	arguments = append(arguments, "--")
	if r.Experiment == "drive" {
		arguments = append(arguments, r.At)
	} else if r.Folder != "" {
		arguments = append(arguments, r.Folder)
	}
	var raw json.RawMessage
	if err := c.run(ctx, arguments, nil, to, &raw); err != nil {
		return nil, err
	}
	var all struct {
		Experiments []*report.Experiment `json:"experiments"`
	}
	if r.Experiment == "all" {
		err := json.Unmarshal(raw, &all)
		return all.Experiments, err
	}
	var one report.Experiment
	err := json.Unmarshal(raw, &one)
	return []*report.Experiment{&one}, err
}

// Test is one part of the self-test; Error is "" when it passed.
type Test struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// SelfTest runs the test vectors of every cipher and KDF and a small container on this computer. With a failed part both
// the parts and an error come back.
func (c *Client) SelfTest(ctx context.Context) ([]Test, error) {
	var answer struct {
		Tests []Test `json:"tests"`
	}
	err := c.run(ctx, []string{"selftest"}, nil, nil, &answer)
	return answer.Tests, err
}

// Version is the version of the program coffer.
type Version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Engine  string `json:"engine"`
}

// Version asks the program coffer for its version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var v Version
	err := c.run(ctx, []string{"version"}, nil, nil, &v)
	return v, err
}
