package kdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"coffer/container/secret"
)

// Wire format between Child and ServeChild, big-endian:
//
//	request:  magic [8]byte, length u32 of the rest of the head, head, password
//	head:     kind, hash, salt as u16 length + bytes each; iterations, memory,
//	          threads u64 each; password length u32; output length u32
//	response: status byte 0 and the key, or 1 and an error text to the end
//
// The request pipe stays open until the key has arrived: its end tells the
// child that the parent is gone.
const (
	wireMagic   = "COFKDF1\n"
	maxHead     = 4096
	maxPassword = 16 << 20
	maxOutput   = 4096
	maxMessage  = 1024

	statusKey   = 0
	statusError = 1
)

// Child derives in another process: Executable with Args must call ServeChild
// on its standard input and output. The memory of the derivation is gone when
// that process exits, and canceling kills it. The password and the key travel
// through pipes only.
type Child struct {
	Executable string
	Args       []string
}

// Derive implements Deriver.
func (c Child) Derive(ctx context.Context, p Params, password, out []byte) error {
	if len(out) > maxOutput {
		return fmt.Errorf("key of %d bytes: %w", len(out), ErrInvalid)
	}
	cmd := exec.CommandContext(ctx, c.Executable, c.Args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("key derivation process: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("key derivation process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the key derivation process: %w", err)
	}
	err = exchange(stdin, stdout, p, password, out)
	_ = stdin.Close()
	waitErr := cmd.Wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case waitErr != nil && !isRefusal(err):
		// It died before it answered: most likely for want of memory.
		return fmt.Errorf("key derivation process ended (%s): %w", p, waitErr)
	}
	return fmt.Errorf("key derivation process: %w", err)
}

// refusalError is an error the child reported in words.
type refusalError string

func (e refusalError) Error() string { return string(e) }

func isRefusal(err error) bool {
	var r refusalError
	return errors.As(err, &r)
}

// exchange sends the request and reads the answer straight into out.
func exchange(w io.Writer, r io.Reader, p Params, password, out []byte) error {
	if _, err := w.Write(encodeHead(p, len(password), len(out))); err != nil {
		return err
	}
	if _, err := w.Write(password); err != nil {
		return err
	}
	var status [1]byte
	if _, err := io.ReadFull(r, status[:]); err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if status[0] == statusKey {
		_, err := io.ReadFull(r, out)
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxMessage))
	if err != nil {
		return err
	}
	return refusalError(text)
}

// encodeHead is everything of a request but the password.
func encodeHead(p Params, password, out int) []byte {
	var head []byte
	for _, field := range [][]byte{[]byte(p.Kind), []byte(p.Hash), p.Salt} {
		head = binary.BigEndian.AppendUint16(head, uint16(len(field)))
		head = append(head, field...)
	}
	for _, n := range []uint64{p.Iterations, p.MemoryKiB, p.Threads} {
		head = binary.BigEndian.AppendUint64(head, n)
	}
	head = binary.BigEndian.AppendUint32(head, uint32(password))
	head = binary.BigEndian.AppendUint32(head, uint32(out))
	msg := append([]byte(wireMagic), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(msg[len(wireMagic):], uint32(len(head)))
	return append(msg, head...)
}

// decodeHead is the inverse of encodeHead, without magic and length.
func decodeHead(head []byte) (p Params, password, out int, err error) {
	r := bytes.NewReader(head)
	field := func() []byte {
		var n uint16
		if err == nil {
			err = binary.Read(r, binary.BigEndian, &n)
		}
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(r, b)
		}
		return b
	}
	p.Kind, p.Hash, p.Salt = string(field()), string(field()), field()
	var tail struct {
		Iterations, Memory, Threads uint64
		Password, Out               uint32
	}
	if err == nil {
		err = binary.Read(r, binary.BigEndian, &tail)
	}
	if err != nil || r.Len() != 0 || tail.Password > maxPassword || tail.Out > maxOutput {
		return Params{}, 0, 0, fmt.Errorf("malformed request: %w", ErrInvalid)
	}
	p.Iterations, p.MemoryKiB, p.Threads = tail.Iterations, tail.Memory, tail.Threads
	return p, int(tail.Password), int(tail.Out), nil
}

// ServeChild is the other side of Child: it reads one request, derives, writes
// the key and returns. It is what the hidden command of the executable calls.
// It gives up when in ends early, that is, when the parent is gone.
func ServeChild(in io.Reader, out io.Writer) error {
	err := serve(in, out)
	if err != nil {
		text := err.Error()
		_, _ = out.Write(append([]byte{statusError}, text[:min(len(text), maxMessage)]...))
	}
	return err
}

func serve(in io.Reader, out io.Writer) error {
	var fixed [len(wireMagic) + 4]byte
	if _, err := io.ReadFull(in, fixed[:]); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	n := binary.BigEndian.Uint32(fixed[len(wireMagic):])
	if string(fixed[:len(wireMagic)]) != wireMagic || n > maxHead {
		return fmt.Errorf("malformed request: %w", ErrInvalid)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(in, head); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	p, passwordBytes, outBytes, err := decodeHead(head)
	if err != nil {
		return err
	}
	// The parent has checked p against the limits of its user; these are the
	// algorithm's own.
	if err := p.Check(Limits{MemoryKiB: 1<<32 - 1, WorkKiB: 1<<64 - 1, Threads: 255, Iterations: 1<<64 - 1, SaltBytes: maxHead}); err != nil {
		return err
	}
	password, err := secret.New(passwordBytes)
	if err != nil {
		return err
	}
	defer password.Destroy()
	if _, err := io.ReadFull(in, password.Bytes()); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	key, err := secret.New(outBytes)
	if err != nil {
		return err
	}
	defer key.Destroy()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // ends when the parent has gone
		cancel()
	}()
	if err := (InProcess{}).Derive(ctx, p, password.Bytes(), key.Bytes()); err != nil {
		return err
	}
	if _, err := out.Write([]byte{statusKey}); err != nil {
		return err
	}
	_, err = out.Write(key.Bytes())
	return err
}
