package serve

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kir/internal/fault"
	"kir/internal/file"
)

// A lock says that a process serves a problem. It is a file beside the problem, with
// another that holds the address of the page; both are gone when the process ends well.
type lock struct {
	held *file.Lock // nil where there are no locks
	dir  *file.Dir
	page string // the name of the file that holds the address
}

// mostAddress bounds what is read of an address.
const mostAddress = 1 << 10

// lockProblem takes the lock of a problem, or says who has it.
func lockProblem(problem string) (*lock, error) {
	base := filepath.Base(problem)
	l := &lock{dir: &file.Dir{Path: filepath.Dir(problem), Mode: 0o600}, page: "." + base + ".page"}
	var err error
	if l.held, err = l.dir.Lock("."+base+".lock", false, 0); errors.Is(err, errors.ErrUnsupported) {
		return l, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking %s: %w", problem, err)
	}
	if l.held == nil {
		hint := "end that one first"
		if at, err := l.dir.Read(l.page, mostAddress); err == nil && len(at) > 0 {
			hint = "its page is at " + strings.TrimSpace(string(at))
		}
		return nil, &fault.Error{File: problem, Message: "another kir serve has this problem open", Hint: hint}
	}
	return l, nil
}

// tell writes down where the page is, without what lets in.
func (l *lock) tell(address string) error { return l.dir.Replace(l.page, []byte(address+"\n")) }

func (l *lock) release() error {
	err := l.dir.Remove(l.page)
	if l.held != nil {
		err = errors.Join(err, l.held.Remove())
	}
	return err
}
