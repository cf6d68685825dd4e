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

// A problemLock tells other processes that this process serves a problem. The lock is a file beside
// the problem file and is removed when the process ends normally. A second file stores the address
// of the page and remains, so that the next process can use the same address. Open pages, and the
// data that a browser stores for them, belong to the address.
type problemLock struct {
	fileLock    *file.Lock // lock on the file; nil if the operating system has no file locks
	problemDir  *file.Dir  // directory of the problem file
	addressFile string     // name of the file that stores the page's address
}

// maxAddressBytes is the maximum size, in bytes, of the file that stores the page's address.
const maxAddressBytes = 1 << 10

// lockProblem takes the lock of the problem file at problemPath. If another process has the lock,
// the error gives the address of the page of that process.
func lockProblem(problemPath string) (*problemLock, error) {
	base := filepath.Base(problemPath)
	l := &problemLock{problemDir: &file.Dir{Path: filepath.Dir(problemPath), Mode: 0o600}, addressFile: "." + base + ".page"}
	var err error
	if l.fileLock, err = l.problemDir.Lock("."+base+".lock", false, 0); errors.Is(err, errors.ErrUnsupported) {
		return l, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking %s: %w", problemPath, err)
	}
	if l.fileLock == nil {
		hint := "end that one first"
		if at, err := l.problemDir.Read(l.addressFile, maxAddressBytes); err == nil && len(at) > 0 {
			hint = "its page is at " + strings.TrimSpace(string(at))
		}
		return nil, &inputerr.Error{File: problemPath, Message: "another kir serve has this problem open", Hint: hint}
	}
	return l, nil
}

// writeAddress stores the address of the page, without a token, for the next process.
func (l *problemLock) writeAddress(address string) error {
	return l.problemDir.Replace(l.addressFile, []byte(address+"\n"))
}

// previousAddress returns the address at which the problem was served before, or the zero value if
// there is none.
func (l *problemLock) previousAddress() (address netip.AddrPort) {
	text, err := l.problemDir.Read(l.addressFile, maxAddressBytes)
	if err != nil {
		return address
	}
	if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil {
		address, _ = netip.ParseAddrPort(u.Host) // kir only stores numeric addresses
	}
	return address
}

// release removes the lock file.
func (l *problemLock) release() error {
	if l.fileLock == nil {
		return nil
	}
	return l.fileLock.Remove()
}
