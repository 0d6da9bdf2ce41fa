package agent

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"coffer/app/session"
	"coffer/container/secret"
)

// What passes between the one who unlocks and the agent it starts.
//
//	to the agent:   Settings as one line of JSON, the credential, then one byte: keep
//	from the agent: answers, one line of JSON each; the last one is ready or error
//
// The credential is binary, big-endian: magic [8]byte, password length u32, password, number of key files u32, each as
// length u32 and content. An end of the pipe before keep means that nobody waits any more: the agent undoes everything.
const (
	wireMagic        = "COFAGT1\n"
	maxSettings      = 64 << 10
	maxPassword      = 4096
	maxKeyfiles      = 1024
	noLength         = 1<<32 - 1 // instead of the length of a password: there is none
	keep        byte = 'k'
)

// answer is one line from an agent that is starting.
type answer struct {
	Stage string           `json:"stage,omitempty"` // what it does now
	Note  string           `json:"note,omitempty"`  // a remark for people
	Ready *Entry           `json:"ready,omitempty"`
	Error *session.Problem `json:"error,omitempty"`
}

// writeRequest sends settings and credential. The secrets go from their own memory straight into the pipe.
func writeRequest(w io.Writer, s Settings, c session.Credential) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	length := uint32(noLength)
	if c.Password != nil {
		length = uint32(c.Password.Len())
	}
	if _, err := w.Write(binary.BigEndian.AppendUint32([]byte(wireMagic), length)); err != nil {
		return err
	}
	if _, err := w.Write(c.Password.Bytes()); err != nil {
		return err
	}
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(c.Keyfiles)))); err != nil {
		return err
	}
	for _, file := range c.Keyfiles {
		if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(file.Len()))); err != nil {
			return err
		}
		if _, err := w.Write(file.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// readRequest is the agent's side of writeRequest. The caller destroys the credential. Nothing is read ahead, so that no
// secret passes through a buffer that is not wiped.
func readRequest(r io.Reader) (s Settings, c session.Credential, err error) {
	line, err := readSettingsLine(r)
	if err != nil {
		return s, c, fmt.Errorf("read the settings: %w", err)
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, c, fmt.Errorf("read the settings: %w", err)
	}
	defer func() {
		if err != nil {
			c.Destroy()
			err = fmt.Errorf("read the credential: %w", err)
		}
	}()
	c.Slot = s.Slot
	var magic [len(wireMagic)]byte
	if _, err = io.ReadFull(r, magic[:]); err != nil {
		return s, c, err
	}
	if string(magic[:]) != wireMagic {
		return s, c, fmt.Errorf("%q does not begin a credential", magic[:])
	}
	length, err := readLength(r)
	if err == nil && length != noLength {
		c.Password, err = readSecret(r, length, maxPassword)
	}
	if err != nil {
		return s, c, err
	}
	count, err := readLength(r)
	if err == nil && count > maxKeyfiles {
		err = fmt.Errorf("%d key files, at most %d", count, maxKeyfiles)
	}
	for ; err == nil && count > 0; count-- {
		var file *secret.Buffer
		if length, err = readLength(r); err == nil {
			file, err = readSecret(r, length, session.MaxKeyfileBytes)
		}
		if err == nil {
			c.Keyfiles = append(c.Keyfiles, file)
		}
	}
	return s, c, err
}

// readSettingsLine reads up to the first line end, byte by byte.
func readSettingsLine(r io.Reader) ([]byte, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, one); err != nil {
			return nil, err
		}
		if one[0] == '\n' {
			return line, nil
		}
		if len(line) == maxSettings {
			return nil, fmt.Errorf("more than %d bytes", maxSettings)
		}
		line = append(line, one[0])
	}
}

func readLength(r io.Reader) (uint32, error) {
	var raw [4]byte
	_, err := io.ReadFull(r, raw[:])
	return binary.BigEndian.Uint32(raw[:]), err
}

// readSecret reads a secret of length bytes into memory of its own.
func readSecret(r io.Reader, length uint32, maxBytes int) (*secret.Buffer, error) {
	if int64(length) > int64(maxBytes) {
		return nil, fmt.Errorf("a secret of %d bytes, at most %d", length, maxBytes)
	}
	b, err := secret.New(int(length))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, b.Bytes()); err != nil {
		b.Destroy()
		return nil, err
	}
	return b, nil
}
