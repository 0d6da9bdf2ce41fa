// Package session holds the use cases on one container: create, open, files, copy, check, keys. The command line and,
// later, the agent share it. It is the only place where the file system (fat32) and the encrypted device (container)
// meet, and the only place where errors become sentences, hints and exit codes.
package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
)

// Formats of containers this version knows.
const (
	FormatAuto  = "auto" // found from the file; never raw
	FormatLUKS2 = "luks2"
	FormatRaw   = "raw" // a bare FAT volume without encryption, only when named
)

// Target is a container and how to open it.
type Target struct {
	Path   string // host path of the image
	Format string // one of the constants above
	Header string // detached header, "" when the image has its own
}

// Credential opens a container. Whoever made it destroys it.
type Credential struct {
	Password *secret.Buffer   // nil: none
	Keyfiles []*secret.Buffer // the content of key files, none empty
	Slot     int              // key slot to try; -1: any
}

// MaxKeyfileBytes is the largest key file.
const MaxKeyfileBytes = container.MaxKeyfileBytes

// Destroy wipes the secrets. It may be called twice.
func (c *Credential) Destroy() {
	if c.Password != nil {
		c.Password.Destroy()
	}
	for _, file := range c.Keyfiles {
		file.Destroy()
	}
	c.Password, c.Keyfiles = nil, nil
}

// lower is the credential as package container takes it. It shares the secrets.
func (c Credential) lower() container.Credential {
	return container.Credential{Password: c.Password, KeyfileData: c.Keyfiles, Slot: c.Slot}
}

// KDFVerb is the hidden command that derives a key in a process of its own, whose memory goes away with it.
const KDFVerb = "kdf-child"

// deriver runs key derivations in a child of this executable.
func deriver() kdf.Deriver {
	executable, err := os.Executable()
	if err != nil {
		return kdf.InProcess{}
	}
	return kdf.Child{Executable: executable, Args: []string{KDFVerb}}
}

// ServeKDF is the child's side: one request on in, one key on out.
func ServeKDF(in, out *os.File) error { return kdf.ServeChild(in, out) }

// CheckTarget says, without a password, whether there is a container at the target: to be known before a person is asked
// for one.
func CheckTarget(t Target) error {
	_, err := Inspect(t)
	return err
}

// IsFile says whether path is a file on the host.
func IsFile(path string) bool { return fileKind(path) == kindFile }

// SameFile says whether two host paths lead to one file.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Device is an open container: its decrypted payload, whatever is in it. Close it.
type Device struct {
	target    Target // as messages name it
	path      string // where the image is, when that is not target.Path
	container *container.Volume
	// hold, if there is one, makes the payload stand still, as after a clean close, until thaw is called.
	hold func() (thaw func(), err error)
}

// OpenDevice opens the container at t. A second writer, also through another path, gets exit code 5 (in use).
func OpenDevice(ctx context.Context, t Target, readOnly bool, c Credential) (*Device, error) {
	if info, err := os.Stat(t.Path); err == nil && info.IsDir() {
		return nil, &Error{What: "open " + t.Path, Err: errors.New("it is a folder, not a container")}
	}
	volume, err := container.Open(ctx, t.Path, container.OpenOptions{
		Format: container.Format(t.Format), ReadOnly: readOnly, Deriver: deriver(), HeaderPath: t.Header,
	}, c.lower())
	if err != nil {
		return nil, wrap("open "+t.Path, err)
	}
	return &Device{target: t, container: volume}, nil
}

// file is the host path of the image.
func (d *Device) file() string {
	if d.path != "" {
		return d.path
	}
	return d.target.Path
}

// Close forgets the key and releases the file.
func (d *Device) Close() error { return wrap("close "+d.target.Path, d.container.Close()) }

// OpenOptions choose how a container is opened.
type OpenOptions struct {
	ReadOnly bool // nothing is ever written
}

// Session is an open container with its file system. All methods may be used concurrently; Close ends it.
type Session struct {
	Device
	// Volume is the file system inside.
	Volume *fat32.Volume
	// Neighbour is who else uses Volume, such as a drive; nil: nobody. Set it before the first use.
	Neighbour Neighbour
	// Notes are remarks about the opening that a person should read.
	Notes    []string
	readOnly bool
}

// As is the same open container under the name that a person gave it, which messages then use. Only one of the two is
// closed.
func (s *Session) As(name string) *Session {
	named := *s
	named.path, named.target.Path = s.file(), name
	return &named
}

// changeable says whether what is inside may be changed; doing is the sentence begun.
func (s *Session) changeable(doing string) error {
	if !s.readOnly {
		return nil
	}
	return &Error{What: doing, Err: errors.New("it is unlocked read-only"), Code: InUse,
		Hint: "`coffer lock " + s.target.Path + "`, then unlock it without --read-only"}
}

// Open opens the container at t and mounts the file system in it. A volume that was not closed cleanly is checked before
// anything is written: what a cut can leave is mended (and noted), anything else is refused with exit code 4.
func Open(ctx context.Context, t Target, o OpenOptions, c Credential) (*Session, error) {
	device, err := OpenDevice(ctx, t, o.ReadOnly, c)
	if err != nil {
		return nil, err
	}
	s := &Session{Device: *device}
	if err := s.mount(ctx, o); err != nil {
		return nil, errors.Join(t.explainMount(device.ExplainDamage(err, false)), device.container.Close())
	}
	return s, nil
}

// explainMount says what is wrong when there is no file system; the commonest reason for the raw format is that the file
// is a container.
func (t Target) explainMount(err error) error {
	if t.Format == FormatRaw && errors.Is(err, fat32.ErrNotFAT) {
		if found, inspectErr := container.Inspect(t.Path, container.Auto); inspectErr == nil {
			return &Error{What: "open " + t.Path, Err: err, Hint: fmt.Sprintf("this is a container of the format %s; leave --format raw out", found.Format)}
		}
	}
	return wrap("open "+t.Path, err)
}

// mount reads the file system, after mending what a cut has left.
func (s *Session) mount(ctx context.Context, o OpenOptions) error {
	if !o.ReadOnly {
		if err := s.mendAfterCut(ctx); err != nil {
			return err
		}
	}
	volume, err := fat32.Mount(s.container, fat32.MountOptions{ReadOnly: o.ReadOnly})
	if err != nil {
		return err
	}
	s.Volume, s.hold, s.readOnly = volume, volume.Freeze, o.ReadOnly
	if o.ReadOnly && volume.WasDirty() {
		s.Notes = append(s.Notes, s.target.Path+" was not closed cleanly; `coffer check --repair` tidies it up")
	}
	return nil
}

// salvageFirst is what to do with a damaged file system.
const salvageFirst = "save what you can with `coffer check IMAGE --salvage FOLDER`, then run `coffer check IMAGE --repair`"

// mendAfterCut checks a volume that was not closed cleanly, before the first write to it, and repairs what the table of
// ordered writes lists: a cut at any moment leaves nothing else.
func (s *Session) mendAfterCut(ctx context.Context) error {
	look, err := fat32.Mount(s.container, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	dirty := look.WasDirty()
	if err := look.Close(); err != nil || !dirty {
		return err
	}
	found, err := fat32.Check(ctx, s.container, fat32.CheckOptions{})
	if err != nil {
		return err
	}
	if found.Omitted > 0 { // nobody has seen what these are
		return &Error{What: "open " + s.target.Path + " for writing", Code: Damaged,
			Err:  fmt.Errorf("the file system is damaged in more than %d places", len(found.Findings)),
			Hint: salvageFirst}
	}
	for _, finding := range found.Findings {
		if !leftByCut(finding.Code) {
			return &Error{What: "open " + s.target.Path + " for writing", Code: Damaged,
				Err:  fmt.Errorf("the file system is damaged: %s: %s %s", finding.Code, finding.Path, finding.Detail),
				Hint: salvageFirst}
		}
	}
	mended, err := fat32.Check(ctx, s.container, fat32.CheckOptions{Repair: true})
	if err != nil {
		return err
	}
	if found := len(mended.Findings); found > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s was not closed cleanly; tidied up: %s of the interruption", s.target.Path, count(uint64(found), "leftover")))
	}
	return nil
}

// Close writes everything down, marks the file system clean and forgets the key. An error means that the last changes
// may not be durable.
func (s *Session) Close() error {
	return errors.Join(wrap("close the file system in "+s.target.Path, s.Volume.Close()), s.Device.Close())
}

// notExist says whether err is about something missing.
func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
