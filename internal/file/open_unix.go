//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening files. With openNonblocking, opening a pipe does not wait for a writer. With
// openNoFollow, opening a link fails.
const (
	openNonblocking = syscall.O_NONBLOCK
	openNoFollow    = syscall.O_NOFOLLOW
)

// IsOwnedByUser reports whether a file belongs to the user who runs the program.
func IsOwnedByUser(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == os.Geteuid()
}
