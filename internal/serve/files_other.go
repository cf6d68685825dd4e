//go:build !unix

package serve

// maxOpenFiles returns the number of files that the process may have open at a time.
func maxOpenFiles() int { return 4 * maxUnauthenticatedConns }
