//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// openNonblocking has a pipe opened without waiting for who writes to it, and openNoFollow has no
// link followed.
const (
	openNonblocking = syscall.O_NONBLOCK
	openNoFollow    = syscall.O_NOFOLLOW
)

// IsOwnedByUser says whether a file belongs to the user.
func IsOwnedByUser(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == os.Geteuid()
}
