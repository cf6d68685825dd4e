package run

import (
	"context"
	"iter"
	"sync"
	"time"
)

// A Run gives read access to a stored run, finished or not.
type Run struct {
	Dir      string
	Manifest *Manifest

	store           Store
	ingredientIndex func(string) (int32, error)    // returns the index of an ingredient by its name
	storedParts     func() (map[int][]File, error) // lists the stored files of draws by the number of the chain; reads the store once
	status          func() (*Status, error)        // determines the progress of the run; reads the store once
	isComplete      func() (bool, error)           // reports whether all draws are stored, according to status; looks at the chains once
}

// Open opens the run in a store, finished or not. It returns a [NotRunError] if the store holds no
// run.
func Open(ctx context.Context, store Store) (*Run, error) {
	m, err := readManifest(ctx, store)
	if err != nil {
		return nil, err
	}
	r := &Run{
		Dir: store.Location(), Manifest: m, store: store, ingredientIndex: newIngredientFinder(m),
		storedParts: sync.OnceValues(func() (map[int][]File, error) { return listParts(ctx, store, "draws/") }),
		status:      sync.OnceValues(func() (*Status, error) { return readStatus(ctx, store, m) }),
	}
	r.isComplete = sync.OnceValues(func() (bool, error) {
		s, err := r.status()
		return err == nil && s.Complete(), err
	})
	return r, nil
}

// Problem returns the text of the resolved problem.
func (r *Run) Problem(ctx context.Context) ([]byte, error) {
	return ReadWhole(ctx, r.store, problemName, maxProblemBytes)
}

// Status returns the progress of the run. Later calls return the result of the first call.
func (r *Run) Status() (*Status, error) { return r.status() }

// IsActive reports whether a process is working on the run, as far as that can be determined. For a
// run in a directory, a lock on a file shows whether a process is at work. For buckets, for file
// systems without locks, and for shards on other machines, the run counts as active if an
// unfinished chain has stored its state recently.
func (r *Run) IsActive(now time.Time) bool {
	if held, known := lockHeld(r.store); held {
		return true
	} else if s, err := r.status(); err == nil && (!known || len(s.Shards()) > 1 || s.ByTasks()) {
		return s.isActive(now)
	}
	return false
}

// CheckComplete returns an [UnfinishedError] if some draws of the run are not stored yet.
func (r *Run) CheckComplete() error {
	complete, err := r.isComplete()
	if err == nil && !complete {
		return &UnfinishedError{Dir: r.Dir, Active: r.IsActive(time.Now())}
	}
	return err
}

// Parts returns descriptions of all stored files of draws: first the files of chain 0 in the order
// of their draws, then those of chain 1, and so on.
func (r *Run) Parts(ctx context.Context) ([]PartFile, error) {
	stored, err := r.storedParts()
	if err != nil {
		return nil, err
	}
	var parts []PartFile
	for chain := range r.Manifest.Settings.Chains {
		for _, f := range stored[chain] {
			data, err := ReadWhole(ctx, r.store, f.Name, newPartBounds(r.Manifest).maxFileBytes)
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

// ChainDraws returns the draws of a chain in their order, in memory that does not grow with the
// number of draws. A yielded Draw may be used only until the next one is yielded. The sequence ends
// with the first error. If the run is not complete, the error is an [UnfinishedError]. If a file
// was changed, the error wraps [ErrDamaged]. Several chains may be read at the same time.
func (r *Run) ChainDraws(ctx context.Context, chain int) iter.Seq2[*Draw, error] {
	return r.ThinnedDraws(ctx, chain, 1)
}

// ThinnedDraws is like [Run.ChainDraws] but returns only the draws 0, stride, 2·stride, ... of a
// chain. It reads the files of all draws. Of the skipped draws it checks only the numbers of the
// draws and the lengths of their lists.
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
