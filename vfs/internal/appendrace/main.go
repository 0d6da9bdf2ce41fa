//go:build linux

// Command appendrace shows whether the kernel loses appended bytes of a FUSE file system while the last page of the file, changed
// through a map, is written back: see vfs/docs/adr-0005-append-over-a-map.md.
//
//	go run ./vfs/internal/appendrace FOLDER [SECONDS]
//
// It ends with 1 if bytes were lost. Run it on a drive, on another FUSE file system, and on a plain folder.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const page = 4096

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "appendrace: name a folder")
		os.Exit(2)
	}
	seconds := 10
	if len(os.Args) > 2 {
		seconds, _ = strconv.Atoi(os.Args[2])
	}
	rounds, wrong, err := race(os.Args[1], time.Now().Add(time.Duration(seconds)*time.Second))
	if err != nil {
		fmt.Fprintln(os.Stderr, "appendrace:", err)
		os.Exit(2)
	}
	fmt.Printf("%d rounds, appended bytes were wrong in %d\n", rounds, wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}

// race appends to a file again and again while its last page, changed through a map, is being written back.
func race(folder string, end time.Time) (rounds, wrong int, err error) {
	f, err := os.Create(filepath.Join(folder, "appendrace"))
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var running, over atomic.Bool
	defer over.Store(true)
	go func() {
		for !over.Load() {
			if running.Load() {
				_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
			}
		}
	}()
	more, got := bytes.Repeat([]byte{'x'}, 3000), make([]byte, 3000)
	for ; time.Now().Before(end); rounds++ {
		size := int64(page + 1 + rand.IntN(page-100))
		if err := errors.Join(f.Truncate(0), f.Truncate(size)); err != nil {
			return rounds, wrong, err
		}
		m, err := unix.Mmap(int(f.Fd()), 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return rounds, wrong, err
		}
		running.Store(true)
		m[page] = 'm'
		_, err = f.WriteAt(more, size)
		if err == nil {
			_, err = f.ReadAt(got, size)
		}
		running.Store(false)
		if unmapErr := unix.Munmap(m); err == nil {
			err = unmapErr
		}
		if err != nil {
			return rounds, wrong, err
		}
		if !bytes.Equal(got, more) {
			wrong++
		}
	}
	return rounds, wrong, nil
}
