package window

import (
	"reflect"
	"strings"
	"testing"

	"coffer/app/window/instance"
)

func TestArguments(t *testing.T) {
	for line, want := range map[string]arguments{
		"":                             {},
		"--hidden":                     {Request: instance.Request{Hidden: true}},
		"--lock-all":                   {Request: instance.Request{LockAll: true}},
		"--version":                    {version: true},
		"-version":                     {version: true},
		"--help":                       {help: true},
		"a.img -h":                     {Request: instance.Request{Open: []string{"/at/a.img"}}, help: true},
		"a.img":                        {Request: instance.Request{Open: []string{"/at/a.img"}}},
		"/x/../y/b.img a.img":          {Request: instance.Request{Open: []string{"/y/b.img", "/at/a.img"}}},
		"a.img --hidden b.img":         {Request: instance.Request{Hidden: true, Open: []string{"/at/a.img", "/at/b.img"}}},
		"-- --hidden":                  {Request: instance.Request{Open: []string{"/at/--hidden"}}},
		"a.img -- -b":                  {Request: instance.Request{Open: []string{"/at/a.img", "/at/-b"}}},
		"file:///x/a%20b.img":          {Request: instance.Request{Open: []string{"/x/a b.img"}}},
		"file://localhost/x/a.img":     {Request: instance.Request{Open: []string{"/x/a.img"}}},
		"../c.img":                     {Request: instance.Request{Open: []string{"/c.img"}}},
		"/" + strings.Repeat("x", 900): {Request: instance.Request{Open: []string{"/" + strings.Repeat("x", 900)}}},
	} {
		got, err := parseArguments(strings.Fields(line), "/at")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", line, got, err, want)
		}
	}
	for _, line := range [][]string{{"--nonsense"}, {"--hidden=maybe"}, {""}, {"file://elsewhere/x"}, {"file:%zz"}, {"/a\x00b"},
		{"/" + strings.Repeat("x", 40<<10)}, make600()} {
		if got, err := parseArguments(line, "/at"); err == nil {
			t.Errorf("%.40q was taken as %+v", line, got.Request)
		}
	}
}

func make600() (line []string) {
	for range 600 {
		line = append(line, "/a.img")
	}
	return line
}
