// Command exercise runs the exercisers in a folder: random file operations against a model in memory.
//
//	go run ./vfs/internal/exerciser/exercise -dir /mnt/drive -fat -operations 100000 -seeds 8
//	go run ./vfs/internal/exerciser/exercise -dir /mnt/drive -fat -seconds 600 -parallel 20
//
// It ends with code 1 and the operations that led there at the first difference.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"coffer/vfs/internal/exerciser"
)

func main() {
	var (
		dir        = flag.String("dir", "", "an existing folder of the file system under test")
		kind       = flag.String("kind", "both", "file, tree or both")
		seed       = flag.Uint64("seed", 1, "first seed")
		seeds      = flag.Int("seeds", 1, "how many seeds, one after the other")
		parallel   = flag.Int("parallel", 1, "how many exercisers at a time in the same folder, with seeds of their own")
		operations = flag.Int("operations", 0, "operations per seed and kind; 0: until -seconds are over")
		seconds    = flag.Float64("seconds", 0, "stop after so long; 0: not")
		size       = flag.Int64("size", 256<<10, "largest size of a file in bytes; every second seed takes 12 times that")
		fat        = flag.Bool("fat", false, "the rules of FAT hold")
		overMap    = flag.Bool("append-over-map", false, "make files longer over changes through a map that are not written back yet: Linux 6.18 loses bytes then, on every FUSE file system")
		leave      = flag.Bool("leave", false, "leave the files as they are at the end")
	)
	flag.Parse()
	kinds := map[string][]func(context.Context, exerciser.Config) error{
		"file": {exerciser.File}, "tree": {exerciser.Tree}, "both": {exerciser.File, exerciser.Tree}}[*kind]
	if *dir == "" || kinds == nil || *operations == 0 && *seconds == 0 {
		fmt.Fprintln(os.Stderr, "exercise: -dir, a known -kind, and -operations or -seconds are needed")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *seconds > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*seconds*float64(time.Second)))
		defer cancel()
	}
	var (
		group  sync.WaitGroup
		failed = make(chan error, *parallel**seeds*2)
	)
	for lane := range *parallel {
		group.Go(func() {
			for i := range *seeds {
				c := exerciser.Config{Dir: *dir, Seed: *seed + uint64(i**parallel+lane), Operations: *operations, FAT: *fat, MaxSizeBytes: *size, Leave: *leave, AppendOverMap: *overMap}
				if c.Seed%2 == 0 {
					c.MaxSizeBytes *= 12
				}
				for which, run := range kinds {
					// What an exerciser leaves, the next one must not take for its own.
					c.Prefix = fmt.Sprintf("p%d%c-", c.Seed, 'a'+which)
					started := time.Now()
					if err := run(ctx, c); err != nil {
						failed <- err
						return
					}
					fmt.Printf("seed %d, exerciser %d of %d: no difference, %.1f s\n", c.Seed, which+1, len(kinds), time.Since(started).Seconds())
				}
			}
		})
	}
	group.Wait()
	close(failed)
	code := 0
	for err := range failed {
		fmt.Fprintln(os.Stderr, "exercise: "+err.Error())
		code = 1
	}
	os.Exit(code)
}
