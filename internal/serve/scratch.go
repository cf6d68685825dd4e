package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kir/internal/file"
)

// A scratch is a directory in the system's temporary one, that of one server. It is gone
// at the end; what servers that were killed left the next one removes.
type scratch struct {
	path string
	lock *file.Lock
}

const (
	scratchPrefix = "kir-serve-"
	scratchLock   = "lock"
)

// newScratch makes the directory of a server.
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
		// Another server may have taken it for one that was left.
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("there is no directory for runs in %s that stays", os.TempDir())
}

// removeAbandoned removes the directories of servers of the same user that were killed: nobody
// holds their locks.
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
			continue // it is gone, or not ours to look at
		}
		dir := &file.Dir{Path: path}
		held, err := dir.Lock(scratchLock, false, 0)
		if err != nil || held == nil {
			continue // a server is at work there, or nobody can tell
		}
		if err := errors.Join(os.RemoveAll(path), held.Close()); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes a directory for a run, and returns what removes it.
func (s *scratch) makeDir(name string) (path string, remove func() error, err error) {
	own, err := os.MkdirTemp(s.path, "run-")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(own, name), func() error { return os.RemoveAll(own) }, nil
}

// end removes all.
func (s *scratch) end() error {
	err := os.RemoveAll(s.path)
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return os.RemoveAll(s.path) // some systems remove no file that is open
	}
	return nil
}
