package run

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// A disk that fails while an interrupted run stores its draws is told of: not that
// the run was interrupted and can be gone on with as if all were well. It can, once
// the disk works.
func TestDiskErrorWhileInterrupted(t *testing.T) {
	s := smallSpec(t, resumeSettings(600))
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, s, whole)
	for _, broken := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "run")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var fails atomic.Bool
		store := newDirectory(dir, func(string, string) error {
			if fails.Load() {
				return errShaken
			}
			return nil
		})
		_, err := Start(ctx, counted(t, s, func(n int64) {
			if n == 25_000 {
				fails.Store(broken)
				cancel()
			}
		}), store, Options{Workers: 2})
		var storage *StorageError
		var interrupted *InterruptedError
		if broken && (!errors.As(err, &storage) || !errors.Is(err, syscall.EIO) || errors.As(err, &interrupted) || storage.Dir != dir) {
			t.Errorf("interrupted with a broken disk: %v", err)
		}
		if !broken && (!errors.As(err, &interrupted) || errors.As(err, &storage)) {
			t.Errorf("interrupted: %v", err)
		}
		// On a busy machine the others may be done before the call that interrupts is, and
		// its own chain with it.
		if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil && (broken || !errors.Is(err, ErrComplete)) {
			t.Fatal(err)
		}
		outcomeOf(t, s, dir).same(t, want)
	}
}

// unlisted is a store that once cannot say what it has.
type unlisted struct {
	Store
	left *atomic.Int64 // times that it can
}

func (u unlisted) List(ctx context.Context, prefix string) ([]File, error) {
	if u.left.Add(-1) == 0 {
		return nil, errShaken
	}
	return u.Store.List(ctx, prefix)
}

// Where the parts cannot be listed an error says so, and nothing is made in their place.
func TestUnlistedParts(t *testing.T) {
	s := smallSpec(t, resumeSettings(100))
	more := *s
	more.Settings.Draws = 200
	for times := int64(1); ; times++ {
		dir, _ := start(t, s, Options{})
		left := new(atomic.Int64)
		left.Store(times)
		_, err := Resume(context.Background(), &more, unlisted{NewDirectoryStore(dir), left}, Options{Workers: 1})
		if left.Load() > 0 {
			if err != nil || times == 1 {
				t.Errorf("listed %d times: %v", times, err)
			}
			return
		}
		if !errors.Is(err, errShaken) {
			t.Errorf("not listed at time %d: %v", times, err)
		}
	}
}

// A directory in which another process works on a run that has just begun is left to
// it.
func TestStartWhereAnotherStarts(t *testing.T) {
	s := smallSpec(t, resumeSettings(600))
	dir := filepath.Join(t.TempDir(), "run")
	var second error
	tried := false
	store := newDirectory(dir, func(call, path string) error {
		if filepath.Base(path) == manifestName && !tried {
			tried = true // the lock is taken, and nothing else is there
			_, second = Start(context.Background(), s, NewDirectoryStore(dir), Options{})
		}
		return nil
	})
	_, first := Start(context.Background(), s, store, Options{})
	var busy *BusyError
	if first != nil || !errors.As(second, &busy) || busy.Dir != dir {
		t.Errorf("the first ended with %v and the second with %v", first, second)
	}
}

// uncreated is a store that nothing can be created in.
type uncreated struct{ Store }

func (u uncreated) Create(_ context.Context, name string, _ []byte) error {
	return &fs.PathError{Op: "create", Path: u.Path(name), Err: syscall.EROFS}
}

// TestNothingToResume: an error names kir resume only where there is a run to go on with.
func TestNothingToResume(t *testing.T) {
	s := smallSpec(t, resumeSettings(600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Start(ctx, counted(t, s, func(n int64) {
		if n == 5_000 {
			cancel()
		}
	}), NewMemoryStore(), Options{Workers: 1})
	if interrupted, is := errors.AsType[*InterruptedError](err); !is || interrupted.Dir != "" || strings.Contains(err.Error(), "resume") {
		t.Errorf("a run in memory was interrupted: %v", err)
	}
	_, err = RunShard(t.Context(), s, uncreated{NewMemoryStore()}, Options{Workers: 1, Shard: Shard{1, 2}})
	if storage, is := errors.AsType[*StorageError](err); !is || storage.Dir != "" || strings.Contains(err.Error(), "resume") {
		t.Errorf("a run that could not be made: %v", err)
	}
}
