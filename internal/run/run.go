package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kir/internal/search"
)

// Start makes a new run in a store. The store must be empty or absent; otherwise Start returns an
// [ExistsError]. If the spec is invalid, Start creates nothing.
//
// If ctx ends, Start stores the draws made until then and returns an [InterruptedError]. If a file
// cannot be written, Start returns a [StorageError]. In both cases the run can be continued with
// [Resume].
func Start(ctx context.Context, spec *Spec, store Store, o Options) (*Result, error) {
	s, err := newSession(ctx, spec, store, o)
	if err != nil {
		return nil, err
	}
	made := false // the directory
	if d, ok := s.store.(*directoryStore); ok {
		if _, err := os.Lstat(d.Location()); err == nil {
			if !isUnusedDirectory(d.Location()) {
				return nil, &ExistsError{Dir: store.Location()}
			}
		} else if errors.Is(err, fs.ErrNotExist) {
			made = true
		} else {
			return nil, err
		}
	}
	if err := s.tryChainStarts(ctx); err != nil {
		return nil, err
	}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.createOrJoin(false); err != nil {
		if made && !errors.As(err, new(*ExistsError)) {
			// No other process can have written anything there yet.
			err = errors.Join(err, os.RemoveAll(store.Location()))
		}
		return nil, err
	}
	if err := s.runChains(ctx); err != nil {
		return nil, err
	}
	return s.computeResult(ctx, nil)
}

// createOrJoin creates the run by writing its manifest. If the store already holds a run,
// createOrJoin continues that run if join is true, and returns an [ExistsError] otherwise.
func (s *session) createOrJoin(join bool) error {
	data, err := s.manifest.encode()
	if err != nil {
		return err
	}
	err = s.store.Create(s.ctx, manifestName, data)
	if errors.Is(err, fs.ErrExist) {
		if !join {
			return &ExistsError{Dir: s.store.Location()}
		}
		return s.joinExisting()
	}
	if err != nil {
		return err
	}
	s.manifestExists = true
	return s.storeResolvedProblem()
}

// joinExisting prepares the session to continue the run in the store. It returns an error if the
// spec does not match the run. If the spec asks for more draws, joinExisting updates the stored
// manifest.
func (s *session) joinExisting() error {
	old, err := readManifest(s.ctx, s.store)
	if err != nil {
		return err
	}
	s.manifestExists = true
	s.adoptAutoSettings(old)
	if err := old.checkSameRun(s.store.Location(), s.manifest); err != nil {
		return err
	}
	switch was, now := old.Settings.Draws, s.spec.Settings.Draws; {
	case now < was:
		return &ChangedError{
			Dir:    s.store.Location(),
			What:   "the number of draws",
			Was:    fmt.Sprint(was),
			Now:    fmt.Sprint(now),
			Advice: "draws can be added but not taken away",
		}
	case now > was && !s.isDrawCountOpen():
		data, err := s.manifest.encode()
		if err != nil {
			return err
		}
		if err := s.store.Replace(s.ctx, manifestName, data); err != nil {
			return err
		}
	}
	return s.storeResolvedProblem()
}

// storeResolvedProblem stores the resolved problem, unless the store holds an identical copy.
func (s *session) storeResolvedProblem() error {
	data, err := ReadWhole(s.ctx, s.store, problemName, maxProblemBytes)
	if err == nil && string(data) == string(s.spec.ResolvedProblem) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.store.Replace(s.ctx, problemName, s.spec.ResolvedProblem)
}

// Resume continues an interrupted run, or extends a complete run if spec.Settings.Draws exceeds the
// number of draws that the run was started with. Draws and results equal those of an uninterrupted
// run of the same length.
//
// Everything else in the spec must be unchanged; otherwise Resume fails with a [ChangedError].
// Resume fails with [ErrComplete] if nothing is left to do, and with a [BusyError] if another
// process is working on the run.
func Resume(ctx context.Context, spec *Spec, store Store, o Options) (*Result, error) {
	s, err := newSession(ctx, spec, store, o)
	if err != nil {
		return nil, err
	}
	// Locking would create a file in a directory that may not be a run.
	if _, err = readManifest(s.ctx, s.store); err != nil {
		return nil, err
	}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.joinExisting(); err != nil {
		return nil, s.storageError(err)
	}
	status, err := readStatus(s.ctx, s.store, s.manifest)
	if err != nil {
		return nil, err
	}
	if status.Complete() && status.isIntact() {
		return nil, ErrComplete
	}
	s.earlierSeconds = status.Seconds
	if err := s.listStoredParts(); err != nil {
		return nil, err
	}
	if err := s.resumeRound(); err != nil {
		return nil, err
	}
	if err := s.runChains(ctx); err != nil {
		return nil, err
	}
	return s.computeResult(ctx, nil)
}

// RunShard makes the draws of one shard of a run, that is, of one group of its chains. The first
// shard to start creates the run. RunShard continues the work of an interrupted process, and does
// nothing if all draws of the shard are stored. The result complete reports whether all shards of
// the run are complete.
//
// In a run of [mcmc.AutoDraws] all shards make rounds together, so RunShard waits for the chains of the
// others. Such a run has no time limit.
func RunShard(ctx context.Context, spec *Spec, store Store, o Options) (complete bool, err error) {
	s, err := newSharedSession(ctx, spec, store, o)
	if err != nil {
		return false, err
	}
	if old, err := readManifest(s.ctx, s.store); err == nil {
		if old.isDrawCountOpen() && old.Auto.Seconds > 0 {
			return false, ErrTimeLimit
		}
		s.adoptAutoSettings(old)
	}
	if err := s.tryChainStarts(ctx); err != nil {
		return false, err
	}
	if err := s.runShardChains(ctx, spec, store, o); err != nil {
		return false, err
	}
	s, err = openSharedSession(ctx, spec, store, o)
	if err != nil {
		return false, err
	}
	status, err := readStatus(s.ctx, s.store, s.manifest)
	if err != nil {
		return false, s.storageError(err)
	}
	return status.Complete(), nil
}

// runShardChains creates the run or joins it, and makes the draws of the session's shard.
func (s *session) runShardChains(ctx context.Context, spec *Spec, store Store, o Options) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.createOrJoin(true); err != nil {
		return s.storageError(err)
	}
	if s.isDrawCountOpen() {
		return runAutoShard(ctx, spec, store, o)
	}
	if err := s.listStoredParts(); err != nil {
		return s.storageError(err)
	}
	return s.runChains(ctx)
}

// Merge computes the results of a complete run from its draws. Merge fails with an
// [UnfinishedError] if the run is not complete, and with a [ChangedError] if the spec differs from
// the spec of the run.
func Merge(ctx context.Context, spec *Spec, store Store, o Options) (*Result, error) {
	s, err := newSession(ctx, spec, store, o)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(s.ctx, s.store)
	if err != nil {
		return nil, err
	}
	s.manifestExists = true
	s.adoptAutoSettings(m)
	if err := m.checkSameRun(store.Location(), s.manifest); err != nil {
		return nil, err
	}
	steps := s.steps("")
	steps.All = true
	return s.computeResult(ctx, steps)
}

// computeResult reads the draws of the complete run and searches for the best compositions. If
// processes have shared the search, steps holds their results; otherwise it is nil.
func (s *session) computeResult(ctx context.Context, steps *search.Steps) (*Result, error) {
	r, err := computeFigures(ctx, s.spec, s.store, s.manifest, s.options.Workers)
	if err == nil && s.spec.Question != nil {
		if r.Answer, err = s.searchForBest(ctx, r, steps); err == nil {
			err = r.findUnseenMode(s.spec.Target, r.meanInverseScore)
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, &InterruptedError{Dir: s.resumeLocation(), DoneShare: 1, Err: ctx.Err()}
	}
	if err != nil {
		return nil, err
	}
	r.Notes = append(s.notes, r.Notes...)
	if note := s.stopNote(); note != "" {
		r.Notes = append(r.Notes, note)
	}
	return r, nil
}
