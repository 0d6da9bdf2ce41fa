//go:build linux && (386 || arm || mips || mipsle)

package transfer

import "golang.org/x/sys/unix"

// utimensat64 takes 64-bit times, so that dates after 2038 survive; Linux 5.1.
const utimensat64 = unix.SYS_UTIMENSAT_TIME64
