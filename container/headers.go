package container

import (
	"context"
	"errors"
	"fmt"
	"os"

	"coffer/container/image"
	"coffer/container/luks"
)

// lostHeaderBytes is how much Destroy overwrites when the header cannot be
// read any more: more than any header cryptsetup or this program makes by
// default.
const lostHeaderBytes = 32 << 20

// BackupHeader writes everything that is needed to open the container at path,
// besides the payload, to the new file at to. cryptsetup reads it
// (luksHeaderRestore). It never overwrites. The backup opens with the passwords
// of today also when they were changed later: keep it as safe as the container.
func BackupHeader(path, to string) error {
	f, err := image.Open(path, true)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	h, err := readLUKS2(f)
	if err != nil {
		return fmt.Errorf("back up the header of %s: %w", path, err)
	}
	return writeNew(to, "header backup", func(out *os.File) error { return h.Backup(f, out) })
}

// RestoreOptions of RestoreHeader.
type RestoreOptions struct {
	// Force restores although the container's own header says that the backup
	// belongs to another container, or nothing says that it is one at all.
	Force bool
}

// RestoreHeader puts the header of a backup file back. The backup must fit the
// container: UUID, header size, payload offset. A cut at any moment leaves the
// passwords of the container or those of the backup working, if there is room
// in the keyslots region; else run it again.
func RestoreHeader(path, from string, o RestoreOptions) (err error) {
	b, err := image.OpenUnlocked(from)
	if err != nil {
		return fmt.Errorf("header backup: %w", err)
	}
	defer func() { _ = b.Close() }()
	backup, err := luks.ReadBackup(b, b.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	f, err := image.Open(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := backup.Restore(f, b, o.Force); err != nil {
		return fmt.Errorf("restore the header of %s: %w", path, err)
	}
	return nil
}

// Destroy overwrites all key material of the container at path: nobody opens
// it any more, with whatever password, unless there is a copy of the header or
// of the image. Copies, snapshots and blocks that a drive has remapped are out
// of reach. The file stays; its payload is noise from then on.
func Destroy(ctx context.Context, path string) (err error) {
	f, err := image.Open(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	h, err := luks.Read(f)
	switch {
	case err == nil:
		err = h.Wipe(f)
	case errors.Is(err, luks.ErrNotLUKS2):
		err = fmt.Errorf("%w: %w", ErrNotContainer, err)
	case errors.Is(err, luks.ErrDamaged):
		err = luks.WipeStart(f, lostHeaderBytes)
	}
	if err != nil {
		return fmt.Errorf("destroy %s: %w", path, err)
	}
	return nil
}
