// Command versusplain measures the mounted drive beside the plain file system it lies on and beside gocryptfs, in the
// same run: every line of work is done by all three, one directly after the other, in an order that rotates from round
// to round. Whatever is written is synced within the time. Cold means: daemons started anew, then all caches of the
// kernel dropped (so it must run as root).
//
//	go run ./vfs/internal/versusplain -coffer bin/coffer -dir /var/tmp            # 3 rounds, under 9 minutes
//	go run ./vfs/internal/versusplain -coffer bin/coffer -dir /var/tmp -rounds 11
//	go run ./vfs/internal/versusplain ... -keep samples.jsonl                     # add to earlier runs, show all
//	go run ./vfs/internal/versusplain ... -only '\[a\]' -without gocryptfs
//	go run ./vfs/internal/versusplain ... -only 'create' -perf perf.data          # profile of the daemon at each line
//
// Each round is a sample; the table shows medians, and ratios of the same round with their quartiles.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "versusplain: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("versusplain", flag.ContinueOnError)
	var (
		program = flags.String("coffer", "bin/coffer", "the program to measure")
		dir     = flags.String("dir", os.TempDir(), "a folder on the plain file system; 8 GB are needed")
		rounds  = flags.Int("rounds", 3, "rounds; in each, every line is done once by each")
		only    = flags.String("only", "", "only lines this regular expression finds")
		without = flags.String("without", "", "leave out coffer or gocryptfs (comma between)")
		keep    = flags.String("keep", "", "file of samples: those in it are counted too, new ones are added")
		scale   = flags.Float64("scale", 1, "share of the full amounts; under 1 only to try the harness")
		perf    = flags.String("perf", "", "record profiles of the coffer daemon with perf, one file per line and round with this name before it")
		format  = flags.String("format", "", "container format of coffer; empty: its default")
		quiet   = flags.Bool("quiet", false, "only the table")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	work, err := os.MkdirTemp(*dir, "versusplain.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := &bench{dir: work, scale: *scale, wanted: wanted, perf: *perf, run: time.Now().UTC().Format("20060102T150405.000"), say: func(format string, values ...any) {
		if !*quiet {
			fmt.Printf(format+"\n", values...)
		}
	}}
	b.contenders = contenders(work, *program, *format, strings.Split(*without, ","))
	samples, err := readSamples(*keep)
	if err != nil {
		return err
	}
	before, started := loadAverage(), time.Now()
	for round := range *rounds {
		fresh, err := b.round(ctx, round)
		if err != nil {
			return err
		}
		if err := appendSamples(*keep, fresh); err != nil {
			return err
		}
		samples = append(samples, fresh...)
	}
	fmt.Printf("\n%d rounds in %.0f s; load average %s before, %s after\n\n", *rounds, time.Since(started).Seconds(), before, loadAverage())
	fmt.Print(table(samples))
	return nil
}

// loadAverage is how busy the machine was: the figures of a busy one say little.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:2], " ")
}
