package run

import (
	"context"
	"errors"
	"path/filepath"
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
		store := &directory{path: dir, step: func(string, string) error {
			if fails.Load() {
				return errShaken
			}
			return nil
		}}
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
		if _, err := Resume(context.Background(), s, Directory(dir), Options{}); err != nil {
			t.Fatal(err)
		}
		outcomeOf(t, s, dir).same(t, want)
	}
}

// unlisted is a store that cannot say what it has.
type unlisted struct{ Store }

func (unlisted) List(context.Context, string) ([]File, error) { return nil, errShaken }

// Where the parts cannot be listed nothing is made in their place.
func TestUnlistedParts(t *testing.T) {
	s := smallSpec(t, resumeSettings(100))
	dir, _ := start(t, s, Options{})
	more := *s
	more.Settings.Draws = 200
	if _, err := Resume(context.Background(), &more, unlisted{Directory(dir)}, Options{}); !errors.Is(err, errShaken) {
		t.Errorf("resumed with error %v", err)
	}
	if _, err := Start(context.Background(), s, unlisted{Directory(filepath.Join(t.TempDir(), "run"))}, Options{}); !errors.Is(err, errShaken) {
		t.Errorf("started with error %v", err)
	}
}

// A directory in which another process works on a run that has just begun is left to
// it.
func TestStartWhereAnotherStarts(t *testing.T) {
	s := smallSpec(t, resumeSettings(600))
	dir := filepath.Join(t.TempDir(), "run")
	var second error
	tried := false
	store := &directory{path: dir, step: func(call, path string) error {
		if filepath.Base(path) == manifestName && !tried {
			tried = true // the lock is taken, and nothing else is there
			_, second = Start(context.Background(), s, Directory(dir), Options{})
		}
		return nil
	}}
	_, first := Start(context.Background(), s, store, Options{})
	var busy *BusyError
	if first != nil || !errors.As(second, &busy) || busy.Dir != dir {
		t.Errorf("the first ended with %v and the second with %v", first, second)
	}
}
