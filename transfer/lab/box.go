package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
	"coffer/transfer"
	"coffer/transfer/report"
)

// box is an open temporary container with a FAT volume in it.
type box struct {
	volume *container.Volume
	files  *fat32.Volume
}

// newPassword makes a password nobody knows: what is in a temporary container is of no use to anybody afterwards.
func newPassword() (*secret.Buffer, error) {
	var random [16]byte
	rand.Read(random[:])
	text := make([]byte, hex.EncodedLen(len(random)))
	hex.Encode(text, random[:])
	secret.Wipe(random[:])
	return secret.FromBytes(text)
}

func credentialOf(format string, password *secret.Buffer) container.Credential {
	if format == string(container.Raw) {
		return container.Credential{Slot: container.AnySlot}
	}
	return container.Credential{Password: password, Slot: container.AnySlot}
}

// createBox makes a container that can hold usableBytes. Its key derivation costs next to nothing: it is not measured.
func createBox(ctx context.Context, path, format string, usableBytes int64, password *secret.Buffer) (*box, error) {
	volume, err := container.Create(ctx, path, container.CreateOptions{
		Format: container.Format(format), UsableBytes: usableBytes, KDF: kdf.Cost{Kind: "pbkdf2", Iterations: 1000},
	}, credentialOf(format, password))
	if err != nil {
		return nil, fmt.Errorf("create a temporary container (%s): %w", format, err)
	}
	sector := volume.Info().SectorSizeBytes // one sector, one data unit
	if _, err := fat32.Format(ctx, volume, fat32.FormatOptions{SectorSize: sector, AssumeZero: volume.KnownZero()}); err != nil {
		return nil, errors.Join(fmt.Errorf("format a temporary container (%s): %w", format, err), volume.Close())
	}
	return mountBox(volume)
}

func openBox(ctx context.Context, path, format string, password *secret.Buffer) (*box, error) {
	volume, err := container.Open(ctx, path, container.OpenOptions{Format: container.Format(format)}, credentialOf(format, password))
	if err != nil {
		return nil, fmt.Errorf("open a temporary container (%s): %w", format, err)
	}
	return mountBox(volume)
}

func mountBox(volume *container.Volume) (*box, error) {
	files, err := fat32.Mount(volume, fat32.MountOptions{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the file system of a temporary container: %w", err), volume.Close())
	}
	return &box{volume, files}, nil
}

// endpoint is the container in a record. device is the host's, which holds the image.
func (b *box) endpoint(host report.Endpoint) report.Endpoint {
	info, geometry := b.volume.Info(), b.files.Geometry()
	return report.Endpoint{
		Kind: "container", Device: host.Device, WriteCache: host.WriteCache, FileSystem: geometry.Type.String(), Format: string(info.Format),
		Cipher: info.Cipher, Engine: info.Engine, SectorBytes: int64(info.SectorSizeBytes), ClusterBytes: int64(geometry.ClusterSize),
	}
}

// place is the root of the volume.
func (b *box) place(host report.Endpoint) transfer.Place {
	return transfer.Place{Volume: b.files, Path: "/", Backing: b.volume, SizeBytes: b.volume.Size(), Endpoint: b.endpoint(host)}
}

// close writes everything down and forgets the key.
func (b *box) close() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.files.Close(), b.volume.Close())
}
