package serve

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"kir/internal/file"
	"kir/internal/inputerr"
)

// A lock shows that a process serves a problem. It is a file beside the problem, removed when
// the process ends normally. A second file has the address of the page. It stays, so that the
// next process uses the same address. Open pages and the data that a browser stores for them
// belong to that address.
type lock struct {
	fileLock    *file.Lock // nil where there are no locks
	dir         *file.Dir
	addressFile string // name of the file with the address
}

// mostAddress is the greatest size of the file with the address.
const mostAddress = 1 << 10

// lockProblem takes the lock of a problem. If another process has it, the error gives the
// address of its page.
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
		return nil, &inputerr.Error{File: problem, Message: "another kir serve has this problem open", Hint: hint}
	}
	return l, nil
}

// writeAddress stores the address of the page, without a token.
func (l *lock) writeAddress(address string) error {
	return l.dir.Replace(l.addressFile, []byte(address+"\n"))
}

// lastAddress returns the address of the page when the problem was last served, or the zero
// value if unknown.
func (l *lock) lastAddress() (at netip.AddrPort) {
	text, err := l.dir.Read(l.addressFile, mostAddress)
	if err != nil {
		return at
	}
	if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil {
		at, _ = netip.ParseAddrPort(u.Host) // kir only stores numeric addresses
	}
	return at
}

func (l *lock) release() error {
	if l.fileLock == nil {
		return nil
	}
	return l.fileLock.Remove()
}
