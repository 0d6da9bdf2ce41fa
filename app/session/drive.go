package session

import (
	"os"
	"path/filepath"

	"coffer/transfer"
	"coffer/transfer/report"
)

// Drive is the drive of an unlocked container, as one side of a copy that goes through it, as any program does.
type Drive struct {
	Point string         // where it is mounted
	Timed transfer.Timed // what the process behind it does; nil: unknown
	// Container and FileSystem describe it for the record.
	Container  *ContainerInfo
	FileSystem *FileSystemInfo
}

// place is a place inside the container, reached through the drive.
func (d *Drive) place(p Place) transfer.Place {
	host := report.HostEndpoint(d.Point)
	e := report.Endpoint{Kind: "container", Device: host.Device, WriteCache: host.WriteCache}
	if c := d.Container; c != nil {
		e.Format, e.Cipher, e.Engine, e.SectorBytes = string(c.Format), c.Cipher, c.Engine, int64(c.SectorSizeBytes)
	}
	if f := d.FileSystem; f != nil {
		e.FileSystem, e.ClusterBytes = f.Type, int64(f.ClusterSizeBytes)
	}
	return transfer.Place{Path: filepath.Join(d.Point, filepath.FromSlash(p.Path)), Typed: p.String(), Contents: p.Path == "/", Drive: d.Timed, FAT: true, Endpoint: e}
}

// sync makes everything that was written to the drive durable: the kernel passes an fsync of its root on, a sync(2) it does not.
func (d *Drive) sync() error {
	f, err := os.Open(d.Point)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
