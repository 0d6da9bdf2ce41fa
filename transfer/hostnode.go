package transfer

import (
	"io/fs"
)

func kindOf(m fs.FileMode) kind {
	switch {
	case m.IsRegular():
		return kindFile
	case m.IsDir():
		return kindFolder
	case m&fs.ModeSymlink != 0:
		return kindLink
	case m&fs.ModeNamedPipe != 0:
		return kindFIFO
	case m&fs.ModeSocket != 0:
		return kindSocket
	case m&fs.ModeDevice != 0:
		return kindDevice
	default:
		return kindSpecial
	}
}

func nodeOf(st fs.FileInfo) node {
	n := node{name: st.Name(), kind: kindOf(st.Mode()), size: st.Size(), modified: st.ModTime(), mode: uint32(st.Mode().Perm()), readOnly: st.Mode()&0o222 == 0}
	if n.mode == 0 {
		n.mode = 0o400
	}
	return n
}
