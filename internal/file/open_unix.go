//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// atOnce has a pipe opened without waiting for who writes to it, and staysHere has no
// link followed.
const (
	atOnce    = syscall.O_NONBLOCK
	staysHere = syscall.O_NOFOLLOW
)

// Mine says whether a file belongs to the user.
func Mine(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == os.Geteuid()
}
