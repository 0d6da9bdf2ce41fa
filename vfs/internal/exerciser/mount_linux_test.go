package exerciser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
	"coffer/vfs"
)

// COFFER_EXERCISER_OPERATIONS is how many operations each seed does on the mounted drive (1,500), and
// COFFER_EXERCISER_SEEDS how many seeds there are (4). The full run is 100000 and 8.
func fromEnvironment(t *testing.T, name string, otherwise int) int {
	text, ok := os.LookupEnv(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of things to do", name, text)
	}
	return n
}

// volumes are the kinds of volume the seeds take in turn.
var volumes = []struct {
	name        string
	usableBytes int64
	format      fat32.FormatOptions
}{
	{"FAT32, clusters of 4 KiB", 512 << 20, fat32.FormatOptions{Type: fat32.FAT32, ClusterSize: 4096}},
	{"FAT32, clusters of 512 bytes", 160 << 20, fat32.FormatOptions{Type: fat32.FAT32, ClusterSize: 512}},
	{"FAT16, clusters of 8 KiB", 256 << 20, fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 8192}},
	{"FAT12, clusters of 64 KiB", 200 << 20, fat32.FormatOptions{Type: fat32.FAT12, ClusterSize: 65536}},
}

// A process must not use a drive that it serves itself: a page fault in a memory map stops one of its threads where
// the runtime does not expect it, and the server waits for that thread. So this test binary serves in a child process,
// started with these in its environment.
const (
	serveVariable = "COFFER_EXERCISER_SERVE" // number of the kind of volume
	freshVariable = "COFFER_EXERCISER_FRESH" // "1": make it first
	imageVariable = "COFFER_EXERCISER_IMAGE"
	pointVariable = "COFFER_EXERCISER_POINT"
	bytesVariable = "COFFER_EXERCISER_BYTES" // usable ones of a fresh volume
)

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(serveVariable); ok {
		n, err := strconv.Atoi(kind)
		if err == nil {
			err = serve(context.Background(), n)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve mounts, says "ready", and when its standard input ends it unmounts and checks the volume.
func serve(ctx context.Context, kind int) error {
	device, volume, err := openVolume(ctx, os.Getenv(imageVariable), kind, os.Getenv(freshVariable) == "1")
	if err != nil {
		return err
	}
	mount, err := vfs.MountVolume(ctx, volume, os.Getenv(pointVariable), vfs.Options{OnPanic: func(report []byte) { fmt.Printf("panic: %s", report) }})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := mount.Unmount(ctx, false); err != nil {
		return errors.Join(err, mount.Unmount(ctx, true))
	}
	if err := volume.Close(); err != nil {
		return err
	}
	report, err := fat32.Check(ctx, device, fat32.CheckOptions{})
	if err == nil && !report.Clean() {
		err = fmt.Errorf("the volume is not clean: %+v", report.Findings)
	}
	return errors.Join(err, device.Close())
}

func openVolume(ctx context.Context, image string, kind int, fresh bool) (device *container.Volume, volume *fat32.Volume, err error) {
	password, err := secret.Copy([]byte("exerciser"))
	if err != nil {
		return nil, nil, err
	}
	credential := container.Credential{Password: password, Slot: container.AnySlot}
	if fresh {
		usableBytes, perr := strconv.ParseInt(os.Getenv(bytesVariable), 10, 64)
		if perr != nil {
			return nil, nil, perr
		}
		device, err = container.Create(ctx, image, container.CreateOptions{UsableBytes: usableBytes, KDF: kdf.Cost{Kind: "pbkdf2", Iterations: 1000}}, credential)
		if err == nil {
			_, err = fat32.Format(ctx, device, volumes[kind].format)
		}
	} else {
		device, err = container.Open(ctx, image, container.OpenOptions{}, credential)
	}
	if err != nil {
		return nil, nil, err
	}
	volume, err = fat32.Mount(device, fat32.MountOptions{CommitInterval: 200 * time.Millisecond})
	return device, volume, err
}

// drive is an encrypted volume that can be mounted again and again.
type drive struct {
	kind         int
	usableBytes  int64
	image, point string
	fresh        string
	server       *exec.Cmd
	stop         io.Closer
	said         *bufio.Reader
}

func (d *drive) up() error {
	d.server = exec.Command(os.Args[0])
	d.server.Env = append(os.Environ(), serveVariable+"="+strconv.Itoa(d.kind), freshVariable+"="+d.fresh, imageVariable+"="+d.image, pointVariable+"="+d.point,
		bytesVariable+"="+strconv.FormatInt(d.usableBytes, 10))
	d.server.Stderr = os.Stderr
	d.fresh = ""
	in, err := d.server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := d.server.StdoutPipe()
	if err != nil {
		return err
	}
	d.stop, d.said = in, bufio.NewReader(out)
	if err := d.server.Start(); err != nil {
		return err
	}
	if line, err := d.said.ReadString('\n'); err != nil || line != "ready\n" {
		rest, _ := io.ReadAll(d.said)
		return fmt.Errorf("serve: %s%s: %w", line, rest, errors.Join(err, d.server.Wait()))
	}
	return nil
}

// down unmounts; the volume must be clean and the server must not have had anything to say.
func (d *drive) down() error {
	if err := d.stop.Close(); err != nil {
		return err
	}
	said, err := io.ReadAll(d.said)
	if err = errors.Join(err, d.server.Wait()); err != nil || len(said) > 0 {
		return fmt.Errorf("unmount: %v: %s", err, said)
	}
	return nil
}

func newDrive(t *testing.T, kind int) *drive {
	t.Helper()
	return newSizedDrive(t, kind, volumes[kind].usableBytes)
}

func newSizedDrive(t *testing.T, kind int, usableBytes int64) *drive {
	t.Helper()
	if err := vfs.Probe(); err != nil {
		t.Fatalf("this test needs FUSE, Debian package fuse3, and /dev/fuse: %v", err)
	}
	dir := t.TempDir()
	d := &drive{kind: kind, usableBytes: usableBytes, image: filepath.Join(dir, "image"), point: filepath.Join(dir, "drive"), fresh: "1"}
	if err := d.up(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.server.ProcessState == nil { // the test failed with the drive up
			if err := d.down(); err != nil {
				t.Log(err)
			}
		}
	})
	return d
}

// TestMounted runs both exercisers over a mounted encrypted volume that is taken away, checked and brought back now and
// then.
func TestMounted(t *testing.T) {
	operations := fromEnvironment(t, "COFFER_EXERCISER_OPERATIONS", operations(1500))
	for name, run := range kinds {
		for seed := range fromEnvironment(t, "COFFER_EXERCISER_SEEDS", 4) {
			t.Run(fmt.Sprintf("%s, seed %d, %s", name, seed, volumes[seed%len(volumes)].name), func(t *testing.T) {
				d := newDrive(t, seed%len(volumes))
				c := Config{Dir: d.point, Seed: uint64(seed), Operations: operations, FAT: true, MaxSizeBytes: 256 << 10}
				if seed%8 >= 4 || seed%4 == 0 {
					c.MaxSizeBytes = 3 << 20
				}
				c.Remount = func() error { return errors.Join(d.down(), d.up()) }
				if err := run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if err := d.down(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestMountedTogether runs several exercisers at a time in one folder.
func TestMountedTogether(t *testing.T) {
	d := newDrive(t, 0)
	failed := make(chan error, 16)
	var group sync.WaitGroup
	for lane := range 4 {
		for name, run := range kinds {
			group.Go(func() {
				c := Config{Dir: d.point, Seed: uint64(lane), Operations: fromEnvironment(t, "COFFER_EXERCISER_OPERATIONS", operations(1500)), FAT: true}
				c.Prefix = fmt.Sprintf("%s%d-", name, lane)
				if err := run(t.Context(), c); err != nil {
					failed <- err
				}
			})
		}
	}
	group.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if err := d.down(); err != nil {
		t.Error(err)
	}
}
