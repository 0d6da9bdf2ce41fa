package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coffer/app/agent"
	"coffer/app/session"
)

// keyFlags are what the key commands take.
type keyFlags struct {
	container containerFlags
	added     credentialFlags
	cost      session.KDFCost
	slot      int
	force     bool
	yes       bool
}

func (a *program) keyCommand() *cobra.Command {
	list := &keyFlags{}
	listCommand := &cobra.Command{
		Use: "list IMAGE", Short: "List the key slots (no password needed)", Example: "  coffer key list photos.img",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.keyList(list, args[0]) },
	}
	list.container.target.register(listCommand.Flags(), "")
	add := &keyFlags{}
	addCommand := &cobra.Command{
		Use: "add IMAGE", Short: "Add a password or key file",
		Example: "  coffer key add photos.img\n  coffer key add photos.img --password-file old.txt --new-keyfile usb.key",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.keyAdd(c, add, args[0]) },
	}
	add.registerNew(addCommand)
	change := &keyFlags{}
	changeCommand := &cobra.Command{
		Use: "change IMAGE", Short: "Replace a password or key file by another",
		Example: "  coffer key change photos.img\n  coffer key change photos.img --password-fd 3 --new-password-fd 4 3<old 4<new",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.keyChange(c, change, args[0]) },
	}
	change.registerNew(changeCommand)
	remove := &keyFlags{}
	removeCommand := &cobra.Command{
		Use: "remove IMAGE", Short: "Remove a key slot, by number or by its password",
		Long: "Removes the key slot with the number --slot, or the one that the given password opens. The last slot goes only with\n" +
			"--force, and after a question: without it nobody can open the container again.",
		Example: "  coffer key remove photos.img --slot 1\n  coffer key remove photos.img --password-stdin",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.keyRemove(c, remove, args[0]) },
	}
	remove.container.register(removeCommand.Flags())
	removeCommand.Flags().IntVar(&remove.slot, "slot", -1, "number of the slot")
	removeCommand.Flags().BoolVar(&remove.force, "force", false, "also the last one, once its name has been typed")
	removeCommand.Flags().BoolVar(&remove.yes, "yes", false, "with --force: do not ask")
	return a.group("key", groupKeys, "Key slots: list, add, remove, change", "  coffer key list photos.img\n  coffer key add photos.img",
		listCommand, addCommand, removeCommand, changeCommand, a.laterCommand("reencrypt"))
}

// registerNew adds the flags of a command that sets a new key.
func (f *keyFlags) registerNew(c *cobra.Command) {
	flags := c.Flags()
	f.container.register(flags)
	f.added.register(flags, "new-", "the new key")
	registerKDF(flags, &f.cost)
}

func (a *program) keyList(f *keyFlags, image string) error {
	target, err := f.container.target.target(image)
	if err != nil {
		return err
	}
	info, err := session.Inspect(target)
	if err != nil {
		return err
	}
	for _, slot := range info.Slots {
		a.out.say("slot %d: %s", slot.Number, escape(slot.Describe()))
	}
	if len(info.Slots) == 0 {
		a.out.say("no key slots")
	}
	return a.out.document(map[string]any{"path": image, "slots": append([]session.Slot{}, info.Slots...)})
}

// bothCredentials reads the present and the new credential, in this order (they may share stdin).
func (a *program) bothCredentials(c *cobra.Command, f *keyFlags, doing, image string) (target session.Target, present, added session.Credential, err error) {
	a.completeKDF(&f.cost)
	if target, err = f.container.target.target(image); err != nil {
		return target, present, added, err
	}
	if err = session.CheckKeyTarget(target); err != nil {
		return target, present, added, err
	}
	if err = agent.CheckLocked(doing, image); err != nil {
		return target, present, added, err
	}
	if present, err = a.credential(c.Context(), &f.container.credential, question{object: image}); err != nil {
		return target, present, added, err
	}
	if added, err = a.credential(c.Context(), &f.added, question{object: image, isNew: true}); err != nil {
		present.Destroy()
	}
	return target, present, added, err
}

func (a *program) keyAdd(c *cobra.Command, f *keyFlags, image string) error {
	target, present, added, err := a.bothCredentials(c, f, "add a key to", image)
	if err != nil {
		return err
	}
	defer present.Destroy()
	defer added.Destroy()
	slot, err := session.AddKey(c.Context(), target, present, added, f.cost)
	if err != nil {
		return err
	}
	a.out.chat("added as slot %d", slot)
	return a.out.document(map[string]any{"path": image, "slot": slot})
}

func (a *program) keyChange(c *cobra.Command, f *keyFlags, image string) error {
	target, present, added, err := a.bothCredentials(c, f, "change a key of", image)
	if err != nil {
		return err
	}
	defer present.Destroy()
	defer added.Destroy()
	slot, err := session.ChangeKey(c.Context(), target, present, added, f.cost)
	if err != nil {
		return err
	}
	a.out.chat("changed; the new key is in slot %d. Backups of the header still open with the old one.", slot)
	return a.out.document(map[string]any{"path": image, "slot": slot})
}

func (a *program) keyRemove(c *cobra.Command, f *keyFlags, image string) error {
	target, err := f.container.target.target(image)
	if err != nil {
		return err
	}
	if err := session.CheckKeyTarget(target); err != nil {
		return err
	}
	if err := agent.CheckLocked("remove a key from", image); err != nil {
		return err
	}
	request := session.RemoveKeyRequest{Target: target, Slot: f.slot}
	if c.Flags().Changed("slot") {
		if f.slot < 0 {
			return usagef("--slot %d: slots count from 0", f.slot)
		}
		if f.container.credential.given() {
			return usagef("key remove: give --slot or a credential, not both")
		}
	} else {
		credential, err := a.credential(c.Context(), &f.container.credential, question{object: image + " to remove"})
		if err != nil {
			return err
		}
		defer credential.Destroy()
		request.Credential = &credential
	}
	slot, err := session.RemoveKey(c.Context(), request)
	if f.force && session.IsLastKey(err) {
		if err := a.confirm(c, f.yes, "This removes the last key of "+image+". Nobody will be able to open it again.", image); err != nil {
			return err
		}
		request.Force = true
		slot, err = session.RemoveKey(c.Context(), request)
	}
	if err != nil {
		return err
	}
	a.out.chat("removed slot %d. Backups of the header and copies of the file still open with that key.", slot)
	return a.out.document(map[string]any{"path": image, "slot": slot})
}

func (a *program) keyfileCommand() *cobra.Command {
	create := &cobra.Command{
		Use: "new FILE", Short: "Make a key file of 64 random bytes", Example: "  coffer keyfile new usb.key",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := session.NewKeyfile(args[0]); err != nil {
				return err
			}
			a.out.chat("wrote %s; without it, or a second key slot, the container stays shut: keep a copy elsewhere", escape(args[0]))
			return a.out.document(map[string]any{"file": args[0]})
		},
	}
	return a.group("keyfile", groupKeys, "Key files: new", "  coffer keyfile new usb.key", create)
}

func (a *program) headerCommand() *cobra.Command {
	backup := &containerFlags{}
	backupCommand := &cobra.Command{
		Use: "backup IMAGE FILE", Short: "Save the header to a new file",
		Long:    "Saves the header. Whoever has the backup and one of today's passwords can open the container, also after the password\nwas changed: keep it as safe as the password.",
		Example: "  coffer header backup photos.img photos.header",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			target, err := backup.target.target(args[0])
			if err != nil {
				return err
			}
			if err := agent.CheckLocked("back up the header of", args[0]); err != nil {
				return err
			}
			if err := session.BackupHeader(target, args[1]); err != nil {
				return err
			}
			a.out.chat("saved the header of %s as %s", escape(args[0]), escape(args[1]))
			return a.out.document(map[string]any{"path": args[0], "file": args[1]})
		},
	}
	backup.target.register(backupCommand.Flags(), "")
	restore, yes, force := &containerFlags{}, false, false
	restoreCommand := &cobra.Command{
		Use: "restore IMAGE FILE", Short: "Put a saved header back",
		Long:    "Puts a saved header back, with the passwords of that time. Today's key slots are gone afterwards.",
		Example: "  coffer header restore photos.img photos.header --yes",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			target, err := restore.target.target(args[0])
			if err != nil {
				return err
			}
			if err := session.CheckRestore(target, args[1]); err != nil {
				return err
			}
			if err := agent.CheckLocked("restore the header of", args[0]); err != nil {
				return err
			}
			if err := a.confirm(c, yes, "This replaces the header and all key slots of "+args[0]+".", args[0]); err != nil {
				return err
			}
			if err := session.RestoreHeader(target, args[1], force); err != nil {
				return err
			}
			a.out.chat("restored the header of %s", escape(args[0]))
			return a.out.document(map[string]any{"path": args[0]})
		},
	}
	restore.target.register(restoreCommand.Flags(), "")
	restoreCommand.Flags().BoolVar(&yes, "yes", false, "do not ask")
	restoreCommand.Flags().BoolVar(&force, "force", false, "even when the backup is of another container")
	return a.group("header", groupKeys, "Header: backup, restore", "  coffer header backup photos.img photos.header", backupCommand, restoreCommand)
}

func (a *program) destroyCommand() *cobra.Command {
	f, yes := &containerFlags{}, false
	c := &cobra.Command{
		Use:     "destroy IMAGE",
		GroupID: groupContainer,
		Short:   "Overwrite all key material: nobody can open the container again",
		Long: "Overwrites the header and all key slots, so that the content cannot be decrypted any more. It cannot reach copies,\n" +
			"snapshots, backups of the header, or blocks that a solid-state disk has put aside. The file itself stays.",
		Example: "  coffer destroy photos.img\n  coffer destroy photos.img --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			target, err := f.target.target(args[0])
			if err != nil {
				return err
			}
			if err := session.CheckDestroy(target); err != nil {
				return err
			}
			if err := agent.CheckLocked("destroy", args[0]); err != nil {
				return err
			}
			if err := a.confirm(c, yes, "This destroys all keys of "+args[0]+". Nobody will be able to open it again.", args[0]); err != nil {
				return err
			}
			if err := session.Destroy(c.Context(), target); err != nil {
				return err
			}
			a.out.chat("destroyed the keys of %s. Copies, snapshots, header backups and blocks an SSD has remapped are out of reach.", escape(args[0]))
			return a.out.document(map[string]any{"path": args[0]})
		},
	}
	f.target.register(c.Flags(), "")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// confirm makes a person type name before something that cannot be undone, unless --yes was given.
func (a *program) confirm(c *cobra.Command, yes bool, warning, name string) error {
	if yes {
		return nil
	}
	t, err := a.openTerminal()
	if err != nil {
		return usagef("%s: there is no terminal to confirm on; give --yes", commandName(c))
	}
	defer t.Close()
	fmt.Fprintln(t, escape(warning))
	typed, err := askLine(c.Context(), t, "Type the name "+name+" to go on: ")
	if err != nil {
		return err
	}
	if typed != name {
		return &session.Error{What: commandName(c), Err: errors.New("the name was not typed; nothing was changed")}
	}
	return nil
}
