package run

import (
	"context"
	"iter"
	"sync"
	"time"
)

// A Run is a run in its store, opened for reading.
type Run struct {
	Dir      string
	Manifest *Manifest

	store   Store
	resolve func(string) (int32, error)
	stored  func() (map[int][]File, error)
	status  func() (*Status, error)
}

// Open opens the run in a store, finished or not. It returns a [NotRunError] if there is none.
func Open(ctx context.Context, store Store) (*Run, error) {
	m, err := readManifest(ctx, store)
	if err != nil {
		return nil, err
	}
	return &Run{
		Dir: store.Location(), Manifest: m, store: store, resolve: newResolver(m),
		stored: sync.OnceValues(func() (map[int][]File, error) { return listParts(ctx, store, "draws/") }),
		status: sync.OnceValues(func() (*Status, error) { return statusOf(ctx, store, m) }),
	}, nil
}

// Problem returns the resolved problem.
func (r *Run) Problem(ctx context.Context) ([]byte, error) {
	return ReadWhole(ctx, r.store, problemName, mostProblem)
}

// Status returns the run's progress at the first call.
func (r *Run) Status() (*Status, error) { return r.status() }

// IsActive reports whether a process is working on the run, as far as that can be determined. In a
// directory the lock shows it. Otherwise, and for shards, which may be on other machines, an
// unfinished chain must have stored its state recently.
func (r *Run) IsActive(now time.Time) bool {
	if held, known := lockHeld(r.store); held {
		return true
	} else if s, err := r.status(); err == nil && (!known || len(s.Shards()) > 1) {
		return s.isActive(now)
	}
	return false
}

// CheckComplete returns an [UnfinishedError] if draws of the run are missing.
func (r *Run) CheckComplete() error {
	s, err := r.status()
	if err == nil && !s.Complete() {
		return &UnfinishedError{Dir: r.Dir, Active: r.IsActive(time.Now())}
	}
	return err
}

// Parts returns the current files of draws, by chain and in order.
func (r *Run) Parts(ctx context.Context) ([]PartFile, error) {
	stored, err := r.stored()
	if err != nil {
		return nil, err
	}
	var parts []PartFile
	for chain := range r.Manifest.Settings.Chains {
		for _, f := range stored[chain] {
			data, err := ReadWhole(ctx, r.store, f.Name, boundsOf(r.Manifest).bytes)
			if err != nil {
				return nil, err
			}
			parts = append(parts, newPartFile(f.Name, data))
		}
	}
	return parts, nil
}

// Draws returns the draws of all chains, one chain after the other. See
// [Run.Chain].
func (r *Run) Draws(ctx context.Context) iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		for chain := range r.Manifest.Settings.Chains {
			for d, err := range r.Chain(ctx, chain) {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// Chain returns the draws of a chain in their order, in memory that does not grow with their
// number. The memory that a Draw refers to is valid until the next one. The sequence ends with the
// first error. This is an [UnfinishedError] if the run is not complete, and wraps [ErrDamaged] if a
// file was changed.
//
// Several chains may be read at once.
func (r *Run) Chain(ctx context.Context, chain int) iter.Seq2[*Draw, error] {
	return r.Thinned(ctx, chain, 1)
}

// Thinned returns the draws 0, stride, 2·stride, ... of a chain, as Chain does. It still reads all
// draws, but checks only the numbers and the lengths of the others.
func (r *Run) Thinned(ctx context.Context, chain, stride int) iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		stored, err := r.stored()
		if err == nil {
			err = r.CheckComplete()
		}
		if err == nil {
			wanted := true
			_, err = readChain(ctx, r.store, r.Manifest, stored[chain], chain, r.resolve, stride, func(d *Draw) bool {
				if ctx.Err() != nil {
					return false
				}
				wanted = yield(d, nil)
				return wanted
			})
			if err == nil && wanted {
				err = ctx.Err()
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
