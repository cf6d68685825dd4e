package serve

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"kir/internal/fault"
	"kir/internal/file"
)

// A lock says that a process serves a problem. It is a file beside the problem, gone when the
// process ends well, with another that holds the address of the page. This one stays, so that the
// next process takes the same address: a page that is still open, and what a browser keeps for it,
// belong to the address.
type lock struct {
	fileLock    *file.Lock // nil where there are no locks
	dir         *file.Dir
	addressFile string // the name of the file that holds the address
}

// mostAddress bounds what is read of an address.
const mostAddress = 1 << 10

// lockProblem takes the lock of a problem, or says who has it.
func lockProblem(problem string) (*lock, error) {
	base := filepath.Base(problem)
	l := &lock{dir: &file.Dir{Path: filepath.Dir(problem), Mode: 0o600}, addressFile: "." + base + ".page"}
	var err error
	if l.fileLock, err = l.dir.Lock("."+base+".lock", false, 0); errors.Is(err, errors.ErrUnsupported) {
		return l, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking %s: %w", problem, err)
	}
	if l.fileLock == nil {
		hint := "end that one first"
		if at, err := l.dir.Read(l.addressFile, mostAddress); err == nil && len(at) > 0 {
			hint = "its page is at " + strings.TrimSpace(string(at))
		}
		return nil, &fault.Error{File: problem, Message: "another kir serve has this problem open", Hint: hint}
	}
	return l, nil
}

// writeAddress writes down where the page is, without what lets in.
func (l *lock) writeAddress(address string) error {
	return l.dir.Replace(l.addressFile, []byte(address+"\n"))
}

// lastAddress returns where the page was when the problem was served last, the zero value if that is
// not known.
func (l *lock) lastAddress() (at netip.AddrPort) {
	text, err := l.dir.Read(l.addressFile, mostAddress)
	if err != nil {
		return at
	}
	if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil {
		at, _ = netip.ParseAddrPort(u.Host) // another name than a number is no address of ours
	}
	return at
}

func (l *lock) release() error {
	if l.fileLock == nil {
		return nil
	}
	return l.fileLock.Remove()
}
