package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"coffer/container"
)

// CheckKeyTarget says whether there is a container with key slots at the target, before anybody is asked for a password.
func CheckKeyTarget(t Target) error {
	if t.Format == FormatRaw {
		return &Error{What: "keys of " + t.Path, Err: errors.New("the raw format has no keys"), Code: Unsupported}
	}
	return CheckTarget(t)
}

// keyOptions are the options of a key operation.
func keyOptions(cost KDFCost) container.KeyOptions {
	return container.KeyOptions{KDF: cost.lower(), Deriver: deriver()}
}

// AddKey adds the credential added to the container that present opens, and returns the number of its slot.
func AddKey(ctx context.Context, t Target, present, added Credential, cost KDFCost) (int, error) {
	slot, err := container.AddKey(ctx, t.Path, present.lower(), added.lower(), keyOptions(cost))
	return slot, wrap("add a key to "+t.Path, err)
}

// ChangeKey replaces the credential present by added and returns the number of the slot. Cut at any moment, one of the two
// opens the container.
func ChangeKey(ctx context.Context, t Target, present, added Credential, cost KDFCost) (int, error) {
	slot, err := container.ChangeKey(ctx, t.Path, present.lower(), added.lower(), keyOptions(cost))
	return slot, wrap("change a key of "+t.Path, err)
}

// RemoveKeyRequest names the slot to remove: by number, or by what opens it.
type RemoveKeyRequest struct {
	Target     Target
	Slot       int         // used when Credential is nil
	Credential *Credential // nil: by number
	Force      bool        // also the last one
}

// IsLastKey says whether a key was not removed because it is the last one.
func IsLastKey(err error) bool { return errors.Is(err, container.ErrLastSlot) }

// RemoveKey removes a key slot, wipes its key material and returns its number.
func RemoveKey(ctx context.Context, r RemoveKeyRequest) (int, error) {
	options := container.KeyOptions{Deriver: deriver(), Force: r.Force}
	slot, err := r.Slot, error(nil)
	if r.Credential != nil {
		slot, err = container.RemoveKeyOf(ctx, r.Target.Path, r.Credential.lower(), options)
	} else {
		err = container.RemoveKey(r.Target.Path, slot, options)
	}
	return slot, wrap("remove a key from "+r.Target.Path, err)
}

// NewKeyfile writes a new key file of 64 random bytes; it never overwrites.
func NewKeyfile(path string) error { return wrap("make a key file", container.NewKeyfile(path)) }

// BackupHeader saves the header of the container as a new file.
func BackupHeader(t Target, to string) error {
	if err := CheckKeyTarget(t); err != nil {
		return err
	}
	return wrap("back up the header of "+t.Path, container.BackupHeader(t.Path, to))
}

// CheckRestore says whether both files of a header restore are there, and the second can be a header, before anybody is asked to confirm it.
func CheckRestore(t Target, from string) error {
	if t.Format == FormatRaw {
		return CheckKeyTarget(t)
	}
	for _, path := range []string{t.Path, from} {
		if _, err := os.Stat(path); err != nil {
			return wrap("restore a header", err)
		}
	}
	if _, err := container.Inspect(from, container.Auto); errors.Is(err, container.ErrNotContainer) {
		return &Error{What: "restore the header of " + t.Path, Err: fmt.Errorf("%s is not a header backup", from), Code: Unsupported}
	}
	return nil
}

// RestoreHeader puts a saved header back. A backup of another container is refused when the container's own header can
// still be read, unless force is set.
func RestoreHeader(t Target, from string, force bool) error {
	if _, err := container.Inspect(t.Path, container.Format(t.Format)); err != nil {
		force = true // nothing readable is there that could disagree; the person has confirmed
	}
	return wrap("restore the header of "+t.Path, container.RestoreHeader(t.Path, from, container.RestoreOptions{Force: force}))
}

// CheckDestroy says whether there is a file whose keys can be destroyed: not a bare volume, nor something that is no
// container at all, unless its header is damaged.
func CheckDestroy(t Target) error {
	err := CheckKeyTarget(t)
	if errors.Is(err, container.ErrDamagedHeader) {
		return nil
	}
	return err
}

// Destroy overwrites all key material of the container.
func Destroy(ctx context.Context, t Target) error {
	return wrap("destroy "+t.Path, container.Destroy(ctx, t.Path))
}
