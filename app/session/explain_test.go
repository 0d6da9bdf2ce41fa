package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"coffer/container"
	"coffer/container/image"
	"coffer/fat32"
	"coffer/transfer"
)

// TestExitCodes is the table of cli.md: what kind of error gives which exit code, however deep it is wrapped.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code ExitCode
		hint string
	}{
		{errors.New("anything"), Failed, ""},
		{context.Canceled, Interrupted, ""},
		{container.ErrWrongKey, WrongKey, "Caps Lock"},
		{container.ErrDamagedHeader, Damaged, "header restore"},
		{fat32.ErrCorrupt, Damaged, "--repair"},
		{fat32.ErrNotFAT, Damaged, "--salvage"},
		{container.ErrInUse, InUse, "other program"},
		{&image.InUseError{PID: 7, Program: "x"}, InUse, "other program"},
		{container.ErrNoSpace, NoSpace, "free space"},
		{syscall.ENOSPC, NoSpace, "free space"},
		{fat32.ErrNoSpace, NoSpace, "bigger container"},
		{&transfer.SpaceError{NeedBytes: 2, FreeBytes: 1}, NoSpace, ""},
		{container.ErrFileTooLarge, NoSpace, "elsewhere"},
		{syscall.EFBIG, NoSpace, "limit"},
		{syscall.EDQUOT, NoSpace, "on the disk"},
		{fmt.Errorf("%w below the volume: %w", fat32.ErrNoSpace, container.ErrNoSpace), NoSpace, "on the disk"},
		{container.ErrNotContainer, Unsupported, "header restore"},
		{container.ErrUnsupported, Unsupported, ""},
		{container.ErrNotContainer, Unsupported, "--format raw"},
		{container.ErrNoCredential, NoCredential, "--password-stdin"},
		{container.ErrTooSmall, Usage, ""},
		{container.ErrLastSlot, Failed, "--force"},
		{fat32.ErrTooBig, Failed, "--split"},
		{fat32.ErrName, Failed, "cannot hold"},
		{fat32.ErrNameTooLong, Failed, "255"},
		{fat32.ErrNotEmpty, Failed, "-r"},
		{fs.ErrPermission, Failed, "permissions"},
	} {
		for _, err := range []error{c.err, fmt.Errorf("deep: %w", fmt.Errorf("deeper: %w", c.err)), wrap("open a.img", c.err), errors.Join(errors.New("first"), c.err)} {
			p := Explain(err)
			if p.Code != c.code || !strings.Contains(p.Hint, c.hint) || strings.Contains(p.Sentence, "\n") {
				t.Errorf("%v: %+v, want code %d and a hint with %q", err, p, c.code, c.hint)
			}
		}
	}
}

func TestOwnCodeAndHintWin(t *testing.T) {
	p := Explain(fmt.Errorf("around: %w", &Error{What: "x", Err: container.ErrWrongKey, Code: Partly, Hint: "mine"}))
	if p.Code != Partly || p.Hint != "mine" {
		t.Errorf("%+v", p)
	}
	if p = Explain(&Error{What: "x", Err: container.ErrWrongKey, Code: Partly}); p.Hint != "" {
		t.Errorf("the hint of another code was kept: %+v", p)
	}
	if p = Explain(&Error{What: "x", Err: container.ErrWrongKey, Hint: "mine"}); p.Code != WrongKey || p.Hint != "mine" {
		t.Errorf("%+v", p)
	}
}

// TestSentencesSayThingsOnce: layers repeat what and where; a person reads it once.
func TestSentencesSayThingsOnce(t *testing.T) {
	_, missing := os.Open("/nothing/here")
	for err, want := range map[error]string{
		wrap("open a.img", fmt.Errorf("open a.img: %w", container.ErrWrongKey)): "open a.img: " + container.ErrWrongKey.Error(),
		wrap("open a.img", errors.New("inspect a.img: no")):                     "open a.img: no",
		wrap("open a.img", errors.New("open image a.img: open a.img: no")):      "open a.img: no",
		wrap("open a.img", errors.New("it is b: inspect a.img: no")):            "open a.img: it is b: inspect a.img: no",
		wrap("list a.img:/x", errors.New("stat /x: does not exist")):            "list a.img:/x: does not exist",
		wrap("list a.img:/", errors.New("stat /x: does not exist")):             "list a.img:/: stat /x: does not exist",
		wrap("open a.img", errors.New("xa.img: no")):                            "open a.img: xa.img: no",
		wrap("open /nothing/here", missing):                                     "open /nothing/here: no such file or directory",
		wrap("copy to x", errors.New("copy: no")):                               "copy to x: no",
		wrap("a", wrap("b", errors.New("c"))):                                   "b: c",
		errors.Join(errors.New("a"), errors.New("b")):                           "a; and b",
	} {
		if got := Explain(err).Sentence; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if wrap("x", nil) != nil {
		t.Error("nil was wrapped")
	}
}
