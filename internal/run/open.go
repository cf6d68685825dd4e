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

	store           Store
	ingredientIndex func(string) (int32, error)
	storedParts     func() (map[int][]File, error)
	status          func() (*Status, error)
}

// Open opens the run in a store, finished or not. It returns a [NotRunError] if there is none.
func Open(ctx context.Context, store Store) (*Run, error) {
	m, err := readManifest(ctx, store)
	if err != nil {
		return nil, err
	}
	return &Run{
		Dir: store.Location(), Manifest: m, store: store, ingredientIndex: newIngredientFinder(m),
		storedParts: sync.OnceValues(func() (map[int][]File, error) { return listParts(ctx, store, "draws/") }),
		status:      sync.OnceValues(func() (*Status, error) { return readStatus(ctx, store, m) }),
	}, nil
}

// Problem returns the text of the resolved problem.
func (r *Run) Problem(ctx context.Context) ([]byte, error) {
	return ReadWhole(ctx, r.store, problemName, maxProblemBytes)
}

// Status returns the progress of the run at the first call of Status.
func (r *Run) Status() (*Status, error) { return r.status() }

// IsActive reports whether a process is working on the run, as far as that can be determined. In a
// directory a lock shows that a process is at work. Without locks, and for shards, which may be on
// other machines, the run is active if an unfinished chain has stored its state recently.
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

// Parts returns the descriptions of all stored files of draws, by chain and in order.
func (r *Run) Parts(ctx context.Context) ([]PartFile, error) {
	stored, err := r.storedParts()
	if err != nil {
		return nil, err
	}
	var parts []PartFile
	for chain := range r.Manifest.Settings.Chains {
		for _, f := range stored[chain] {
			data, err := ReadWhole(ctx, r.store, f.Name, newPartBounds(r.Manifest).fileBytes)
			if err != nil {
				return nil, err
			}
			parts = append(parts, newPartFile(f.Name, data))
		}
	}
	return parts, nil
}

// Draws returns the draws of all chains, one chain after the other; see [Run.ChainDraws].
func (r *Run) Draws(ctx context.Context) iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		for chain := range r.Manifest.Settings.Chains {
			for d, err := range r.ChainDraws(ctx, chain) {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// ChainDraws returns the draws of a chain in their order, in memory that does not grow with the number
// of draws. The memory that a Draw refers to is valid until the next Draw. The sequence ends with
// the first error. The error is an [UnfinishedError] if the run is not complete, and wraps
// [ErrDamaged] if a file was changed.
//
// Several chains may be read at once.
func (r *Run) ChainDraws(ctx context.Context, chain int) iter.Seq2[*Draw, error] {
	return r.ThinnedDraws(ctx, chain, 1)
}

// ThinnedDraws returns the draws 0, stride, 2·stride, ... of a chain, as [Run.ChainDraws] does. It still
// reads the files of all draws, but of the skipped draws it checks only the numbers and the
// lengths.
func (r *Run) ThinnedDraws(ctx context.Context, chain, stride int) iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		stored, err := r.storedParts()
		if err == nil {
			err = r.CheckComplete()
		}
		if err == nil {
			wanted := true
			_, err = readChain(ctx, r.store, r.Manifest, stored[chain], chain, r.ingredientIndex, stride, func(d *Draw) bool {
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
