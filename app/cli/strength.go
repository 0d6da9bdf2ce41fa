package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/trustelem/zxcvbn"

	"coffer/container/secret"
)

// strengthVerb is the hidden command that estimates a password's strength in a process of its own: the estimator works
// on Go strings and leaves copies of the password in its heap, which go away with that process.
const strengthVerb = "strength-child"

// maxRatedRunes bounds what is estimated; the estimator's time grows with the square of the length.
const maxRatedRunes = 72

// strengthHint says in one sentence how strong a new password is; "" when that cannot be told.
func strengthHint(ctx context.Context, password *secret.Buffer) string {
	executable, err := os.Executable()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	child := exec.CommandContext(ctx, executable, strengthVerb)
	child.Stdin = bytes.NewReader(password.Bytes())
	child.Env = append(os.Environ(), "GOTRACEBACK=none")
	answer, err := child.Output()
	if err != nil {
		return ""
	}
	log10, err := strconv.ParseFloat(string(bytes.TrimSpace(answer)), 64)
	if err != nil {
		return ""
	}
	return strengthSentence(log10)
}

// serveStrength is what the child does: the password comes in on a pipe, the logarithm of the guesses goes out.
func serveStrength(in io.Reader, out io.Writer) error {
	raw, err := io.ReadAll(io.LimitReader(in, maxPasswordBytes))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%.2f\n", guessesLog10(raw))
	return err
}

// guessesLog10 is the logarithm of the number of guesses an informed attacker needs.
func guessesLog10(password []byte) float64 {
	text, runes := string(password), 0
	for at := range text {
		if runes++; runes > maxRatedRunes {
			text = text[:at]
			break
		}
	}
	if !utf8.ValidString(text) {
		// The estimator reads text only. Bytes that are none came from a generator, not from a dictionary.
		return float64(len(password)) * 2
	}
	return math.Log10(max(1, zxcvbn.PasswordStrength(text, nil).Guesses))
}

// strengthSentence turns guesses into words. An attacker with a copy of the image and a rack of graphics cards tries
// some ten thousand passwords a second against the default KDF cost: 10^8 guesses last hours, 10^12 years.
func strengthSentence(log10 float64) string {
	switch {
	case log10 < 6:
		return fmt.Sprintf("Very weak: found within about 10^%.0f guesses, that is seconds. Several unrelated words are better.", log10)
	case log10 < 9:
		return fmt.Sprintf("Weak: about 10^%.0f guesses, within a day for somebody who wants it. Add a word or two.", log10)
	case log10 < 12:
		return fmt.Sprintf("Fair: about 10^%.0f guesses.", log10)
	}
	return fmt.Sprintf("Strong: about 10^%.0f guesses.", log10)
}
