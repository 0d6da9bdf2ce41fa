package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

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
	flags.BoolVar(&c.recoveryStdin, prefix+"recovery-key-stdin", false, "read the recovery key of "+about+" from standard input")
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
	for _, given := range []bool{c.passwordStdin, c.passwordFD != noDescriptor, c.passwordFile != ""} {
		if given {
			sources++
		}
	}
	if sources > 1 {
		return usagef("only one of --%[1]spassword-stdin, --%[1]spassword-fd and --%[1]spassword-file can be given", c.prefix)
	}
	if c.passwordFD != noDescriptor && (c.passwordFD < 0 || c.passwordFD == 1 || c.passwordFD == 2) {
		return usagef("--%spassword-fd %d: not a descriptor to read from", c.prefix, c.passwordFD)
	}
	if c.recoveryStdin {
		return &session.Error{What: "use a recovery key", Err: errors.New("recovery keys belong to the native format, which is not in this version"), Code: session.Unsupported}
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
// and without a terminal the error carries exit code 11.
func (a *program) credential(ctx context.Context, c *credentialFlags, q question) (session.Credential, error) {
	credential := session.Credential{Keyfiles: c.keyfiles, Slot: c.slot}
	if err := c.check(); err != nil {
		return credential, err
	}
	var err error
	switch {
	case c.passwordStdin:
		credential.Password, err = readPassword(a.stdin, "standard input")
	case c.passwordFD == 0:
		credential.Password, err = readPassword(a.stdin, "descriptor 0")
	case c.passwordFD != noDescriptor:
		credential.Password, err = readDescriptor(c.passwordFD)
	case c.passwordFile != "":
		credential.Password, err = readPasswordFile(c.passwordFile)
	case len(c.keyfiles) > 0:
		return credential, nil
	default:
		credential.Password, err = a.ask(ctx, c, q)
	}
	if err != nil {
		return credential, err
	}
	if q.isNew && credential.Password.Len() == 0 && len(c.keyfiles) == 0 {
		credential.Password.Destroy()
		return session.Credential{}, usagef("an empty password protects nothing")
	}
	return credential, nil
}

func readPassword(from io.Reader, name string) (*secret.Buffer, error) {
	password, err := secret.ReadLine(from, maxPasswordBytes)
	if errors.Is(err, io.EOF) {
		return nil, &session.Error{What: "read the password from " + name, Err: errors.New("it is empty"), Code: session.NoCredential}
	}
	if err != nil {
		return nil, fmt.Errorf("read the password from %s: %w", name, err)
	}
	return password, nil
}

func readDescriptor(fd int) (*secret.Buffer, error) {
	name := fmt.Sprintf("descriptor %d", fd)
	file := os.NewFile(uintptr(fd), name)
	if file == nil {
		return nil, usagef("%s is not open", name)
	}
	defer file.Close()
	return readPassword(file, name)
}

func readPasswordFile(path string) (*secret.Buffer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	defer file.Close()
	return readPassword(file, path)
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
