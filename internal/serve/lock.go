package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"kir/internal/fault"
)

// A lock says that a process serves a problem. It is a file beside the problem
// that holds the address of the page, and is gone when the process ends well.
type lock struct {
	flock *flock.Flock
	path  string
}

// lockProblem takes the lock of a problem, or says who has it.
func lockProblem(file string) (*lock, error) {
	path := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".lock")
	f := flock.New(path)
	taken, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", file, err)
	}
	if !taken {
		hint := "end that one first"
		if at, err := os.ReadFile(path); err == nil && len(at) > 0 {
			hint = "its page is at " + strings.TrimSpace(string(at))
		}
		return nil, &fault.Error{File: file, Message: "another kir serve has this problem open", Hint: hint}
	}
	return &lock{f, path}, nil
}

// tell writes down where the page is, without its token.
func (l *lock) tell(address string) error {
	return os.WriteFile(l.path, []byte(address+"\n"), 0o600)
}

func (l *lock) release() error {
	return errors.Join(os.Remove(l.path), l.flock.Unlock())
}
