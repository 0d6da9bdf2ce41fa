package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/session"
)

// windowProgram is the program with the window.
const windowProgram = "coffer-window"

// windowPatience is how long `gui` looks whether the window ends at once: for want of a library, or of a display.
const windowPatience = 500 * time.Millisecond

func (a *program) guiCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "gui [IMAGE...]",
		GroupID: groupDrive,
		Short:   "Open the window",
		Long: "Opens the window, with the containers named, and returns. It is a program of its own, " + windowProgram + ", beside this one or on\n" +
			"the PATH. What is unlocked there and here is the same, and stays unlocked when the window is closed.",
		Example: "  coffer gui\n  coffer gui photos.img",
		RunE:    func(c *cobra.Command, args []string) error { return a.gui(c.Context(), args) },
	}
}

// gui starts the window.
func (a *program) gui(ctx context.Context, images []string) error {
	images = append([]string(nil), images...)
	for i, image := range images {
		absolute, err := filepath.Abs(image)
		if err == nil {
			_, err = os.Stat(absolute)
		}
		if err != nil {
			return &session.Error{What: "open " + image, Err: err}
		}
		images[i] = absolute
	}
	program, err := findWindow()
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return &session.Error{What: "open the window", Err: errors.New("there is no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set"),
			Hint: "every command works without it: `coffer --help`"}
	}
	started, err := agent.StartDetached(program, homeOr(filepath.Dir(program)), images...)
	if err != nil {
		return &session.Error{What: "start " + program, Err: err}
	}
	pid := started.Process.Pid
	if err := endedAtOnce(ctx, started); err != nil {
		return err
	}
	a.out.chat("opened the window")
	return a.out.document(map[string]any{"program": program, "pid": pid})
}

// homeOr is the home folder, in which a program from a menu starts, or another if there is none.
func homeOr(other string) string {
	home, err := os.UserHomeDir()
	if err == nil {
		if info, err := os.Stat(home); err == nil && info.IsDir() {
			return home
		}
	}
	return other
}

// endedAtOnce waits a moment for a window that cannot open. One that has opened goes on without us; one that hands over to a
// window that is open already ends without a failure.
func endedAtOnce(ctx context.Context, started *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- started.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return &session.Error{What: "start " + started.Path, Err: fmt.Errorf("it ended at once (%w)", err), Hint: "started in a terminal, it says why"}
		}
	case <-ctx.Done():
	case <-time.After(windowPatience):
	}
	return nil
}

// findWindow looks for the window beside this executable, then on the PATH.
func findWindow() (string, error) {
	name := windowProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(own); err == nil {
			own = resolved
		}
		beside := filepath.Join(filepath.Dir(own), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		if found, err = filepath.Abs(found); err == nil {
			return found, nil
		}
	}
	return "", &session.Error{What: "open the window", Err: fmt.Errorf("%s is neither beside this program nor on the PATH", name),
		Hint: "install it beside coffer: it comes with the desktop packages; every command works without it"}
}
