// Package logging sets up the program's log and takes out of it what must not be kept.
//
// The log is off unless the settings switch it on. It never holds a password, a key, or a name from inside a container
// (robustness T5): callers log places through Place and stack traces through Scrub, and the writer scrubs once more.
package logging

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rs/zerolog"
)

// maxLogBytes is the size at which the log is moved aside; one older file is kept.
const maxLogBytes = 1 << 20

// Open starts logging to the file at path. level is off, error, info or debug. With off no file is made and the logger
// writes nothing. Close the returned closer at the end; it is never nil. Safe for concurrent use.
func Open(path, level string) (zerolog.Logger, io.Closer, error) {
	if level == "off" || level == "" {
		return zerolog.Nop(), io.NopCloser(nil), nil
	}
	parsed, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Nop(), io.NopCloser(nil), fmt.Errorf("log level %q: %w", level, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return zerolog.Nop(), io.NopCloser(nil), fmt.Errorf("make log folder: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".1"); err != nil {
			return zerolog.Nop(), io.NopCloser(nil), fmt.Errorf("move old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return zerolog.Nop(), io.NopCloser(nil), fmt.Errorf("open log: %w", err)
	}
	return zerolog.New(scrubber{file}).Level(parsed).With().Timestamp().Logger(), file, nil
}

// scrubber passes every log line through Scrub.
type scrubber struct{ to io.Writer }

// Write scrubs p, one log line. It reports all of p as written, since the scrubbed line may be shorter.
func (s scrubber) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.to, Scrub(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Place is what may be logged of an argument: of IMAGE:/path only the image, everything else as it is.
func Place(argument string) string {
	if at := strings.Index(argument, ":/"); at > 0 {
		return argument[:at] + ":/..."
	}
	return argument
}

var (
	insidePath = regexp.MustCompile(`(:/)[^"\n]+`)
	hexWord    = regexp.MustCompile(`0x[0-9a-fA-F]{5,}|\b[0-9a-fA-F]{32,}\b`)
)

// Scrub takes out of text what could be a name from inside a container (what follows ":/" up to the next quote or line
// end) and words that could be key material (long hexadecimal numbers, the argument words of a stack trace).
func Scrub(text string) string {
	text = hexWord.ReplaceAllString(text, "[hex]")
	return insidePath.ReplaceAllString(text, "${1}...")
}
