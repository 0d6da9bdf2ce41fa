package exerciser

func (f *hostFile) Map(int64, bool) (Mapping, error) { return nil, ErrUnsupported }
