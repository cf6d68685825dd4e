//go:build unix

package serve

import "syscall"

// maxOpenFiles returns the number of files that the process may have open at a time.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 4 * maxUnauthenticatedConns
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
