package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"coffer/app/recovery"
	"coffer/app/session"
	"coffer/container/secret"
)

// credentialFlags say where one credential comes from. A command with two credentials has two of them, told apart by
// their prefix ("new-", "from-"). The secrets themselves are never on argv and never in the environment.
type credentialFlags struct {
	prefix        string
	passwordStdin bool
	passwordFD    int
	passwordFile  string
	keyfiles      []string
	recoveryStdin bool
	slot          int
}

// noDescriptor is the value of --password-fd that means "not given".
const noDescriptor = -1

// register adds the flags; about is whose credential it is ("the container", "the new key").
func (c *credentialFlags) register(flags *pflag.FlagSet, prefix, about string) {
	c.prefix, c.passwordFD, c.slot = prefix, noDescriptor, -1
	flags.BoolVar(&c.passwordStdin, prefix+"password-stdin", false, "read the password of "+about+" from standard input (first line)")
	flags.IntVar(&c.passwordFD, prefix+"password-fd", noDescriptor, "read the password of "+about+" from this open file descriptor (first line)")
	flags.StringVar(&c.passwordFile, prefix+"password-file", "", "read the password of "+about+" from a file (first line)")
	flags.StringArrayVar(&c.keyfiles, prefix+"keyfile", nil, "key file of "+about+"; repeatable, alone or with a password")
	flags.BoolVar(&c.recoveryStdin, prefix+"recovery-key-stdin", false, "read the recovery key of "+about+" from standard input (first line)")
	if prefix != "" {
		flags.Lookup(prefix + "recovery-key-stdin").Hidden = true
	}
}

// given says whether any source was named.
func (c *credentialFlags) given() bool {
	return c.passwordStdin || c.passwordFD != noDescriptor || c.passwordFile != "" || len(c.keyfiles) > 0 || c.recoveryStdin
}

// check refuses contradictions before anything is read.
func (c *credentialFlags) check() error {
	sources := 0
	for _, given := range []bool{c.passwordStdin, c.passwordFD != noDescriptor, c.passwordFile != "", c.recoveryStdin} {
		if given {
			sources++
		}
	}
	if sources > 1 {
		return usagef("only one of --%[1]spassword-stdin, --%[1]spassword-fd, --%[1]spassword-file and --%[1]srecovery-key-stdin can be given", c.prefix)
	}
	if c.passwordFD != noDescriptor && (c.passwordFD < 0 || c.passwordFD == 1 || c.passwordFD == 2) {
		return usagef("--%spassword-fd %d: not a descriptor to read from", c.prefix, c.passwordFD)
	}
	if c.recoveryStdin && len(c.keyfiles) > 0 {
		return usagef("--%[1]srecovery-key-stdin opens without key files: leave out --%[1]skeyfile", c.prefix)
	}
	return nil
}

// question says what to ask for on the terminal.
type question struct {
	object string // whose password: the image's path
	isNew  bool   // asked twice, with a hint on its strength
}

// credentialFor is credential for a target that may need none: the raw format does not encrypt.
func (a *program) credentialFor(ctx context.Context, target session.Target, c *credentialFlags, q question) (session.Credential, error) {
	if target.Format != session.FormatRaw {
		return a.credential(ctx, c, q)
	}
	if c.given() {
		return session.Credential{}, usagef("%s: --format raw is not encrypted: it takes no password and no key file", q.object)
	}
	return session.Credential{}, nil
}

// credential reads the credential the flags name or asks on the terminal. The caller destroys it. Without any source
// and without a terminal the error carries exit code 11. Everything is read here, whole: what comes later must not find
// out half-way that a secret is missing.
func (a *program) credential(ctx context.Context, c *credentialFlags, q question) (credential session.Credential, err error) {
	credential.Slot = c.slot
	if err := c.check(); err != nil {
		return credential, err
	}
	defer func() {
		if err != nil {
			credential.Destroy()
		}
	}()
	if credential.Password, err = a.password(ctx, c, q); err != nil {
		return credential, err
	}
	for _, path := range c.keyfiles {
		file, err := readKeyfile(ctx, path)
		if err != nil {
			return credential, err
		}
		credential.Keyfiles = append(credential.Keyfiles, file)
	}
	return credential, nil
}

// password reads the password from where the flags say; nil when there are only key files.
func (a *program) password(ctx context.Context, c *credentialFlags, q question) (*secret.Buffer, error) {
	switch {
	case c.recoveryStdin:
		return a.recoveryKey(ctx)
	case c.passwordStdin:
		return readPassword(ctx, "standard input", func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil })
	case c.passwordFD == 0:
		return readPassword(ctx, "descriptor 0", func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil })
	case c.passwordFD != noDescriptor:
		name := fmt.Sprintf("descriptor %d", c.passwordFD)
		return readPassword(ctx, name, func() (io.ReadCloser, error) {
			file := os.NewFile(uintptr(c.passwordFD), name)
			if file == nil {
				return nil, usagef("%s is not open", name)
			}
			return file, nil
		})
	case c.passwordFile != "":
		return readPassword(ctx, c.passwordFile, func() (io.ReadCloser, error) { return os.Open(c.passwordFile) })
	case len(c.keyfiles) > 0:
		return nil, nil
	}
	password, err := a.ask(ctx, c, q)
	if err == nil && password.Len() == 0 {
		err = emptyPassword()
	}
	return password, err
}

// emptyPassword is the refusal of an empty password, wherever it came from.
func emptyPassword() error { return usagef("the password is empty") }

// readPassword reads the first line of what open gives.
func readPassword(ctx context.Context, name string, open func() (io.ReadCloser, error)) (*secret.Buffer, error) {
	password, err := readSecret(ctx, open, func(from io.Reader) (*secret.Buffer, error) { return secret.ReadLine(from, maxPasswordBytes) })
	switch {
	case errors.Is(err, io.EOF):
		return nil, emptyPassword()
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &session.Error{What: "read the password from " + name, Err: err}
	case password.Len() == 0:
		password.Destroy()
		return nil, emptyPassword()
	}
	return password, nil
}

// recoveryKey reads a recovery key, as a person types it, from standard input. To the container it is a password.
func (a *program) recoveryKey(ctx context.Context) (*secret.Buffer, error) {
	typed, err := readPassword(ctx, "standard input", func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil })
	if err != nil {
		return nil, err
	}
	defer typed.Destroy()
	key, err := recovery.Normalise(typed.Bytes())
	if err != nil {
		return nil, &session.Error{What: "read the recovery key", Err: err, Code: session.WrongKey,
			Hint: fmt.Sprintf("type it as it was printed: %d groups of %d letters and digits", recovery.Groups, recovery.GroupLength)}
	}
	return secret.FromBytes(key)
}

// readKeyfile reads a key file whole. It may be a pipe.
func readKeyfile(ctx context.Context, path string) (*secret.Buffer, error) {
	file, err := readSecret(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, func(from io.Reader) (*secret.Buffer, error) {
		return secret.Read(from, session.MaxKeyfileBytes)
	})
	if err == nil && file.Len() == 0 {
		file.Destroy()
		err = errors.New("the file is empty")
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &session.Error{What: "read the key file " + path, Err: err}
	}
	return file, nil
}

// readSecret opens and reads a secret in a goroutine of its own, so that an interruption ends the wait for a pipe nobody
// writes to. That goroutine is then left behind: the process is about to end, and cannot end a read it has begun.
func readSecret(ctx context.Context, open func() (io.ReadCloser, error), read func(io.Reader) (*secret.Buffer, error)) (*secret.Buffer, error) {
	type result struct {
		secret *secret.Buffer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		from, err := open()
		if err != nil {
			done <- result{err: err}
			return
		}
		got, err := read(from)
		_ = from.Close() // only read
		done <- result{got, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.secret, r.err
	}
}

// ask asks on the terminal, twice for a new password.
func (a *program) ask(ctx context.Context, c *credentialFlags, q question) (*secret.Buffer, error) {
	t, err := a.openTerminal()
	if err != nil {
		return nil, &session.Error{
			What: "unlock " + q.object,
			Err:  errors.New("no password or key file was given and there is no terminal to ask on"),
			Code: session.NoCredential,
			Hint: fmt.Sprintf("give --%[1]spassword-stdin, --%[1]spassword-fd N, --%[1]spassword-file F or --%[1]skeyfile F", c.prefix),
		}
	}
	defer t.Close()
	if !q.isNew {
		return askSecret(ctx, t, "Password of "+q.object+": ")
	}
	for {
		first, err := askSecret(ctx, t, "New password for "+q.object+": ")
		if err != nil {
			return nil, err
		}
		if first.Len() == 0 {
			first.Destroy()
			fmt.Fprintln(t, "An empty password protects nothing; please type one.")
			continue
		}
		if !a.out.quiet {
			fmt.Fprintln(t, strengthHint(ctx, first))
		}
		second, err := askSecret(ctx, t, "The same again: ")
		if err != nil {
			first.Destroy()
			return nil, err
		}
		same := second.Equal(first.Bytes())
		second.Destroy()
		if same {
			return first, nil
		}
		first.Destroy()
		fmt.Fprintln(t, "The two differ; please start again.")
	}
}
