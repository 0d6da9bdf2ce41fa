package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"coffer/app/agent"
)

func TestListTable(t *testing.T) {
	var out bytes.Buffer
	a := &program{out: output{to: &out}}
	since := time.Date(2026, 5, 4, 13, 7, 0, 0, time.Local)
	a.showList([]agent.Status{
		{Entry: agent.Entry{Image: "/home/ä/photos.img", MountPoint: "/mnt/photos", Started: since}, IdleSeconds: 12,
			FileSystem: agent.Traffic{ReadRate: 12_345_678, WriteRate: 3}},
		{Entry: agent.Entry{Image: "/b\x1b[31m.img", Started: since, ReadOnly: true, PID: 7}, Unresponsive: true},
		{Entry: agent.Entry{Image: "/c.img", MountPoint: "/mnt/c", Started: since, Raw: true}, IdleSeconds: 7000, Problem: "the disk is gone"},
	})
	want := `IMAGE               DRIVE        SINCE             IDLE     READ        WRITE
/home/ä/photos.img  /mnt/photos  2026-05-04 13:07  12 s     12.35 MB/s  -
/b\x1b[31m.img      (no drive)   2026-05-04 13:07  ?                           read-only
/c.img              /mnt/c       2026-05-04 13:07  116 min  -           -      raw
/b\x1b[31m.img: process 7 does not answer
/c.img: the disk is gone
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestIdleTime(t *testing.T) {
	var got []string
	for _, seconds := range []float64{0, 0.9, 1, 119, 120, 7199, 7200, 1e6} {
		got = append(got, idleTime(seconds))
	}
	if text := strings.Join(got, ", "); text != "in use, in use, 1 s, 119 s, 2 min, 119 min, 2 h, 277 h" {
		t.Error(text)
	}
}
