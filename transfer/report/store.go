package report

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Errors of the store.
var (
	ErrNoRecord  = errors.New("no such record")
	ErrAmbiguous = errors.New("more than one record begins like this")
	ErrDamaged   = errors.New("the record is damaged")
	ErrID        = errors.New("not a record id")
)

const (
	suffix = ".json"
	// maxRecordBytes bounds what is read back: a record of twelve days at one
	// second has about 20 MB.
	maxRecordBytes = 64 << 20
)

var idPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{9}Z-[0-9a-f]{6}$`)

// NewID makes an id that sorts by time: 20261130T132015123Z-1a2b3c (milliseconds, UTC).
func NewID(start time.Time) string {
	var r [3]byte
	rand.Read(r[:]) // never fails
	return strings.Replace(start.UTC().Format("20060102T150405.000Z"), ".", "", 1) + "-" + hex.EncodeToString(r[:])
}

// Store keeps records as files in one folder, one JSON file each, mode 0600 in
// a folder of mode 0700. It holds no open files; several processes may use one
// folder at once.
type Store struct{ dir string }

// NewStore uses the folder dir, which is made at the first Save.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// Save writes a record durably and atomically: after a crash the old file or
// the new one is there, never half of one. An empty ID is filled in.
func (s *Store) Save(r *Record) error {
	if r.ID == "" {
		r.ID = NewID(r.Start)
	}
	if !idPattern.MatchString(r.ID) {
		return fmt.Errorf("save record %q: %w", r.ID, ErrID)
	}
	if err := s.write(r.ID+suffix, r); err != nil {
		return fmt.Errorf("save record %s: %w", r.ID, err)
	}
	return nil
}

// write stores v as the file of that name.
func (s *Store) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return WriteFileAtomic(filepath.Join(s.dir, name), append(data, '\n'))
}

// WriteFileAtomic replaces path by data, mode 0600, durably and all at once.
func WriteFileAtomic(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".coffer-*.tmp") // 0600, never follows what is there
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// Load reads the record whose id is, or uniquely begins with, id.
func (s *Store) Load(id string) (*Record, error) {
	full, err := s.resolve(id, suffix)
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", id, err)
	}
	return s.read(full)
}

// Delete removes one record, damaged or not.
func (s *Store) Delete(id string) error {
	full, err := s.resolve(id, suffix)
	if err == nil {
		err = os.Remove(filepath.Join(s.dir, full+suffix))
	}
	if err != nil {
		return fmt.Errorf("delete record %q: %w", id, err)
	}
	return nil
}

// List returns all readable records, oldest first, and the ids of damaged ones.
// A folder that does not exist holds none.
func (s *Store) List() (records []*Record, damaged []string, err error) {
	ids, err := s.ids(suffix)
	if err != nil {
		return nil, nil, fmt.Errorf("list records: %w", err)
	}
	for _, id := range ids {
		r, err := s.read(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			damaged = append(damaged, id)
		default:
			records = append(records, r)
		}
	}
	return records, damaged, nil
}

// ids of the files that end in ending, sorted.
func (s *Store) ids(ending string) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ending)
		if ok && idPattern.MatchString(id) && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// resolve completes an id. Only names found in the folder are ever returned, so
// an id cannot lead out of it.
func (s *Store) resolve(id, ending string) (string, error) {
	if id == "" {
		return "", ErrID
	}
	ids, err := s.ids(ending)
	if err != nil {
		return "", err
	}
	var found string
	for _, have := range ids {
		switch {
		case have == id:
			return have, nil
		case strings.HasPrefix(have, id) && found != "":
			return "", ErrAmbiguous
		case strings.HasPrefix(have, id):
			found = have
		}
	}
	if found == "" {
		return "", ErrNoRecord
	}
	return found, nil
}

func (s *Store) read(id string) (*Record, error) {
	data, err := s.bytes(id + suffix)
	if err != nil {
		return nil, fmt.Errorf("read record %s: %w", id, err)
	}
	r := new(Record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read record %s: %w: %w", id, ErrDamaged, err)
	}
	if r.ID != id || r.Schema < 1 {
		return nil, fmt.Errorf("read record %s: %w: it calls itself %q, schema %d", id, ErrDamaged, r.ID, r.Schema)
	}
	return r, nil
}

// bytes reads a file whole, if it is not too long to be what it says.
func (s *Store) bytes(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecordBytes+1))
	if err == nil && len(data) > maxRecordBytes {
		err = fmt.Errorf("%w: longer than %d bytes", ErrDamaged, maxRecordBytes)
	}
	return data, err
}
