package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contender is a way to keep files. It is made anew for each round.
type contender interface {
	name() string
	start(ctx context.Context) error   // makes it, empty, and mounts it
	remount(ctx context.Context) error // a new daemon, which remembers nothing
	dir() string                       // where the files go
	daemon() int                       // process id, 0 if there is none
	stop(ctx context.Context) error    // unmounts and removes it
}

// Names of contenders, in the order of the table.
const (
	plainName     = "plain"
	cofferName    = "coffer"
	gocryptfsName = "gocryptfs"
)

func contenders(work, program, format string, without []string) []contender {
	all := []contender{
		&plain{work: filepath.Join(work, plainName)},
		&coffer{work: filepath.Join(work, cofferName), program: program, format: format},
		&gocryptfs{work: filepath.Join(work, gocryptfsName)},
	}
	return slices.DeleteFunc(all, func(c contender) bool { return slices.Contains(without, c.name()) })
}

// plain is a folder.
type plain struct{ work string }

func (p *plain) name() string                  { return plainName }
func (p *plain) start(context.Context) error   { return os.Mkdir(p.work, 0o700) }
func (p *plain) remount(context.Context) error { return nil }
func (p *plain) dir() string                   { return p.work }
func (p *plain) daemon() int                   { return 0 }
func (p *plain) stop(context.Context) error    { return os.RemoveAll(p.work) }

// password of the containers: nothing secret is in them.
const password = "not secret\n"

// output runs a command; its error holds what the command said.
func output(ctx context.Context, env []string, stdin, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), env...)
	command.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(stderr.String()+stdout.String()))
	}
	return stdout.Bytes(), nil
}

// coffer is the drive under test, through the program as users have it.
type coffer struct {
	work, program, format string
	pid                   int
}

func (c *coffer) name() string  { return cofferName }
func (c *coffer) dir() string   { return filepath.Join(c.work, "drive") }
func (c *coffer) daemon() int   { return c.pid }
func (c *coffer) image() string { return filepath.Join(c.work, "image") }

// call runs the program with a runtime folder of its own, so that drives of the user are left alone.
func (c *coffer) call(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	env := []string{"XDG_RUNTIME_DIR=" + filepath.Join(c.work, "run"), "XDG_STATE_HOME=" + filepath.Join(c.work, "state"),
		"XDG_DATA_HOME=" + filepath.Join(c.work, "data"), "XDG_CONFIG_HOME=" + filepath.Join(c.work, "config")}
	return output(ctx, env, stdin, c.program, args...)
}

func (c *coffer) start(ctx context.Context) error {
	for _, dir := range []string{c.work, c.dir(), filepath.Join(c.work, "run")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	create := []string{"create", c.image(), "--size", "4GiB", "--password-stdin", "--kdf-memory", "32MiB"}
	if c.format != "" {
		create = append(create, "--format", c.format)
	}
	if _, err := c.call(ctx, password, create...); err != nil {
		return err
	}
	return c.mount(ctx)
}

func (c *coffer) mount(ctx context.Context) error {
	if _, err := c.call(ctx, password, "unlock", c.image(), c.dir(), "--password-stdin"); err != nil {
		return err
	}
	list, err := c.call(ctx, "", "list", "--json")
	if err != nil {
		return err
	}
	if c.pid, err = findPID(list); err != nil {
		return fmt.Errorf("coffer list --json: %w: %s", err, list)
	}
	return nil
}

// findPID finds the one field "pid" anywhere in a JSON document.
func findPID(document []byte) (int, error) {
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return 0, err
	}
	var found []int
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for name, e := range v {
				if n, ok := e.(float64); ok && strings.EqualFold(name, "pid") {
					found = append(found, int(n))
				}
				walk(e)
			}
		}
	}
	walk(value)
	if len(found) != 1 {
		return 0, fmt.Errorf("%d process ids in the list, not one", len(found))
	}
	return found[0], nil
}

func (c *coffer) remount(ctx context.Context) error {
	if _, err := c.call(ctx, "", "lock", c.image()); err != nil {
		return err
	}
	return c.mount(ctx)
}

func (c *coffer) stop(ctx context.Context) error {
	if c.pid != 0 {
		c.pid = 0
		if _, err := c.call(ctx, "", "lock", c.image()); err != nil {
			return err
		}
	}
	return os.RemoveAll(c.work)
}

// gocryptfs is the peer.
type gocryptfs struct {
	work  string
	fg    *exec.Cmd
	ended chan error
}

func (g *gocryptfs) name() string   { return gocryptfsName }
func (g *gocryptfs) dir() string    { return filepath.Join(g.work, "drive") }
func (g *gocryptfs) cipher() string { return filepath.Join(g.work, "cipher") }

func (g *gocryptfs) daemon() int {
	if g.fg == nil {
		return 0
	}
	return g.fg.Process.Pid
}

func (g *gocryptfs) start(ctx context.Context) error {
	for _, dir := range []string{g.work, g.dir(), g.cipher()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if _, err := output(ctx, nil, password+password, "gocryptfs", "-init", "-q", "-scryptn", "10", g.cipher()); err != nil {
		return err
	}
	return g.mount(ctx)
}

func (g *gocryptfs) mount(ctx context.Context) error {
	g.fg = exec.Command("gocryptfs", "-fg", "-q", g.cipher(), g.dir())
	g.fg.Stdin = strings.NewReader(password)
	var said bytes.Buffer
	g.fg.Stdout, g.fg.Stderr = &said, &said
	if err := g.fg.Start(); err != nil {
		return err
	}
	g.ended = make(chan error, 1)
	go func(command *exec.Cmd, ended chan error) { ended <- command.Wait() }(g.fg, g.ended)
	for {
		select {
		case err := <-g.ended:
			g.fg = nil
			return fmt.Errorf("gocryptfs: %v: %s", err, said.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		if mounts, err := os.ReadFile("/proc/mounts"); err != nil {
			return err
		} else if strings.Contains(string(mounts), " "+g.dir()+" ") {
			return nil
		}
	}
}

func (g *gocryptfs) unmount(ctx context.Context) error {
	if g.fg == nil {
		return nil
	}
	if _, err := output(ctx, nil, "", "fusermount3", "-u", g.dir()); err != nil {
		return err
	}
	g.fg = nil
	return <-g.ended
}

func (g *gocryptfs) remount(ctx context.Context) error {
	if err := g.unmount(ctx); err != nil {
		return err
	}
	return g.mount(ctx)
}

func (g *gocryptfs) stop(ctx context.Context) error {
	if err := g.unmount(ctx); err != nil {
		return err
	}
	return os.RemoveAll(g.work)
}

// ticksPerSecond of /proc/PID/stat, the same on every Linux.
const ticksPerSecond = 100

// cpuSeconds is what a process has used so far, user and system; 0 for none.
func cpuSeconds(pid int) (float64, error) {
	if pid == 0 {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(text))
}

func parseStat(text string) (float64, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // behind the name, which may hold anything
	if len(fields) < 13 {
		return 0, fmt.Errorf("odd /proc stat line %q", text)
	}
	user, err := strconv.ParseFloat(fields[11], 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticksPerSecond, err
}
