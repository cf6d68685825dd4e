package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kir/internal/file"
)

// A scratchDir is the temporary directory of one server. The server removes it at the end. If the
// server was killed, the next server removes it.
type scratchDir struct {
	path string
	lock *file.Lock // lock that is held while the server runs; nil if the operating system has no file locks
}

const (
	scratchDirPrefix = "kir-serve-"
	scratchLockName  = "lock"
)

// newScratch creates the temporary directory of a server. It also removes the temporary directories
// of killed servers.
func newScratch() (*scratchDir, error) {
	if err := removeAbandoned(os.TempDir()); err != nil {
		return nil, err
	}
	const tries = 10
	for range tries {
		path, err := os.MkdirTemp("", scratchDirPrefix)
		if err != nil {
			return nil, err
		}
		dir := &file.Dir{Path: path}
		held, err := dir.Lock(scratchLockName, false, 0)
		if held != nil || errors.Is(err, errors.ErrUnsupported) {
			return &scratchDir{path, held}, nil
		}
		// Another server may have taken the new directory for an abandoned one.
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("there is no directory for runs in %s that stays", os.TempDir())
}

// removeAbandoned removes the temporary directories in parent that killed servers of the same user
// left behind. Such a directory has a lock that no process holds.
func removeAbandoned(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), scratchDirPrefix)
		if !ours || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(parent, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !file.IsOwnedByUser(info) {
			continue // it is gone, or another user's
		}
		dir := &file.Dir{Path: path}
		held, err := dir.Lock(scratchLockName, false, 0)
		if err != nil || held == nil {
			continue // its server is running, or that is unknown
		}
		if err := errors.Join(os.RemoveAll(path), held.Close()); err != nil {
			return err
		}
	}
	return nil
}

// makeRunDir creates a directory for a run and returns a path with the given name inside the
// directory. The function remove removes the directory.
func (s *scratchDir) makeRunDir(name string) (path string, remove func() error, err error) {
	own, err := os.MkdirTemp(s.path, "run-")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(own, name), func() error { return os.RemoveAll(own) }, nil
}

// remove removes the temporary directory and releases its lock.
func (s *scratchDir) remove() error {
	err := os.RemoveAll(s.path)
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return os.RemoveAll(s.path) // some systems cannot remove open files
	}
	return nil
}
