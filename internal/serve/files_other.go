//go:build !unix

package serve

// openFiles returns the number of files that the process may open.
func openFiles() int { return 4 * maxUnknownConns }
