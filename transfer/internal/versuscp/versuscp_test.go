package versuscp

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
	"coffer/transfer"
	"coffer/transfer/lab/workload"
	"coffer/transfer/report"
)

// The full comparison is asked for by -versuscp.dir:
//
//	go test ./transfer/internal/versuscp -run TestVersusCp -v -timeout 60m -versuscp.dir /var/tmp -versuscp.rounds 11
//
// Without it the harness itself is checked with small workloads.
var (
	dirFlag     = flag.String("versuscp.dir", "", "folder on the file system under test; needs about 4 GB")
	roundsFlag  = flag.Int("versuscp.rounds", 11, "interleaved pairs")
	onlyFlag    = flag.String("versuscp.only", "a,b,small", "workloads")
	formatFlag  = flag.String("versuscp.format", "luks2", "container format: luks2 or raw")
	workersFlag = flag.Int("versuscp.workers", 0, "files copied at a time; 0: the default")
)

func password(t testing.TB) *secret.Buffer {
	t.Helper()
	b, err := secret.Copy([]byte("versus cp"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// boxes creates and opens containers with a cheap KDF: it is not what is measured.
func boxes(t testing.TB, format string) (create func(string, int64) (Container, error), open func(string) (Container, error)) {
	ctx := context.Background()
	wrap := func(v *container.Volume, err error, fresh bool) (Container, error) {
		if err != nil {
			return Container{}, err
		}
		if fresh {
			if _, err := fat32.Format(ctx, v, fat32.FormatOptions{AssumeZero: v.KnownZero()}); err != nil {
				return Container{}, err
			}
		}
		fs, err := fat32.Mount(v, fat32.MountOptions{})
		if err != nil {
			return Container{}, err
		}
		info := v.Info()
		place := transfer.Place{Volume: fs, Path: "/", Backing: v, SizeBytes: v.Size(), Endpoint: report.Endpoint{Kind: "container", Format: string(info.Format)}}
		return Container{Place: place, Close: func() error {
			err := fs.Close()
			if cerr := v.Close(); err == nil {
				err = cerr
			}
			return err
		}}, nil
	}
	credential := func() container.Credential {
		if format == "raw" {
			return container.Credential{}
		}
		return container.Credential{Password: password(t), Slot: container.AnySlot}
	}
	create = func(path string, usable int64) (Container, error) {
		v, err := container.Create(ctx, path, container.CreateOptions{Format: container.Format(format), UsableBytes: usable,
			KDF: kdf.Cost{Kind: "pbkdf2", Iterations: 1000}}, credential())
		return wrap(v, err, true)
	}
	open = func(path string) (Container, error) {
		v, err := container.Open(ctx, path, container.OpenOptions{Format: container.Format(format)}, credential())
		return wrap(v, err, false)
	}
	return create, open
}

// dropCaches empties the page cache, for which one must be root.
func dropCaches() error {
	if out, err := exec.Command("sync").CombinedOutput(); err != nil {
		return fmt.Errorf("sync: %w: %s", err, out)
	}
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0)
}

func TestVersusCp(t *testing.T) {
	c := Config{Rounds: 1, Workloads: []workload.Workload{workload.Large(9 << 20), workload.Photos(60, 6<<20), workload.Small(200, 1024)}, DropCaches: func() error { return nil }, Dir: t.TempDir(), Workers: *workersFlag}
	full := *dirFlag != ""
	if full {
		dir, err := os.MkdirTemp(*dirFlag, "versuscp")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		c.Dir, c.Rounds, c.DropCaches, c.Workloads, c.Log = dir, *roundsFlag, dropCaches, nil, t.Logf
		for _, w := range []workload.Workload{workload.Large(658e6), workload.Photos(2140, 667e6), workload.Small(20000, 1000)} {
			if strings.Contains(","+*onlyFlag+",", ","+w.Name+",") {
				c.Workloads = append(c.Workloads, w)
			}
		}
	}
	c.Create, c.Open = boxes(t, *formatFlag)
	results, err := Compare(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Log(r)
	}
	if len(results) != 2*len(c.Workloads) || len(results) == 0 {
		t.Fatalf("%d results for %d workloads", len(results), len(c.Workloads))
	}
	if left, _ := filepath.Glob(filepath.Join(c.Dir, "*")); full && len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestQuantiles(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	if q := quantile(v, 0.5); q != 2.5 {
		t.Fatal(q)
	}
	if quantile(v, 0) != 1 || quantile(v, 1) != 4 || quantile(nil, 0.5) != 0 {
		t.Fatal("quantile")
	}
	w := workload.Photos(2140, 667e6)
	if n := w.Bytes(); len(w.Files) != 2140 || n < 666e6 || n > 667e6 {
		t.Fatal(len(w.Files), n)
	}
}
