package exerciser

import "os"

func (hostSystem) Rename(from, to string) error { return os.Rename(from, to) }

func (f *hostFile) Map(int64, bool) (Mapping, error) { return nil, ErrUnsupported }
