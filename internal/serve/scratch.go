package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kir/internal/file"
)

// A scratch is a server's own directory inside the system's temporary one. It is removed at
// the end. If a server was killed, the next server removes its directory.
type scratch struct {
	path string
	lock *file.Lock
}

const (
	scratchPrefix = "kir-serve-"
	scratchLock   = "lock"
)

// newScratch creates the directory of a server.
func newScratch() (*scratch, error) {
	if err := removeAbandoned(os.TempDir()); err != nil {
		return nil, err
	}
	const tries = 10
	for range tries {
		path, err := os.MkdirTemp("", scratchPrefix)
		if err != nil {
			return nil, err
		}
		dir := &file.Dir{Path: path}
		held, err := dir.Lock(scratchLock, false, 0)
		if held != nil || errors.Is(err, errors.ErrUnsupported) {
			return &scratch{path, held}, nil
		}
		// Another server may have taken the new directory for an abandoned one.
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("there is no directory for runs in %s that stays", os.TempDir())
}

// removeAbandoned removes the directories of killed servers of the same user. Their locks are
// free.
func removeAbandoned(within string) error {
	entries, err := os.ReadDir(within)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), scratchPrefix)
		if !ours || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(within, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !file.IsOwnedByUser(info) {
			continue // it is gone, or another user's
		}
		dir := &file.Dir{Path: path}
		held, err := dir.Lock(scratchLock, false, 0)
		if err != nil || held == nil {
			continue // its server is running, or that is unknown
		}
		if err := errors.Join(os.RemoveAll(path), held.Close()); err != nil {
			return err
		}
	}
	return nil
}

// makeDir creates a directory for a run. remove removes it.
func (s *scratch) makeDir(name string) (path string, remove func() error, err error) {
	own, err := os.MkdirTemp(s.path, "run-")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(own, name), func() error { return os.RemoveAll(own) }, nil
}

// end removes the scratch directory.
func (s *scratch) end() error {
	err := os.RemoveAll(s.path)
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return os.RemoveAll(s.path) // some systems cannot remove open files
	}
	return nil
}
