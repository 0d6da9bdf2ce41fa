package cli

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"coffer/app/session"
)

// units are the suffixes of sizes; the longest match wins.
var units = []struct {
	name  string
	bytes int64
}{
	{"KIB", 1 << 10}, {"MIB", 1 << 20}, {"GIB", 1 << 30}, {"TIB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseSize reads a size such as 2GiB, "1.5 GB" or 4096 (bytes) and returns bytes, at least 0. Fractions are exact and
// rounded down to a whole byte. One-letter units are refused: they mean 1000 to some and 1024 to others.
func parseSize(text string) (int64, error) {
	trimmed := strings.ToUpper(strings.TrimSpace(text))
	number, factor := trimmed, int64(1)
	for _, unit := range units {
		if rest, ok := strings.CutSuffix(trimmed, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	if number == "" || len(number) > 30 || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a size; write for example 2GiB (2^30 bytes), 700MB (10^6 bytes) or plain bytes", text)
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("%q is not a size; write for example 2GiB, 700MB or plain bytes", text)
	}
	value.Mul(value, new(big.Rat).SetInt64(factor))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%q is too big", text)
	}
	return whole.Int64(), nil
}

// formatSize writes bytes for people in binary units with three or four digits ("1.50 GiB", "512 B").
func formatSize(sizeBytes int64) string {
	if sizeBytes < 1024 {
		return fmt.Sprintf("%d B", sizeBytes)
	}
	value, unit := float64(sizeBytes)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	switch {
	case value < 10:
		return fmt.Sprintf("%.2f %s", value, unit)
	case value < 100:
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// sizeFlag is a pflag.Value that reads sizes with units.
type sizeFlag struct{ sizeBytes *int64 }

// Set reads text.
func (s sizeFlag) Set(text string) error {
	parsed, err := parseSize(text)
	if err != nil {
		return err
	}
	*s.sizeBytes = parsed
	return nil
}

// String is the value in bytes, "" when unset.
func (s sizeFlag) String() string {
	if s.sizeBytes == nil || *s.sizeBytes == 0 {
		return ""
	}
	return fmt.Sprint(*s.sizeBytes)
}

// Type is the word in the help text.
func (s sizeFlag) Type() string { return "SIZE" }

// kdfTimeFlag is the pflag.Value of --kdf-time: a duration to calibrate to ("1s"), or a bare number of passes ("4").
type kdfTimeFlag struct{ cost *session.KDFCost }

// Set reads text.
func (k kdfTimeFlag) Set(text string) error {
	if passes, err := strconv.ParseUint(text, 10, 16); err == nil && passes > 0 {
		k.cost.Passes, k.cost.Time = passes, 0
		return nil
	}
	target, err := time.ParseDuration(text)
	if err != nil || target <= 0 || target > time.Minute {
		return fmt.Errorf("%q is neither a duration up to 1m (500ms, 1s) nor a number of passes", text)
	}
	k.cost.Passes, k.cost.Time = 0, target
	return nil
}

// String is the value as it was given, "" when unset.
func (k kdfTimeFlag) String() string {
	switch {
	case k.cost == nil:
		return ""
	case k.cost.Passes > 0:
		return fmt.Sprint(k.cost.Passes)
	case k.cost.Time > 0:
		return k.cost.Time.String()
	}
	return ""
}

// Type is the word in the help text.
func (k kdfTimeFlag) Type() string { return "TIME" }

// registerKDF adds the flags for the cost of a new password.
func registerKDF(flags *pflag.FlagSet, cost *session.KDFCost) {
	flags.Var(sizeFlag{&cost.MemoryBytes}, "kdf-memory", "memory one guess of the new password costs (default: calibrated)")
	flags.Var(kdfTimeFlag{cost}, "kdf-time", "time one guess should take on this computer, or a number of passes (default 1s)")
}

// completeKDF fills in what the person did not say.
func (a *program) completeKDF(cost *session.KDFCost) {
	if cost.Passes == 0 && cost.Time == 0 {
		cost.Time = time.Duration(a.settings.KDFTime)
	}
}
