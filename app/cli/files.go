package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/agent/operations"
	"coffer/app/session"
)

// insidePlaces reads arguments that must all be places inside one and the same container.
func insidePlaces(command string, args []string) (image string, paths []session.Place, err error) {
	for _, argument := range args {
		place, err := session.ParsePlace(argument)
		if err != nil {
			return "", nil, placeError(command, err)
		}
		if !place.Inside() {
			return "", nil, usagef("%s: %s is not a path inside a container; write IMAGE:/path", command, argument)
		}
		if image != "" && place.Image != image {
			return "", nil, usagef("%s: %s and %s are two containers; one command works in one", command, image, place.Image)
		}
		image = place.Image
		paths = append(paths, place)
	}
	return image, paths, nil
}

// placeError tells a missing image (failed) from a malformed argument (usage).
func placeError(command string, err error) error {
	var missing *session.NoImageError
	if errors.As(err, &missing) {
		return &session.Error{What: command, Err: err, Code: session.Failed,
			Hint: "make it first with `coffer create`, or check the spelling"}
	}
	return usagef("%s: %w", command, err)
}

// withSession opens the container at image, runs work and closes it; a failing close is an error like any other.
func (a *program) withSession(c *cobra.Command, f *containerFlags, image string, readOnly bool, work func(session.Files) error) error {
	opened, err := a.open(c, f, image, readOnly)
	if err != nil {
		return err
	}
	return withClose(work(opened), opened.Close())
}

// withClose joins the errors of some work and of closing what it was done on. A closing that fails like the work (its agent
// has ended, say) is not told twice.
func withClose(work, closing error) error {
	if work != nil && closing != nil && session.Explain(work).Sentence == session.Explain(closing).Sentence {
		return work
	}
	return errors.Join(work, closing)
}

// unlocked is the client of the agent that has the image unlocked; nil when nobody has.
func unlocked(image string) (*operations.Client, error) {
	client, err := agent.FindImage(image)
	switch {
	case errors.Is(err, agent.ErrNotUnlocked):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return client.Operations(image), nil
}

// open is the container at image: through its agent when it is unlocked, else opened here, after asking for the credential;
// notes of the opening go to stderr.
func (a *program) open(c *cobra.Command, f *containerFlags, image string, readOnly bool) (session.Files, error) {
	target, err := f.target.target(image)
	if err != nil {
		return nil, err
	}
	if client, err := unlocked(image); err != nil {
		return nil, err
	} else if client != nil {
		return client, nil
	}
	if err := session.CheckTarget(target); err != nil {
		return nil, err
	}
	credential, err := a.credentialFor(c.Context(), target, &f.credential, question{object: image})
	if err != nil {
		return nil, err
	}
	defer credential.Destroy()
	opened, err := session.Open(c.Context(), target, session.OpenOptions{ReadOnly: readOnly}, credential)
	if err != nil {
		return nil, err
	}
	for _, note := range opened.Notes {
		a.note(note)
	}
	return opened, nil
}

func (a *program) lsCommand() *cobra.Command {
	f, recursive := &containerFlags{}, false
	c := &cobra.Command{
		Use:     "ls IMAGE:/path",
		GroupID: groupFiles,
		Short:   "List files inside a container",
		Example: "  coffer ls photos.img:/\n  coffer ls -R photos.img:/2019",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if info, err := session.ParsePlace(args[0]); err == nil && !info.Inside() && session.IsFile(args[0]) {
				args[0] += ":/" // a bare IMAGE means its root
			}
			image, places, err := insidePlaces("ls", args)
			if err != nil {
				return err
			}
			return a.withSession(c, f, image, true, func(s session.Files) error { return a.ls(c, s, places[0].Path, recursive) })
		},
	}
	c.Flags().BoolVarP(&recursive, "recursive", "R", false, "folders below too")
	f.register(c.Flags())
	return c
}

func (a *program) ls(c *cobra.Command, s session.Files, path string, recursive bool) error {
	entries := []session.Entry{}
	err := s.List(c.Context(), path, recursive, func(e session.Entry) error {
		if a.out.json {
			entries = append(entries, e)
			return nil
		}
		mark, size := "", fmt.Sprint(e.SizeBytes)
		if e.Folder {
			mark, size = "/", "-"
		}
		a.out.say("%12s  %s  %s%s", size, e.Modified.Format(time.DateTime), escape(e.Path), mark)
		return a.out.err
	})
	if err != nil {
		return err
	}
	return a.out.document(map[string]any{"path": path, "entries": entries})
}

func (a *program) catCommand() *cobra.Command {
	f := &containerFlags{}
	c := &cobra.Command{
		Use:     "cat IMAGE:/file...",
		GroupID: groupFiles,
		Short:   "Write files from inside a container to stdout",
		Long:    "Writes the bytes of the files to stdout, as they are. With --json they come as base64 in one document.",
		Example: "  coffer cat photos.img:/notes.txt\n  coffer cat photos.img:/2019/a.jpg > a.jpg",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			image, places, err := insidePlaces("cat", args)
			if err != nil {
				return err
			}
			return a.withSession(c, f, image, true, func(s session.Files) error { return a.cat(c, s, places) })
		},
	}
	f.register(c.Flags())
	return c
}

// cat streams, also as JSON: files may be larger than memory.
func (a *program) cat(c *cobra.Command, s session.Files, places []session.Place) error {
	if !a.out.json {
		for _, place := range places {
			if err := s.Cat(c.Context(), place.Path, &a.out); err != nil {
				return err
			}
		}
		return nil
	}
	for _, place := range places { // every mistake is known before the document begins
		if err := s.MustBeFile(c.Context(), place.Path); err != nil {
			return err
		}
	}
	a.out.documents++
	separator := `{"files":[`
	for _, place := range places {
		name, err := json.Marshal(place.Path)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(&a.out, `%s{"path":%s,"base64":"`, separator, escapeJSON(name)); err != nil {
			return err
		}
		encoder := base64.NewEncoder(base64.StdEncoding, &a.out)
		if err := errors.Join(s.Cat(c.Context(), place.Path, encoder), encoder.Close()); err != nil {
			return err
		}
		separator = `"},`
	}
	_, err := io.WriteString(&a.out, "\"}]}\n")
	return err
}

func (a *program) mkdirCommand() *cobra.Command {
	f, parents := &containerFlags{}, false
	c := &cobra.Command{
		Use:     "mkdir IMAGE:/folder...",
		GroupID: groupFiles,
		Short:   "Make folders inside a container",
		Example: "  coffer mkdir photos.img:/2020\n  coffer mkdir -p photos.img:/2020/summer/sea",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.change(c, f, args, func(s session.Files, path string) error { return s.Mkdir(c.Context(), path, parents) })
		},
	}
	c.Flags().BoolVarP(&parents, "parents", "p", false, "missing folders above too; an existing folder is no error")
	f.register(c.Flags())
	return c
}

func (a *program) rmCommand() *cobra.Command {
	f, recursive, force := &containerFlags{}, false, false
	c := &cobra.Command{
		Use:     "rm IMAGE:/path...",
		GroupID: groupFiles,
		Short:   "Remove files inside a container",
		Example: "  coffer rm photos.img:/old.jpg\n  coffer rm -r photos.img:/2018",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if recursive && !force {
				if err := refuseRoot(args); err != nil {
					return err
				}
			}
			return a.change(c, f, args, func(s session.Files, path string) error { return s.Remove(c.Context(), path, recursive) })
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "also the root folder: empty the whole container")
	c.Flags().BoolVarP(&recursive, "recursive", "r", false, "folders with all that is in them")
	f.register(c.Flags())
	return c
}

// refuseRoot refuses to empty a whole container.
func refuseRoot(args []string) error {
	for _, argument := range args {
		if place, err := session.ParsePlace(argument); err == nil && place.Inside() && place.Path == "/" {
			return &session.Error{What: "rm " + argument, Err: errors.New("this removes every file in the container"), Code: session.Usage,
				Hint: "add --force if you mean it"}
		}
	}
	return nil
}

// change runs one operation on each path and reports the paths done.
func (a *program) change(c *cobra.Command, f *containerFlags, args []string, work func(session.Files, string) error) error {
	image, places, err := insidePlaces(c.Name(), args)
	if err != nil {
		return err
	}
	done := []string{}
	err = a.withSession(c, f, image, false, func(s session.Files) error {
		for _, place := range places {
			if err := work(s, place.Path); err != nil {
				return err
			}
			done = append(done, place.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.out.document(map[string]any{"done": done})
}

func (a *program) mvCommand() *cobra.Command {
	f, force := &containerFlags{}, false
	c := &cobra.Command{
		Use:     "mv IMAGE:/from... IMAGE:/to",
		GroupID: groupFiles,
		Short:   "Rename or move inside a container",
		Long:    "Renames or moves inside one container. Into a folder when the last argument is one. To move between the host and a\ncontainer use `coffer copy --move`.",
		Example: "  coffer mv photos.img:/a.jpg photos.img:/2019/a.jpg\n  coffer mv photos.img:/a.jpg photos.img:/b.jpg photos.img:/2019/",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			image, places, err := insidePlaces("mv", args)
			if err != nil {
				return err
			}
			var moved []session.Moved
			err = a.withSession(c, f, image, false, func(s session.Files) error {
				last := len(places) - 1
				moved, err = s.Move(c.Context(), places[:last], places[last], force)
				return err
			})
			if err != nil {
				return err
			}
			return a.out.document(map[string]any{"moved": moved})
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "replace an existing file")
	f.register(c.Flags())
	return c
}
