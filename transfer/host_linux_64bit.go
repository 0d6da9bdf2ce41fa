//go:build linux && !(386 || arm || mips || mipsle)

package transfer

import "golang.org/x/sys/unix"

const utimensat64 = unix.SYS_UTIMENSAT
