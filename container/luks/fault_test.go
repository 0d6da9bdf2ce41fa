package luks

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/container/kdf"
)

// TestFaults fails every read, write and sync of every key operation in turn:
// the operation says so, and afterwards the header reads and a password works.
func TestFaults(t *testing.T) {
	ctx, d := context.Background(), kdf.InProcess{}
	operations := map[string]func(dev *blocktest.Fault, h *Header, key, backup []byte) error{
		"add": func(dev *blocktest.Fault, h *Header, key, _ []byte) error {
			_, err := h.AddKey(ctx, dev, d, key, cheap, []byte("new"), AnySlot)
			return err
		},
		"remove": func(dev *blocktest.Fault, h *Header, _, _ []byte) error { return h.RemoveKey(dev, 0, false) },
		"change": func(dev *blocktest.Fault, h *Header, key, _ []byte) error {
			return h.ChangeKey(ctx, dev, d, key, cheap, []byte("new"), 0)
		},
		"restore": func(dev *blocktest.Fault, _ *Header, _, backup []byte) error {
			b, err := ReadBackup(bytes.NewReader(backup), int64(len(backup)))
			if err != nil {
				return err
			}
			return b.Restore(dev, bytes.NewReader(backup), false)
		},
		"repair": func(dev *blocktest.Fault, h *Header, _, _ []byte) error {
			h.Secondary = CopyDamaged
			return h.Repair(dev)
		},
	}
	for name, run := range operations {
		for _, op := range []blocktest.Op{blocktest.OpWrite, blocktest.OpSync, blocktest.OpRead} {
			for nth := 0; ; nth++ {
				mem, key := makeContainer(t, smallOptions())
				var backup bytes.Buffer
				h, err := Read(mem)
				if err != nil || h.Backup(mem, &backup) != nil {
					t.Fatal("backup", err)
				}
				if _, err := h.AddKey(ctx, mem, d, key, cheap, []byte("pass 1"), AnySlot); err != nil {
					t.Fatal(err)
				}
				fault := blocktest.NewFault(mem)
				fault.Inject(blocktest.Injection{Op: op, Nth: nth, Err: syscall.EIO, Short: 700})
				err = run(fault, h, key, backup.Bytes())
				if fault.Fired() == 0 {
					if err != nil {
						t.Errorf("%s without a fault: %v", name, err)
					}
					if nth == 0 && op != blocktest.OpRead {
						t.Errorf("%s: no operation of kind %d was seen", name, op)
					}
					break
				}
				// A copy that cannot be read may count as lost; all else is told.
				if op != blocktest.OpRead && !errors.Is(err, syscall.EIO) {
					t.Errorf("%s, kind %d, number %d: %v", name, op, nth, err)
				}
				if h, err = Read(mem); err != nil {
					t.Fatalf("%s, kind %d, number %d: %v", name, op, nth, err)
				}
				working := 0
				for _, p := range []string{"pass 0", "pass 1", "new"} {
					if ok, err := opens(h, mem, p, key); err != nil {
						t.Fatal(err)
					} else if ok {
						working++
					}
				}
				if working == 0 {
					t.Errorf("%s, kind %d, number %d: no password works", name, op, nth)
				}
			}
		}
	}
}
