package session

import (
	"context"
	"fmt"
	"os"
	"strings"

	"coffer/container"
)

// Slot is one key slot.
type Slot struct{ container.Slot }

// Describe is the slot in words.
func (s Slot) Describe() string {
	words := []string{s.KDF}
	if s.MemoryKiB > 0 {
		words = append(words, memory(s.MemoryKiB))
	}
	words = append(words, count(s.Iterations, "iteration"))
	if s.Threads > 0 {
		words = append(words, count(uint64(s.Threads), "thread"))
	}
	if s.Hash != "" {
		words = append(words, s.Hash)
	}
	words = append(words, fmt.Sprintf("%d-bit key", s.KeyBits))
	if !s.Bound {
		words = append(words, "not for this payload")
	}
	return strings.Join(words, ", ")
}

// ContainerInfo is what is known of a container without a password.
type ContainerInfo struct {
	container.Info
	Slots    []Slot   `json:"slots"`
	Warnings []string `json:"warnings,omitempty"`
}

// Inspect looks at the container without a password.
func Inspect(t Target) (*ContainerInfo, error) {
	if info, err := os.Stat(t.Path); err != nil {
		return nil, &Error{What: "open " + t.Path, Err: err}
	} else if info.IsDir() {
		return nil, &Error{What: "open " + t.Path, Err: fmt.Errorf("it is a folder, not a container")}
	}
	found, err := container.Inspect(t.Path, container.Format(t.Format))
	if err != nil {
		return nil, wrap("open "+t.Path, err)
	}
	info := &ContainerInfo{Info: *found, Slots: []Slot{}}
	for _, slot := range found.Slots {
		info.Slots = append(info.Slots, Slot{slot})
	}
	if found.Format == container.Raw {
		info.Warnings = append(info.Warnings, "not encrypted: everybody who has the file can read it")
	}
	for i, state := range found.HeaderState {
		if state != "good" {
			info.Warnings = append(info.Warnings, fmt.Sprintf("header copy %d is %s; the next opening for writing mends it from the other", i+1, state))
		}
	}
	if found.Unsupported != "" {
		info.Warnings = append(info.Warnings, "cannot be opened: "+found.Unsupported)
	}
	if found.TornUnitLosesAll {
		info.Warnings = append(info.Warnings, "a power cut during a write can destroy a whole data unit in this format")
	}
	return info, nil
}

// FileSystemInfo describes the file system inside an open container.
type FileSystemInfo struct {
	Type             string `json:"type"`
	Label            string `json:"label"`
	SerialNumber     uint32 `json:"serialNumber"`
	ClusterSizeBytes int    `json:"clusterSizeBytes"`
	SectorSizeBytes  int    `json:"sectorSizeBytes"`
	Clusters         uint32 `json:"clusters"`
	TotalBytes       int64  `json:"totalBytes"`
	FreeBytes        int64  `json:"freeBytes"`
	Dirty            bool   `json:"dirty"` // it was not closed cleanly
}

// FileSystem describes the file system inside.
func (s *Session) FileSystem(context.Context) (*FileSystemInfo, error) {
	geometry, space := s.Volume.Geometry(), s.Volume.StatFS()
	return &FileSystemInfo{
		Type: geometry.Type.String(), Label: s.Volume.Label(), SerialNumber: s.Volume.SerialNumber(), ClusterSizeBytes: geometry.ClusterSize,
		SectorSizeBytes: geometry.SectorSize, Clusters: geometry.ClusterCount, TotalBytes: space.TotalBytes, FreeBytes: space.FreeBytes,
		Dirty: s.Volume.WasDirty(),
	}, nil
}

// count is a number of things in words: "1 thread", "4 threads".
func count(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// memory is an amount of KiB in words.
func memory(kib uint64) string {
	if kib >= 1024 && kib%1024 == 0 {
		return fmt.Sprintf("%d MiB", kib/1024)
	}
	return fmt.Sprintf("%d KiB", kib)
}
