package fat32_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/fat32/fattest"
)

// run runs a program of mtools on an image and returns what it printed.
func mtool(t testing.TB, image, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(fattest.Tool(t, name, "mtools"), append([]string{"-i", image}, args...)...)
	cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1", "TZ=UTC", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestMtoolsReads: mtools finds in our volume what we put there.
func TestMtoolsReads(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			v := mount(t, m)
			must(t, v.MkdirAll("/dir/Unterordner mit langem Namen"))
			files := map[string][]byte{"/SHORT.TXT": pattern(1, 10), "/dir/lower.txt": pattern(2, 5000), "/dir/Unterordner mit langem Namen/Übergröße.dat": pattern(3, 70000), "/empty": nil}
			for p, data := range files {
				put(t, v, p, data)
			}
			must(t, v.SetTimes("/SHORT.TXT", fat32.Times{Modify: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)}))
			must(t, v.SetAttr("/SHORT.TXT", fat32.AttrHidden|fat32.AttrReadOnly))
			must(t, v.SetLabel("COFFER"))
			must(t, v.Close())
			fsck(t, m)
			image := fattest.Save(t, m)
			for p, want := range files {
				to := filepath.Join(t.TempDir(), "out")
				mtool(t, image, "mcopy", "::"+p, to)
				if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s differs for mtools: %v", p, err)
				}
			}
			for cmd, want := range map[string]string{"mattrib ::/SHORT.TXT": "HR", "mlabel -s ::": "COFFER", "mdir -a ::/": "2001-02-03   4:05", "mdir ::/dir": "lower    txt      5000"} {
				f := strings.Fields(cmd)
				if out := mtool(t, image, f[0], f[1:]...); !strings.Contains(out, want) {
					t.Errorf("%s prints %q, want %q", cmd, out, want)
				}
			}
		})
	}
}

// TestReadMtools: we find what mtools put into volumes of mkfs.vfat, and go on from there.
func TestReadMtools(t *testing.T) {
	for _, args := range []string{"-F 12 -C %s 1440", "-F 12 -S 1024 -C %s 4000", "-F 16 -f 1 -C %s 20000", "-F 16 -f 4 -s 4 -C %s 60000", "-F 32 -C %s 40000", "-F 32 -f 3 -S 4096 -C %s 300000", "-F 32 -f 1 -s 2 -R 17 -C %s 90001"} {
		t.Run(args, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "image")
			if out, err := exec.Command(fattest.Tool(t, "mkfs.vfat", "dosfstools"), strings.Fields(fmt.Sprintf(args, image))...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			src := filepath.Join(t.TempDir(), "src")
			must(t, os.WriteFile(src, pattern(1, 30000), 0o600))
			must(t, os.Chtimes(src, time.Time{}, time.Date(2010, 11, 12, 13, 14, 16, 0, time.UTC)))
			mtool(t, image, "mmd", "::/Directory With Long Name")
			mtool(t, image, "mcopy", "-m", src, "::/Directory With Long Name/File with a long name.dat")
			mtool(t, image, "mcopy", src, "::/lower.txt")
			mtool(t, image, "mattrib", "+s", "+h", "::/lower.txt")
			mtool(t, image, "mlabel", "::MTOOLS")
			m, err := blocktest.Load(image)
			must(t, err)
			v := mount(t, m)
			for _, p := range []string{"/directory with long name/file WITH a long name.dat", "/LOWER.TXT"} {
				if !bytes.Equal(get(t, v, p), pattern(1, 30000)) {
					t.Fatalf("%s differs", p)
				}
			}
			i, err := v.Stat("/lower.txt")
			if err != nil || i.Name != "lower.txt" || i.Attr&(fat32.AttrHidden|fat32.AttrSystem) != fat32.AttrHidden|fat32.AttrSystem {
				t.Fatalf("%+v, %v", i, err)
			}
			i, err = v.Stat("/Directory With Long Name/File with a long name.dat")
			if err != nil || !i.ModTime.Equal(time.Date(2010, 11, 12, 13, 14, 16, 0, time.UTC)) {
				t.Fatalf("%+v, %v", i, err)
			}
			if v.Label() != "MTOOLS" {
				t.Fatalf("label %q", v.Label())
			}
			must(t, v.Remove("/lower.txt"))
			for i := range 40 {
				put(t, v, fmt.Sprintf("/Directory With Long Name/more files %d.txt", i), pattern(i, 3000))
			}
			must(t, v.SetLabel("OURS"))
			must(t, v.Close())
			if v.Geometry().FATCount <= 2 { // fsck.vfat knows no more
				fsck(t, m)
			}
			selfCheck(t, m)
			image2 := fattest.Save(t, m)
			out := filepath.Join(t.TempDir(), "out")
			mtool(t, image2, "mcopy", "::/Directory With Long Name/more files 39.txt", out)
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, pattern(39, 3000)) {
				t.Fatal("mtools cannot read what we added", err)
			}
		})
	}
}

// TestKernel lets a real Linux kernel mount our volume, read it and write to it.
func TestKernel(t *testing.T) {
	umlrun, err := filepath.Abs("../.ci/umlrun")
	must(t, err)
	fattest.Tool(t, "linux.uml", "user-mode-linux")
	m := format(t, 64<<20, fat32.FormatOptions{Label: "KERNEL"})
	v := mount(t, m)
	must(t, v.MkdirAll("/Some Directory/with more"))
	want := map[string][]byte{"/SHORT.TXT": pattern(1, 10), "/Some Directory/lower.txt": pattern(2, 5000), "/Some Directory/with more/Ünïcödé 日本語.dat": pattern(3, 700000)}
	for p, data := range want {
		put(t, v, p, data)
	}
	must(t, v.Close())
	image := fattest.Save(t, m)
	dir := filepath.Dir(image)
	script := filepath.Join(dir, "script")
	must(t, os.WriteFile(script, []byte(`set -e
cd "$1"
mkdir mnt out
mount -t vfat -o loop,utf8,codepage=437 volume.img mnt
cp -r mnt/. out/
cp "mnt/Some Directory/with more/"* "mnt/written by the kernel.dat"
mv "mnt/SHORT.TXT" "mnt/Some Directory/Moved by the kernel"
rm "mnt/Some Directory/lower.txt"
mkdir "mnt/Kernel Directory"
umount mnt
`), 0o600))
	if out, err := exec.Command(umlrun, script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for p, data := range want {
		if got, err := os.ReadFile(filepath.Join(dir, "out", p)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("the kernel reads %s differently: %v", p, err)
		}
	}
	m, err = blocktest.Load(image)
	must(t, err)
	fsck(t, m)
	v = mount(t, m)
	if v.WasDirty() {
		t.Error("dirty after the kernel's unmount")
	}
	if !bytes.Equal(get(t, v, "/written by the kernel.dat"), want["/Some Directory/with more/Ünïcödé 日本語.dat"]) || !bytes.Equal(get(t, v, "/Some Directory/Moved by the kernel"), want["/SHORT.TXT"]) {
		t.Error("we read what the kernel wrote differently")
	}
	if i, err := v.Stat("/kernel directory"); err != nil || i.Name != "Kernel Directory" {
		t.Error(i, err)
	}
	must(t, v.Close())
}

// TestForeignVolumes mounts oddly formatted volumes, lists all of them, and
// works in those that are sound.
func TestForeignVolumes(t *testing.T) {
	files, err := filepath.Glob("testdata/syz/*.gz")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("testdata/syz is empty")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			must(t, err)
			defer f.Close()
			z, err := gzip.NewReader(f)
			must(t, err)
			p, err := io.ReadAll(z)
			must(t, err)
			m := blocktest.FromBytes(p)
			r, err := fat32.Check(context.Background(), m, fat32.CheckOptions{})
			sound := err == nil && r.Clean()
			v, err := fat32.Mount(m, quiet())
			if err != nil {
				if sound {
					t.Fatalf("a sound volume does not mount: %v", err)
				}
				t.Log(err)
				return
			}
			_, treeErr := readTree(v)
			if sound {
				must(t, treeErr)
				err := v.MkdirAll("/made by/a test")
				if err == nil {
					err = writeFile(v, "/made by/a test/file", 0, text(1, 1000), fat32.Create)
				}
				if err != nil && !errors.Is(err, fat32.ErrNoSpace) {
					t.Fatal(err)
				}
			}
			must(t, v.Close())
			if sound {
				selfCheck(t, m)
			}
			t.Logf("%v, sound %v, %v", v.Geometry().Type, sound, treeErr)
		})
	}
}
