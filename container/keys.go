package container

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"coffer/container/image"
	"coffer/container/kdf"
	"coffer/container/luks"
	"coffer/container/secret"
)

// NewKeyfileBytes is the size of a key file made by NewKeyfile.
const NewKeyfileBytes = 64

// KeyOptions are common to the functions that work on keyslots.
type KeyOptions struct {
	KDF     kdf.Cost    // of the new keyslot; zero fields are calibrated
	Deriver kdf.Deriver // nil: kdf.InProcess
	Limits  *kdf.Limits // for the old keyslot; nil: kdf.DefaultLimits
	// Force lets RemoveKey take the last keyslot.
	Force bool
}

func (o *KeyOptions) limits() kdf.Limits {
	return (&OpenOptions{Limits: o.Limits}).limits()
}

// editLUKS2 opens the image for writing and hands its header to edit, with a
// damaged copy repaired first, then closes it.
func editLUKS2(path, doing string, edit func(f *image.File, h *luks.Header) error) (err error) {
	f, err := image.Open(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, err := readLUKS2(f)
	if err == nil {
		err = h.Repair(f)
	}
	if err == nil {
		err = edit(f, h)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, path, err)
	}
	return nil
}

// ListKeys lists the keyslots; no credential is needed.
func ListKeys(path string) ([]Slot, error) {
	info, err := Inspect(path, Auto)
	if err != nil {
		return nil, err
	}
	return info.Slots, nil
}

// AddKey lets the credential add open the container as well as open does, and
// returns the number of the new keyslot: add.Slot, or the lowest free one for
// AnySlot. The new slot is durable when AddKey returns; a cut before leaves
// the container as it was.
func AddKey(ctx context.Context, path string, open, add Credential, o KeyOptions) (slot int, err error) {
	phrases, err := add.passphrases()
	if err != nil {
		return 0, fmt.Errorf("new key: %w", err)
	}
	defer destroyAll(phrases)
	err = editLUKS2(path, "add a key to", func(f *image.File, h *luks.Header) error {
		key, _, err := unlockLUKS2(ctx, f, h, deriver(o.Deriver), o.limits(), open)
		if err != nil {
			return err
		}
		defer key.Destroy()
		params, err := kdf.Choose(ctx, deriver(o.Deriver), o.KDF)
		if err != nil {
			return err
		}
		slot, err = h.AddKey(ctx, f, deriver(o.Deriver), key.Bytes(), params, phrases[0].Bytes(), add.Slot)
		return err
	})
	return slot, err
}

// RemoveKey takes away the keyslot with the given number, and wipes its key
// material. ErrLastSlot if it is the last one that opens the data, unless
// o.Force. Whoever has an old copy of the image or a header backup can still
// use the password there.
func RemoveKey(path string, slot int, o KeyOptions) error {
	return editLUKS2(path, "remove a key from", func(f *image.File, h *luks.Header) error {
		return h.RemoveKey(f, slot, o.Force)
	})
}

// RemoveKeyOf takes away the keyslot that the credential opens and returns its
// number.
func RemoveKeyOf(ctx context.Context, path string, c Credential, o KeyOptions) (slot int, err error) {
	err = editLUKS2(path, "remove a key from", func(f *image.File, h *luks.Header) error {
		var key *secret.Buffer
		key, slot, err = unlockLUKS2(ctx, f, h, deriver(o.Deriver), o.limits(), c)
		if err != nil {
			return err
		}
		key.Destroy()
		return h.RemoveKey(f, slot, o.Force)
	})
	return slot, err
}

// ChangeKey replaces the credential of the keyslot that old opens with the new
// one and returns the slot's number, which stays. A cut at any moment leaves at
// least one of the two working. It needs a free keyslot for a moment.
func ChangeKey(ctx context.Context, path string, old, replacement Credential, o KeyOptions) (slot int, err error) {
	phrases, err := replacement.passphrases()
	if err != nil {
		return 0, fmt.Errorf("new key: %w", err)
	}
	defer destroyAll(phrases)
	err = editLUKS2(path, "change a key of", func(f *image.File, h *luks.Header) error {
		var key *secret.Buffer
		key, slot, err = unlockLUKS2(ctx, f, h, deriver(o.Deriver), o.limits(), old)
		if err != nil {
			return err
		}
		defer key.Destroy()
		params, err := kdf.Choose(ctx, deriver(o.Deriver), o.KDF)
		if err != nil {
			return err
		}
		return h.ChangeKey(ctx, f, deriver(o.Deriver), key.Bytes(), params, phrases[0].Bytes(), slot)
	})
	return slot, err
}

// TestKey tells which keyslot a credential opens, without opening the volume
// or writing anything.
func TestKey(ctx context.Context, path string, c Credential, o KeyOptions) (slot int, err error) {
	f, err := image.Open(path, true)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	h, err := readLUKS2(f)
	if err != nil {
		return 0, fmt.Errorf("test key of %s: %w", path, err)
	}
	key, slot, err := unlockLUKS2(ctx, f, h, deriver(o.Deriver), o.limits(), c)
	if err != nil {
		return 0, fmt.Errorf("test key of %s: %w", path, err)
	}
	key.Destroy()
	return slot, nil
}

// NewKeyfile makes a key file of NewKeyfileBytes random bytes, readable by its
// owner only. It never overwrites.
func NewKeyfile(path string) error {
	key, err := secret.New(NewKeyfileBytes)
	if err != nil {
		return err
	}
	defer key.Destroy()
	if _, err := rand.Read(key.Bytes()); err != nil {
		return fmt.Errorf("random numbers: %w", err)
	}
	return writeNew(path, "key file", func(f *os.File) error {
		_, err := f.Write(key.Bytes())
		return err
	})
}

// writeNew makes a durable new file with the content that fill gives it; when
// anything fails no file is left.
func writeNew(path, what string, fill func(f *os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create %s: %w", what, err)
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create %s %s: %w", what, path, errors.Join(image.Classify(err), os.Remove(path)))
	}
	return image.SyncFolder(filepath.Dir(path))
}
