package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"coffer/transfer/lab/workload"
)

// driveTest is one measurement of a folder.
type driveTest struct {
	name    string
	seconds bool // the result is a time, not a rate
	cold    bool // caches are dropped before
	prepare func(*driveWork) error
	run     func(*driveWork) (amount float64, err error) // amount per second is the result
	tidy    func(*driveWork) error
}

// driveWork is what a test works with.
type driveWork struct {
	ctx     context.Context
	subject *driveSubject
	options DriveOptions
	seed    uint64
	groups  []fileGroup // the small files: naming them is not measured
}

// Names of tests.
const (
	testPutChar    = "writing single bytes"
	testWrite      = "writing"
	testRewrite    = "rewriting"
	testGetChar    = "reading single bytes"
	testRead       = "reading"
	testSeeks      = "seeks"
	testCreate     = "creating in order"
	testStat       = "looking at files in order"
	testDelete     = "deleting in order"
	testCreateRand = "creating at random"
	testStatRand   = "looking at files at random"
	testDeleteRand = "deleting at random"
	testCFSLarge   = "one file of 32 MiB"
	testCFSSmall   = "512 files of 64 KiB"
)

// Files of the tests.
const (
	bytesFile = "bytes"
	largeFile = "large"
	ordered   = "ordered"
	shuffled  = "shuffled"
	cfsFile   = "cfs"
	cfsFolder = "cfs files"
)

// driveTests are all tests in their order: as in bonnie++, then the CFS figures. Each finds the files that those before it
// have left.
func driveTests() []driveTest {
	const kilo = 1024.0 // as bonnie++ counts
	large := func(work func(*driveWork) (int64, error)) func(*driveWork) (float64, error) {
		return func(w *driveWork) (float64, error) {
			n, err := alone(func() (int64, error) { return work(w) })
			return float64(n) / kilo, err
		}
	}
	remove := func(name string) func(*driveWork) error {
		return func(w *driveWork) error { return os.RemoveAll(w.path(name)) }
	}
	return []driveTest{
		{name: testPutChar, run: large((*driveWork).putBytes)},
		{name: testWrite, run: large((*driveWork).writeLarge)},
		{name: testRewrite, cold: true, run: large((*driveWork).rewriteLarge)},
		{name: testGetChar, cold: true, run: large((*driveWork).getBytes), tidy: remove(bytesFile)},
		{name: testRead, cold: true, run: large((*driveWork).readLarge)},
		{name: testSeeks, cold: true, run: (*driveWork).seeks, tidy: remove(largeFile)},
		{name: testCreate, prepare: func(w *driveWork) error { return w.nameFiles(ordered) }, run: func(w *driveWork) (float64, error) { return w.create() }},
		{name: testStat, prepare: func(w *driveWork) error { return w.nameFiles(ordered) }, run: func(w *driveWork) (float64, error) { return w.visit(ordered, false) }},
		{name: testDelete, prepare: func(w *driveWork) error { return w.nameFiles(ordered) }, run: func(w *driveWork) (float64, error) { return w.visit(ordered, true) }},
		{name: testCreateRand, prepare: func(w *driveWork) error { return w.nameFiles(shuffled) }, run: func(w *driveWork) (float64, error) { return w.create() }},
		{name: testStatRand, prepare: func(w *driveWork) error { return w.shuffleFiles(shuffled) }, run: func(w *driveWork) (float64, error) { return w.visit(shuffled, false) }},
		{name: testDeleteRand, prepare: func(w *driveWork) error { return w.shuffleFiles(shuffled) }, run: func(w *driveWork) (float64, error) { return w.visit(shuffled, true) }},
		{name: testCFSLarge, seconds: true, run: (*driveWork).cfsLarge, tidy: remove(cfsFile)},
		{name: testCFSSmall, seconds: true, run: (*driveWork).cfsSmall, tidy: remove(cfsFolder)},
	}
}

// charTime bounds the tests of single bytes: a system call for each, which may go through a drive.
func (w *driveWork) charTime() time.Duration {
	if w.options.Quick {
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

// putBytes writes byte by byte, each by a system call, until the time is over or the file is full, then syncs.
func (w *driveWork) putBytes() (n int64, err error) {
	f, err := os.OpenFile(w.path(bytesFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	one, end := [1]byte{'c'}, time.Now().Add(w.charTime())
	for n < w.options.SizeBytes && time.Now().Before(end) && w.ctx.Err() == nil {
		put, err := putSingly(f, &one, min(charBatch, w.options.SizeBytes-n))
		n += put
		if err != nil {
			return n, err
		}
	}
	return n, f.Sync()
}

// charBatch is how many single bytes pass between two looks at the clock.
const charBatch = 1024

// getBytes reads what putBytes has written in the same way.
func (w *driveWork) getBytes() (n int64, err error) {
	f, err := os.Open(w.path(bytesFile))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var one [1]byte
	for end := time.Now().Add(w.charTime()); time.Now().Before(end) && w.ctx.Err() == nil; {
		got, err := getSingly(f, &one, charBatch)
		n += got
		if err != nil || got < charBatch {
			return n, err
		}
	}
	return n, nil
}

// writeLarge writes the large file in blocks and syncs it.
func (w *driveWork) writeLarge() (int64, error) {
	f, err := os.OpenFile(w.path(largeFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := w.fill(f, w.options.SizeBytes, driveBlock)
	return n, errors.Join(err, f.Sync(), f.Close())
}

// fill writes so many bytes, incompressible ones, in blocks.
func (w *driveWork) fill(f *os.File, sizeBytes int64, block int) (n int64, err error) {
	data := w.noiseBlocks(block)
	for i := 0; n < sizeBytes; i++ {
		if i%128 == 0 && w.ctx.Err() != nil {
			return n, w.ctx.Err()
		}
		at := i % (len(data) / block) * block
		got, err := f.Write(data[at : at+int(min(int64(block), sizeBytes-n))])
		n += int64(got)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// noiseBlocks is at least 1 MiB of noise, in whole blocks.
func (w *driveWork) noiseBlocks(block int) []byte {
	data := make([]byte, max(1<<20, block)/block*block)
	io.ReadFull(workload.Noise(w.seed), data)
	return data
}

// rewriteLarge reads every block, changes a byte, and writes it back.
func (w *driveWork) rewriteLarge() (n int64, err error) {
	f, err := os.OpenFile(w.path(largeFile), os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	block := make([]byte, driveBlock)
	for ; n < w.options.SizeBytes; n += driveBlock {
		if n%(1<<20) == 0 && w.ctx.Err() != nil {
			return n, w.ctx.Err()
		}
		if _, err := io.ReadFull(f, block); err != nil {
			return n, err
		}
		block[n/driveBlock%driveBlock]++
		if _, err := f.Seek(-driveBlock, io.SeekCurrent); err != nil {
			return n, err
		}
		if _, err := f.Write(block); err != nil {
			return n, err
		}
	}
	return n, f.Sync()
}

// readLarge reads the large file in blocks.
func (w *driveWork) readLarge() (n int64, err error) {
	f, err := os.Open(w.path(largeFile))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, driveBlock)
	for ; n < w.options.SizeBytes; n += driveBlock {
		if n%(1<<20) == 0 && w.ctx.Err() != nil {
			return n, w.ctx.Err()
		}
		if _, err := io.ReadFull(f, block); err != nil {
			return n, err
		}
	}
	return n, nil
}

// seekTime bounds the seeks on a slow disk.
func (w *driveWork) seekTime() time.Duration {
	if w.options.Quick {
		return 2 * time.Second
	}
	return 20 * time.Second
}

// seeks reads blocks at random places, several at a time, and writes every tenth back.
func (w *driveWork) seeks() (float64, error) {
	var group sync.WaitGroup
	var next atomic.Int64
	failures := make([]error, driveSeekers)
	end := time.Now().Add(w.seekTime())
	for i := range driveSeekers {
		group.Go(func() { failures[i] = w.seeker(uint64(i), &next, end) })
	}
	group.Wait()
	return float64(min(next.Load(), driveSeeks)), errors.Join(failures...)
}

// seeker is one of several. next counts seeks that were begun by all of them.
func (w *driveWork) seeker(number uint64, next *atomic.Int64, end time.Time) (err error) {
	f, err := os.OpenFile(w.path(largeFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	r := rand.New(rand.NewPCG(w.seed, number))
	block, blocks := make([]byte, driveBlock), w.options.SizeBytes/driveBlock
	for i := 0; w.ctx.Err() == nil && time.Now().Before(end); i++ {
		if next.Add(1) > driveSeeks {
			break
		}
		off := r.Int64N(blocks) * driveBlock
		if _, err := f.ReadAt(block, off); err != nil {
			return err
		}
		if i%seekWritePart == 0 {
			block[0]++
			if _, err := f.WriteAt(block, off); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileNames are the names of the small files: like those of bonnie++, a number and up to twelve other characters, in
// front of the number for files in random order.
func (w *driveWork) fileNames(folder string) []string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(w.seed, 77))
	names := make([]string, w.options.Files)
	var rest [12]byte
	for i := range names {
		n := r.IntN(len(rest) + 1)
		for k := range n {
			rest[k] = letters[r.IntN(len(letters))]
		}
		name := fmt.Sprintf("%010x%s", i, rest[:n])
		if folder == shuffled {
			name = fmt.Sprintf("%s%010x", rest[:n], i)
		}
		names[i] = filepath.Join(folder, fmt.Sprint(i/filesPerFolder), name)
	}
	return names
}

// nameFiles prepares the names of the small files.
func (w *driveWork) nameFiles(folder string) error {
	w.groups = groups(w.fileNames(folder))
	return nil
}

// shuffleFiles prepares them in a random order, of several folders one after the other.
func (w *driveWork) shuffleFiles(folder string) error {
	w.groups = groups(w.fileNames(folder))
	r := rand.New(rand.NewPCG(w.seed, 78))
	for _, g := range w.groups {
		r.Shuffle(len(g.names), func(i, k int) { g.names[i], g.names[k] = g.names[k], g.names[i] })
	}
	return nil
}

// create makes the small files, empty, and syncs.
func (w *driveWork) create() (float64, error) {
	for _, group := range w.groups {
		if err := os.MkdirAll(w.path(group.folder), 0o700); err != nil {
			return 0, err
		}
		if err := w.each(group, openFolder.create); err != nil {
			return 0, err
		}
	}
	return float64(w.options.Files), syncFolder(w.subject.dir)
}

// fileGroup is names that follow each other and are in one folder.
type fileGroup struct {
	folder string
	names  []string
}

func groups(paths []string) (list []fileGroup) {
	for _, path := range paths {
		folder, name := filepath.Split(path)
		if n := len(list); n == 0 || list[n-1].folder != folder {
			list = append(list, fileGroup{folder: folder})
		}
		last := &list[len(list)-1]
		last.names = append(last.names, name)
	}
	return list
}

// each does something to every file of a group.
func (w *driveWork) each(g fileGroup, do func(openFolder, string) error) error {
	dir, err := openDir(w.path(g.folder))
	if err != nil {
		return err
	}
	for i, name := range g.names {
		if i%64 == 0 && err == nil {
			err = w.ctx.Err()
		}
		if err != nil {
			break
		}
		err = do(dir, name)
	}
	return errors.Join(err, dir.close())
}

// visit looks at all small files, or deletes them: those in order in the order of their folder, the others in the one that
// was prepared.
func (w *driveWork) visit(folder string, remove bool) (float64, error) {
	do, count := openFolder.stat, 0
	if remove {
		do = openFolder.remove
	}
	for _, group := range w.groups {
		if folder == ordered {
			found, err := namesIn(w.path(group.folder))
			if err != nil {
				return 0, err
			}
			group.names = found
		}
		count += len(group.names)
		if err := w.each(group, do); err != nil {
			return 0, err
		}
	}
	if count != w.options.Files {
		return 0, fmt.Errorf("%d files of %d are there", count, w.options.Files)
	}
	if !remove {
		return float64(count), nil
	}
	return float64(count), errors.Join(os.RemoveAll(w.path(folder)), syncFolder(w.subject.dir))
}

// namesIn is the order of the folder itself.
func namesIn(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// syncFolder makes the names in a folder durable: by its own sync, which a drive is told of, and by that of the file
// system below, where there is one.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if runtimeWindows && err != nil {
		err = nil // folders cannot be synced there
	}
	return errors.Join(err, f.Close(), syncHost(dir))
}

// cfsLarge writes the file of the CFS figures.
func (w *driveWork) cfsLarge() (float64, error) {
	f, err := os.OpenFile(w.path(cfsFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = w.fill(f, cfsBytes, cfsSmall)
	return 1, errors.Join(err, f.Sync(), f.Close())
}

// cfsSmall writes as many bytes in small files.
func (w *driveWork) cfsSmall() (float64, error) {
	if err := os.MkdirAll(w.path(cfsFolder), 0o700); err != nil {
		return 0, err
	}
	data := w.noiseBlocks(cfsSmall)
	for i := range cfsBytes / cfsSmall {
		if w.ctx.Err() != nil {
			return 0, w.ctx.Err()
		}
		at := i % (len(data) / cfsSmall) * cfsSmall
		if err := os.WriteFile(w.path(filepath.Join(cfsFolder, fmt.Sprintf("file %03d", i))), data[at:at+cfsSmall], 0o600); err != nil {
			return 0, err
		}
	}
	return 1, syncFolder(w.subject.dir)
}
