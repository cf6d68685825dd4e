package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/gofrs/flock"
)

// A Lock is a lock on a file of a [Dir], by which processes exclude each other. The file is created
// if needed and never written to. The directory must exist.
type Lock struct {
	dir   *Dir
	name  string
	flock *flock.Flock
}

// Lock takes the lock on the file with the given name. If shared is true, several processes can
// hold the lock at the same time, if all share it. If another process holds the lock, Lock tries
// again for the time patience, and then returns nil. The error is [errors.ErrUnsupported] on file
// systems without locks.
func (d *Dir) Lock(name string, shared bool, patience time.Duration) (*Lock, error) {
	for begun := time.Now(); ; {
		l, err := d.tryLock(name, shared)
		switch {
		case errors.Is(err, errLockFileGone): // the previous holder has removed the file
		case l != nil || err != nil || time.Since(begun) >= patience:
			return l, err
		default:
			time.Sleep(patience / 10)
		}
	}
}

// Locked reports whether a process holds the lock on the file with the given name. To find out,
// Locked takes the lock for an instant. The result known is false if Locked cannot tell.
func (d *Dir) Locked(name string) (held, known bool) {
	info, err := os.Lstat(d.Join(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, true
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, false
	}
	l := flock.New(d.Join(name), flock.SetFlag(os.O_RDONLY|openNonblocking|openNoFollow))
	taken, err := l.TryLock()
	return err == nil && !taken, errors.Join(err, l.Close()) == nil
}

// errLockFileGone is returned if the file was removed while its lock was being taken.
var errLockFileGone = errors.New("the file is gone")

// tryLock takes the lock on a file, or returns nil if another process holds it. It fails with
// errLockFileGone if the file was removed meanwhile.
func (d *Dir) tryLock(name string, shared bool) (*Lock, error) {
	if err := d.ensureFile(name); err != nil {
		return nil, err
	}
	l := &Lock{d, name, flock.New(d.Join(name), flock.SetFlag(os.O_RDONLY|openNonblocking|openNoFollow))}
	try := l.flock.TryLock
	if shared {
		try = l.flock.TryRLock
	}
	taken, err := try()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errLockFileGone
	}
	if err != nil || !taken {
		return nil, errors.Join(err, l.flock.Close())
	}
	held, err := l.flock.Stat()
	if err != nil {
		return nil, errors.Join(err, l.flock.Close())
	}
	if is, err := os.Lstat(d.Join(name)); err != nil || !os.SameFile(held, is) {
		return nil, errors.Join(errLockFileGone, l.flock.Close())
	}
	return l, nil
}

// ensureFile creates an empty file if there is no file of that name.
func (d *Dir) ensureFile(name string) error {
	r, err := d.openParent(name, false)
	if err != nil {
		return err
	}
	defer r.Close()
	base, at := path.Base(name), d.Join(name)
	info, err := r.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := r.OpenFile(base, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil // another process has created it first
		}
		if err != nil {
			return withErrorPath(err, at)
		}
		return f.Close()
	case err != nil:
		return withErrorPath(err, at)
	case !info.Mode().IsRegular():
		return NotRegularError(at, info.Mode())
	}
	return nil
}

// Close releases the lock. It does not remove the file.
func (l *Lock) Close() error { return l.flock.Close() }

// Remove removes the locked file and releases the lock.
func (l *Lock) Remove() error {
	err := l.dir.Remove(l.name)
	if err = errors.Join(err, l.flock.Close()); err != nil {
		// Some systems cannot remove an open file.
		return l.dir.Remove(l.name)
	}
	return nil
}
