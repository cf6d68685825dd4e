package run

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"kir"
)

// An unread store fails one time that it is read or listed.
type unread struct {
	Store
	at    int64 // the time; 0: never
	calls *atomic.Int64
}

func (u unread) fails() error {
	if n := u.calls.Add(1); n == u.at {
		return errShaken
	}
	return nil
}

func (u unread) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := u.fails(); err != nil {
		return nil, err
	}
	return u.Store.Read(ctx, name, offset, length)
}

func (u unread) List(ctx context.Context, prefix string) ([]File, error) {
	if err := u.fails(); err != nil {
		return nil, err
	}
	return u.Store.List(ctx, prefix)
}

// TestEveryReadFault: a disk that cannot be read once is told by all that reads a run,
// and what is told of it with the disk mended is what it was.
func TestEveryReadFault(t *testing.T) {
	spec := faultSpec(t, 300)
	dir, want := start(t, spec, Options{Workers: 1})
	for name, read := range map[string]func(store Store) error{
		"its draws": func(store Store) error {
			r, err := Open(t.Context(), store)
			if err != nil {
				return err
			}
			if err := r.Complete(); err != nil {
				return err
			}
			for _, err := range r.Draws(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"a merge": func(store Store) error {
			got, err := Merge(t.Context(), spec, store, Options{Workers: 1})
			if err == nil && !equalResults(got, want) {
				t.Errorf("the merged run is %+v, want %+v", got, want)
			}
			return err
		},
		"going on": func(store Store) error {
			_, err := Resume(t.Context(), spec, store, Options{Workers: 1})
			if errors.Is(err, ErrComplete) {
				return nil
			}
			return err
		},
	} {
		var calls atomic.Int64
		if err := read(unread{Directory(dir), 0, &calls}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d calls", name, calls.Load())
		for at, all := int64(1), calls.Load(); at <= all; at++ {
			calls.Store(0)
			if err := read(unread{Directory(dir), at, &calls}); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s, call %d of %d: the error is %v", name, at, all, err)
			}
		}
	}
}

// TestFiguresFail: a property that fails when the draws are summed up is told.
func TestFiguresFail(t *testing.T) {
	broken := false
	wish := kir.Wish{Name: "breaks", Weight: 1, Property: kir.ScoreFunc(func(x *kir.Composition) float64 {
		if broken {
			return math.NaN()
		}
		return 1
	})}
	spec := newSpec(t, 6, 10, kir.Uniform(1, 3), kir.Settings{Kernel: "balanced", Chains: 1, Warmup: 10, Draws: 50, Thin: 1, Seed: 1}, wish)
	store := Directory(filepath.Join(t.TempDir(), "run"))
	if _, err := Start(t.Context(), spec, store, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	if f, err := figures(t.Context(), spec, store, r.Manifest, 1); err == nil {
		t.Errorf("a property without scores makes %+v", f)
	}
}
