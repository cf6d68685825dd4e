package run

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// TestGoing: a run in a directory is going while a process holds its lock, whole or as a
// shard, and to look takes nothing from it; where a lock does not tell, as of shards on
// other machines, it is by when a chain was heard of.
func TestGoing(t *testing.T) {
	now := time.Now()
	status := func(ago time.Duration, done bool, s Shard) func() (*Status, error) {
		return func() (*Status, error) {
			return &Status{Chains: []ChainStatus{{LastSaved: now.Add(-ago), Done: done, Shard: s}, {Done: done}}}, nil
		}
	}
	dir := t.TempDir()
	r := &Run{Dir: dir, store: NewDirectoryStore(dir), status: status(time.Second, false, Shard{})}
	if r.IsActive(now) {
		t.Error("a run without a lock is going")
	}
	path := filepath.Join(dir, lockFileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} {
		l := flock.New(path)
		take := l.TryLock
		if shared {
			take = l.TryRLock
		}
		if ok, err := take(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for look := range 2 {
			if !r.IsActive(now) {
				t.Errorf("a run whose lock is held is not going at look %d; shared: %v", look, shared)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if r.IsActive(now) {
			t.Errorf("a run whose lock was left is going; shared: %v", shared)
		}
	}
	// Who looks does not keep away who begins, and a run that is worked on is busy.
	looking := flock.New(path)
	if ok, err := looking.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	time.AfterFunc(maxLockWait/5, func() { looking.Close() })
	s := &session{ctx: context.Background(), store: NewDirectoryStore(dir)}
	unlock, err := s.lock()
	if err != nil {
		t.Fatalf("who begins is kept away by who looks: %v", err)
	}
	if _, err := s.lock(); err == nil || err.Error() != (&BusyError{dir, -1}).Error() {
		t.Errorf("a second process is told %v", err)
	}
	unlock()

	half := Shard{Index: 1, Count: 2}
	for _, c := range []struct {
		status func() (*Status, error)
		want   bool
	}{
		{status(time.Second, false, Shard{}), false}, {status(time.Second, false, half), true}, {status(time.Hour, false, half), false}, {status(time.Second, true, half), false},
	} {
		r.status = c.status
		if r.IsActive(now) != c.want {
			s, _ := c.status()
			t.Errorf("%+v is going: %v", s, !c.want)
		}
	}
	// What stands in the lock's place is not opened.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if held, known := lockHeld(r.store); held || known {
		t.Errorf("a pipe is held: %v, %v", held, known)
	}
}
