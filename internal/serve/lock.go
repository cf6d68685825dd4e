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

// A problemLock shows other processes that this process serves a problem. The lock is a file beside
// the problem and is removed when the process ends normally. A second file has the address of the
// page. The second file remains, so that the next process uses the same address. Open pages, and
// the data that a browser stores for them, belong to that address.
type problemLock struct {
	fileLock    *file.Lock // nil if the operating system has no file locks
	problemDir  *file.Dir  // directory of the problem
	addressFile string     // name of the file with the page's address
}

// maxAddressBytes is the maximum size, in bytes, of the file with the page's address.
const maxAddressBytes = 1 << 10

// lockProblem takes the lock of a problem file. If another process has the lock, the error gives
// the address of the other process's page.
func lockProblem(problem string) (*problemLock, error) {
	base := filepath.Base(problem)
	l := &problemLock{problemDir: &file.Dir{Path: filepath.Dir(problem), Mode: 0o600}, addressFile: "." + base + ".page"}
	var err error
	if l.fileLock, err = l.problemDir.Lock("."+base+".lock", false, 0); errors.Is(err, errors.ErrUnsupported) {
		return l, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking %s: %w", problem, err)
	}
	if l.fileLock == nil {
		hint := "end that one first"
		if at, err := l.problemDir.Read(l.addressFile, maxAddressBytes); err == nil && len(at) > 0 {
			hint = "its page is at " + strings.TrimSpace(string(at))
		}
		return nil, &inputerr.Error{File: problem, Message: "another kir serve has this problem open", Hint: hint}
	}
	return l, nil
}

// writeAddress stores the address of the page, without a token, in the file for the next process.
func (l *problemLock) writeAddress(address string) error {
	return l.problemDir.Replace(l.addressFile, []byte(address+"\n"))
}

// lastAddress returns the address at which the problem was last served, or the zero value if
// unknown.
func (l *problemLock) lastAddress() (at netip.AddrPort) {
	text, err := l.problemDir.Read(l.addressFile, maxAddressBytes)
	if err != nil {
		return at
	}
	if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil {
		at, _ = netip.ParseAddrPort(u.Host) // kir only stores numeric addresses
	}
	return at
}

// release removes the lock file.
func (l *problemLock) release() error {
	if l.fileLock == nil {
		return nil
	}
	return l.fileLock.Remove()
}
