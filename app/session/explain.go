package session

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"coffer/container"
	"coffer/container/image"
	"coffer/fat32"
)

// rule gives the exit code and hint for errors that are one of some kind.
type rule struct {
	kinds []error
	code  ExitCode
	hint  string
}

// hostFullHint is for a full disk outside of the container.
const hostFullHint = "free space on the disk that holds the container or the target"

// fullInsideHint is for a full container.
const fullInsideHint = "remove files inside, or make a bigger container"

// rules are tried in order; the first that fits decides. This is the only table from errors to exit codes and hints.
func rules() []rule {
	return []rule{
		{[]error{context.Canceled}, Interrupted, ""},
		{[]error{container.ErrWrongKey}, WrongKey, "check Caps Lock and the keyboard layout; `coffer key list` shows the key slots"},
		{[]error{container.ErrNoCredential}, NoCredential, "give --password-stdin, --password-fd N, --password-file F or --keyfile F"},
		{[]error{container.ErrInUse}, InUse, "close the other program, or wait until it is done"},
		{[]error{fat32.ErrBusy}, InUse, "close the program that uses it, or wait until it is done"},
		{[]error{image.ErrChanged}, Failed, "the container file was replaced, cut or removed while it was open; nothing was written to the new one"},
		{[]error{container.ErrNoSpace, syscall.EDQUOT}, NoSpace, hostFullHint},
		{[]error{fat32.ErrNoSpace}, NoSpace, fullInsideHint},
		{[]error{image.ErrFileTooLarge, syscall.EFBIG}, NoSpace, "this file system or limit does not allow a file of that size; write it elsewhere, or raise the limit"},
		{[]error{syscall.ENOSPC}, NoSpace, hostFullHint},
		{[]error{container.ErrDamagedHeader}, Damaged, "with a header backup: `coffer header restore IMAGE FILE`; if the file was cut short, restore it from a copy"},
		{[]error{fat32.ErrNotFAT}, Damaged, "there is another file system inside, or its first sector is damaged: `coffer check IMAGE --salvage FOLDER` looks for files, and `coffer unlock --raw IMAGE` hands it to the tools of another file system"},
		{[]error{fat32.ErrCorrupt}, Damaged, "`coffer check IMAGE` shows the damage, `--repair` mends it, `--salvage FOLDER` saves what can be read"},
		{[]error{container.ErrNotContainer}, Unsupported, "if it is a bare FAT volume and you mean it unencrypted, add --format raw; if it was a container, its header is destroyed: with a backup of it, `coffer header restore IMAGE FILE`"},
		{[]error{container.ErrLastSlot}, Failed, "without it nobody can open the container again; --force removes it all the same, after a question"},
		{[]error{container.ErrMismatch}, Failed, "--force restores a backup of another container all the same"},
		{[]error{container.ErrTooSmall, container.ErrInvalid}, Usage, ""},
		{[]error{container.ErrUnsupported, errors.ErrUnsupported}, Unsupported, ""},
		{[]error{fat32.ErrTooBig}, Failed, "a FAT file holds at most 4 GiB - 1; `coffer copy --split` cuts it and joins it on the way out"},
		{[]error{fat32.ErrNameTooLong}, Failed, "a name on FAT has at most 255 UTF-16 units"},
		{[]error{fat32.ErrName}, Failed, `a name on FAT cannot hold control characters or any of " * / : < > ? \ |, nor end in a space or a dot`},
		{[]error{fat32.ErrDirFull}, Failed, "spread the files over several folders"},
		{[]error{fat32.ErrNotEmpty}, Failed, "add -r to remove a folder with all that is in it"},
		{[]error{fs.ErrPermission}, Failed, "check the permissions of the file and its folder"},
	}
}

// Explain turns an error into the sentence, the hint and the exit code a person gets. Several errors joined become one
// sentence; the gravest by the order of the table decides the code, unless an Error carries its own. err must not be nil.
func Explain(err error) Problem {
	p := Problem{Sentence: strings.ReplaceAll(err.Error(), "\n", "; and "), Code: Failed}
	for _, r := range rules() {
		if isAny(err, r.kinds) {
			p.Code, p.Hint = r.code, r.hint
			break
		}
	}
	var own *Error
	if errors.As(err, &own) {
		if own.Code != 0 {
			p.Code, p.Hint = own.Code, ""
		}
		if own.Hint != "" {
			p.Hint = own.Hint
		}
	}
	return p
}

func isAny(err error, kinds []error) bool {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
