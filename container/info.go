package container

import (
	"fmt"

	"coffer/container/aesxts"
	"coffer/container/image"
)

// Info is what can be told about a container without its password. The JSON
// names are part of the command line's interface.
type Info struct {
	Format            Format   `json:"format"`
	Cipher            string   `json:"cipher"`           // "aes-256-xts", "aes-128-xts", "none", or what the header says
	Engine            string   `json:"engine,omitempty"` // implementation that runs on this machine
	UUID              string   `json:"uuid,omitempty"`   //
	Label             string   `json:"label,omitempty"`  //
	KDF               string   `json:"kdf,omitempty"`    // of the first keyslot, for people
	Slots             []Slot   `json:"slots,omitempty"`  //
	SectorSizeBytes   int      `json:"sectorSizeBytes"`  // data unit
	PayloadOffset     int64    `json:"payloadOffset"`    // bytes from the start of the image
	ImageBytes        int64    `json:"imageBytes"`       //
	AllocatedBytes    int64    `json:"allocatedBytes"`   // on the host; less than ImageBytes if sparse
	UsableBytes       int64    `json:"usableBytes"`      // size of the payload
	MetadataSizeBytes int64    `json:"metadataSizeBytes,omitempty"`
	KeyslotsSizeBytes int64    `json:"keyslotsSizeBytes,omitempty"`
	SequenceID        uint64   `json:"sequenceId,omitempty"`  // counts header updates
	HeaderState       []string `json:"headerState,omitempty"` // of the first and second copy: good, stale, damaged, missing
	Requirements      []string `json:"requirements,omitempty"`
	Tokens            int      `json:"tokens,omitempty"`
	Unsupported       string   `json:"unsupported,omitempty"` // why it cannot be opened
	TornUnitLosesAll  bool     `json:"tornUnitLosesAll"`      // a torn write can destroy a whole data unit
}

// Slot is one keyslot.
type Slot struct {
	Number     int    `json:"slot"`
	KDF        string `json:"kdf"`
	MemoryKiB  uint64 `json:"memoryKiB,omitempty"`
	Iterations uint64 `json:"iterations"`
	Threads    uint64 `json:"threads,omitempty"`
	Hash       string `json:"hash,omitempty"`
	KeyBits    int    `json:"keyBits"`
	Priority   string `json:"priority"`
	Bound      bool   `json:"bound"` // false: holds a key that is not the payload's
}

// Inspect tells what is known of the container at path without a password. It
// takes no lock: it works on a container that is open elsewhere.
func Inspect(path string, f Format) (*Info, error) {
	img, err := image.OpenUnlocked(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = img.Close() }()
	h, err := detect(img, f)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", path, err)
	}
	info, err := h.info(img)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", path, err)
	}
	if info.AllocatedBytes, err = img.AllocatedBytes(); err != nil {
		return nil, err
	}
	return &info, nil
}

// engineName is the implementation aesxts chooses on this machine.
func engineName() string {
	e, err := aesxts.New(make([]byte, 64), 512, aesxts.AllowEqualKeys())
	if err != nil {
		return ""
	}
	return e.Implementation()
}
