//go:build linux

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"coffer/container/aesxts"
)

// masked clears VAES, VPCLMULQDQ and all AVX-512 bits of CPUID leaf 7 for
// openssl (OPENSSL_ia32cap(3)): if its speed stays, it did not use them.
const masked = "OPENSSL_ia32cap=:~0x600dc230000"

func compare(pairs, seconds, request int, only string) error {
	if pairs < 1 || seconds < 1 || request < 4096 || request%4096 != 0 {
		return errors.New("flags out of range")
	}
	version, err := exec.Command("openssl", "version").Output()
	if err != nil {
		return fmt.Errorf("openssl cannot be run, install the package openssl: %w", err)
	}
	fmt.Printf("%s", version)
	plain, err := openssl(4096, seconds)
	if err != nil {
		return err
	}
	without, err := openssl(4096, seconds, masked)
	if err != nil {
		return err
	}
	fmt.Printf("openssl, 4096 bytes: %.2f GB/s, with VAES and AVX-512 hidden from it %.2f GB/s\n", plain, without)
	fmt.Printf("%-9s %5s %8s %8s %8s %7s  %s\n", "engine", "unit", "request", "ours", "openssl", "median", "least to most")
	for _, name := range aesxts.Implementations() {
		if only != "" && only != name {
			continue
		}
		for _, c := range [][2]int{{4096, request}, {4096, 4096}, {512, request}, {512, 4096}} {
			if err := compareOne(name, c[0], c[1], pairs, seconds); err != nil {
				return err
			}
		}
	}
	return nil
}

func compareOne(name string, unit, request, pairs, seconds int) error {
	var ours, theirs, ratios []float64
	for i := range pairs {
		var a, b float64
		var err error
		measure := []func(){
			func() {
				var e error
				a, e = engine(name, unit, request, time.Duration(seconds)*time.Second/2)
				err = errors.Join(err, e)
			},
			func() {
				var e error
				b, e = openssl(unit, seconds)
				err = errors.Join(err, e)
			},
		}
		// Who goes first changes, so that a drift of the machine favours nobody.
		measure[i%2]()
		measure[1-i%2]()
		if err != nil {
			return err
		}
		ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, a/b)
	}
	fmt.Printf("%-9s %5d %8d %8.2f %8.2f %7.2f  %.2f to %.2f\n", name, unit, request,
		median(ours), median(theirs), median(ratios), slices.Min(ratios), slices.Max(ratios))
	return nil
}

// median of a list that it sorts.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// engine returns GB/s of AES-256-XTS encryption in this goroutine.
func engine(name string, unit, request int, d time.Duration) (float64, error) {
	key := make([]byte, 64)
	rand.Read(key)
	e, err := aesxts.New(key, unit, aesxts.WithImplementation(name), aesxts.WithMaxWorkers(1))
	if err != nil {
		return 0, err
	}
	defer e.Wipe()
	buf := make([]byte, request)
	runtime.LockOSThread() // its clock is the one read
	defer runtime.UnlockOSThread()
	start, err := threadTime()
	if err != nil {
		return 0, err
	}
	for calls := 0; ; {
		for range 64 {
			e.EncryptUnits(buf, buf, uint64(calls))
			calls++
		}
		now, err := threadTime()
		if err != nil {
			return 0, err
		}
		if used := now - start; used >= d {
			return float64(calls) * float64(request) / used.Seconds() / 1e9, nil
		}
	}
}

// threadTime is the CPU time of this thread.
func threadTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the thread's clock: %w", err)
	}
	return time.Duration(t.Nano()), nil
}

// speedLine is what `openssl speed -mr` prints: +F:index:name:bytes per second.
var speedLine = regexp.MustCompile(`(?m)^\+F:[^\n]*:([0-9.]+)\s*$`)

// openssl returns GB/s of its AES-256-XTS encryption.
func openssl(unit, seconds int, env ...string) (float64, error) {
	cmd := exec.Command("openssl", "speed", "-mr", "-evp", "aes-256-xts",
		"-bytes", strconv.Itoa(unit), "-seconds", strconv.Itoa(seconds))
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	found := speedLine.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("%v printed no result", cmd.Args)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || rate <= 0 {
		return 0, fmt.Errorf("%v printed %q", cmd.Args, found[1])
	}
	return rate / 1e9, nil
}
