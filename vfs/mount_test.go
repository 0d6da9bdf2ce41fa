package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMountBasics(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	p := filepath.Join(m.Point(), "hello.txt")
	if err := os.WriteFile(p, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(p)
	if err != nil || string(b) != "hello" {
		t.Fatalf("%q %v", b, err)
	}
	list, err := os.ReadDir(m.Point())
	if err != nil || len(list) != 1 || list[0].Name() != "hello.txt" {
		t.Fatalf("%v %v", list, err)
	}
}
