//go:build unix

package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

var spaceCases = map[string]Case{
	"statfs": statfs,
	"full":   full,
}

// statfs counts every cluster.
func statfs(t *testing.T, dir string) {
	var before, after syscall.Statfs_t
	write(t, filepath.Join(dir, "first"), "") // the folder need not grow for the next
	must(t, syscall.Statfs(dir, &before))
	if before.Bsize < 512 || before.Blocks == 0 || before.Bfree > before.Blocks || uint64(before.Bavail) != before.Bfree {
		t.Errorf("%+v", before)
	}
	must(t, os.WriteFile(filepath.Join(dir, "ten"), make([]byte, 10*int(before.Bsize)), 0o600))
	must(t, syscall.Statfs(dir, &after))
	if used := before.Bfree - after.Bfree; used != 10 {
		t.Errorf("10 clusters took %d", used)
	}
	must(t, os.Remove(filepath.Join(dir, "ten")))
	eventually(t, "all is free again", func() bool {
		must(t, syscall.Statfs(dir, &after))
		return after.Bfree == before.Bfree
	})
}

// full fills the drive to the last cluster: every byte that was accepted is there, the error is the right one, and
// removing a file makes room.
func full(t *testing.T, dir string) {
	var fs syscall.Statfs_t
	must(t, syscall.Statfs(dir, &fs))
	if free := fs.Bfree * uint64(fs.Bsize); free > 300<<20 {
		t.Fatalf("the drive for this suite has %d MiB free, more than 300", free>>20)
	}
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	var total int64
	var files []string
	for i := 0; ; i++ {
		p := filepath.Join(dir, fmt.Sprint("filler ", i))
		f, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o600)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		must(t, err)
		files = append(files, p)
		n := 0
		for range 16 {
			var k int
			k, err = f.Write(block)
			n += k
			if err != nil {
				break
			}
		}
		total += int64(n)
		must(t, f.Close())
		if err != nil {
			wantErr(t, "write to a full drive", err, syscall.ENOSPC)
			break
		}
	}
	if free := int64(fs.Bfree) * int64(fs.Bsize); total < free-2<<20 || total > free {
		t.Errorf("%d bytes went into %d free ones", total, free)
	}
	var sum int64
	for _, p := range files {
		sum += stat(t, p).Size
	}
	if sum != total {
		t.Errorf("%d bytes were accepted, %d are there", total, sum)
	}
	must(t, os.Remove(files[0]))
	must(t, os.WriteFile(filepath.Join(dir, "fits again"), block, 0o600))
	wantFile(t, filepath.Join(dir, "fits again"), string(block))
}
