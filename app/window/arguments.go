package window

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"coffer/app/window/instance"
)

// usage is what --help says. It is not translated: the command line speaks English.
const usage = `coffer-window [FILE...]   the window of Coffer

FILE is a container: it is added to the list and the window asks for its password.

  --hidden     start in the tray, as with the session; without a tray the window shows all the same
  --lock-all   lock everything that is unlocked; with a window open, that window says what is in the way
  --version    show the version
  --help       show this

A second start hands its files to the window that is open. Everything else is in: coffer --help
`

// arguments are what the command line asks for.
type arguments struct {
	instance.Request
	version, help bool
}

// parseArguments reads the command line of a process that works in the folder at.
func parseArguments(line []string, at string) (a arguments, err error) {
	flags := flag.NewFlagSet("coffer-window", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&a.Hidden, "hidden", false, "")
	flags.BoolVar(&a.LockAll, "lock-all", false, "")
	flags.BoolVar(&a.version, "version", false, "")
	for len(line) > 0 {
		if err := flags.Parse(line); errors.Is(err, flag.ErrHelp) {
			a.help = true
			return a, nil
		} else if err != nil {
			return a, err
		}
		rest := flags.Args()
		literal := len(rest) < len(line) && line[len(line)-len(rest)-1] == "--"
		line = nil
		for i, word := range rest { // flags may stand behind files, but not behind "--"
			if !literal && strings.HasPrefix(word, "-") && word != "-" {
				line = rest[i:]
				break
			}
			path, err := absolute(word, at)
			if err != nil {
				return a, err
			}
			a.Open = append(a.Open, path)
		}
	}
	return a, a.Check()
}

// absolute is the path that a word of the command line means: a path, or the address of a file as some desktops hand it over.
func absolute(word, at string) (string, error) {
	if word == "" {
		return "", errors.New("the name of a file is empty")
	}
	if strings.HasPrefix(word, "file:") {
		address, err := url.Parse(word)
		if err != nil || address.Host != "" && address.Host != "localhost" || address.Path == "" {
			return "", fmt.Errorf("%q is not the address of a file on this computer", word)
		}
		word = filepath.FromSlash(address.Path)
		if len(word) > 3 && word[2] == ':' && filepath.Separator == '\\' { // file:///C:/x
			word = word[1:]
		}
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(at, word)
	}
	return filepath.Clean(word), nil
}
