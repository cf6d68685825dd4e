package run

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A Status is the progress of a run, determined from the files in its store.
type Status struct {
	Chains  []ChainStatus
	Seconds float64 // time in seconds that all sessions of the run have taken
}

// ChainStatus is the progress of one chain.
type ChainStatus struct {
	Draws     int // number of stored draws
	Parts     int // number of files of draws
	Bytes     int64
	Done      bool      // whether all draws of the chain are stored
	LastSaved time.Time // time when the chain last stored draws or its state; zero if it never did
	Shard     Shard     // shard of the session that worked on the chain last
	Stopped   bool      // whether a task has begun to lengthen the chain and seems to have died; see [Status.ByTasks]

	// StateFileError is the error of the chain's state file; nil if the file is undamaged or
	// absent. The field Draws is right even if there is an error.
	StateFileError error

	// PartError is the error of the chain's first damaged file of draws; nil if there is none. Only
	// the names, the sizes and the footers of the files are checked.
	PartError error

	isByTask   bool  // whether a task wrote the chain's state
	iterations int64 // number of iterations that the chain has made, warm-up included, as the state tells

	expectedBytes int64 // total size of the chain's files of draws according to its state file
	hasState      bool  // whether the state file exists and is undamaged
}

// Complete reports whether all draws of all chains are stored.
func (s *Status) Complete() bool {
	for _, c := range s.Chains {
		if !c.Done {
			return false
		}
	}
	return true
}

// activeWindow is the longest time since an unfinished chain stored its state for which the chain
// counts as active. It is more than twice the usual time between two states, so only an exceptionally
// long segment exceeds it.
const activeWindow = 50 * time.Second

// ByTasks reports whether tasks work on the run; see [RunTask].
func (s *Status) ByTasks() bool {
	return slices.ContainsFunc(s.Chains, func(c ChainStatus) bool { return c.isByTask })
}

// markStopped sets the field Stopped of the chains that tasks work on. A chain that is as long as the
// longest waits for the others.
func (s *Status) markStopped(now time.Time) {
	longest := int64(0)
	for _, c := range s.Chains {
		longest = max(longest, c.iterations)
	}
	for k := range s.Chains {
		c := &s.Chains[k]
		c.Stopped = c.isByTask && !c.Done && c.iterations < longest && now.Sub(c.LastSaved) >= activeWindow
	}
}

// isActive reports whether an unfinished chain stored its state recently.
func (s *Status) isActive(now time.Time) bool {
	for _, c := range s.Chains {
		if !c.Done && !c.LastSaved.IsZero() && now.Sub(c.LastSaved) < activeWindow {
			return true
		}
	}
	return false
}

// isIntact reports whether all state files exist undamaged, and the files of draws of each chain
// have the expected total size.
func (s *Status) isIntact() bool {
	for _, c := range s.Chains {
		if !c.hasState || c.Bytes != c.expectedBytes {
			return false
		}
	}
	return true
}

// readStatus determines the progress of a run from the state files and the files of draws in its
// store.
func readStatus(ctx context.Context, store Store, m *Manifest) (*Status, error) {
	stored, err := listParts(ctx, store, "draws/")
	if err != nil {
		return nil, err
	}
	states, damage, err := loadStates(ctx, store, m)
	if err != nil {
		return nil, err
	}
	status := &Status{Chains: make([]ChainStatus, len(states))}
	for c, s := range states {
		of := &status.Chains[c]
		of.Parts = len(stored[c])
		for _, f := range stored[c] {
			of.Bytes += f.Size
		}
		if s == nil {
			// The draws do not depend on the state.
			of.StateFileError = damage[c]
			if of.Draws, of.PartError, err = countStoredDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
			of.Done = of.Draws == m.Settings.Draws && !m.isDrawCountOpen()
			continue
		}
		of.hasState = true
		of.Draws, of.LastSaved, of.Shard, of.expectedBytes, of.isByTask = s.Draws, s.Saved, s.Shard, s.Bytes, s.Task
		of.iterations = int64(s.Warm) + int64(s.At)*int64(max(1, s.Thin))
		if s.Thin > 0 {
			of.Draws = s.At
		}
		if of.Bytes != s.Bytes || checkPartOrder(c, stored[c]) != nil {
			if _, of.PartError, err = countStoredDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
		}
		of.Done = !m.isDrawCountOpen() && s.Draws == m.Settings.Draws && s.Parts == of.Parts && checkPartOrder(c, stored[c]) == nil
		status.Seconds = max(status.Seconds, s.Seconds)
	}
	status.markStopped(time.Now())
	return status, nil
}

// countStoredDraws returns the number of stored draws of a chain, read from the footers of its
// files. It counts only the draws before the first missing or damaged file. The result broken is
// the error of that file.
func countStoredDraws(ctx context.Context, store Store, m *Manifest, chain int, files []File) (draws int, broken, err error) {
	for k, f := range files {
		if gap := checkPartOrder(chain, files[:k+1]); gap != nil {
			return draws, gap, nil
		}
		n, err := readDrawCount(ctx, store, f, m, chain)
		if errors.Is(err, ErrDamaged) {
			return draws, newDamagedPartError(store, f.Name, err), nil
		}
		if err != nil {
			return draws, nil, err
		}
		draws += n
	}
	return draws, nil, nil
}

// DamagedParts returns the errors of damaged files of draws, at most one for each chain.
func (s *Status) DamagedParts() (all []error) {
	for _, c := range s.Chains {
		if c.PartError != nil {
			all = append(all, c.PartError)
		}
	}
	return all
}

// DamagedStates returns the errors of damaged state files.
func (s *Status) DamagedStates() (all []error) {
	for _, c := range s.Chains {
		if c.StateFileError != nil {
			all = append(all, c.StateFileError)
		}
	}
	return all
}

// shardCount returns the number of shards of the run, taken from the chain that stored its state
// last. It is 0 if that chain belongs to no shard.
func (s *Status) shardCount() int {
	count, saved := 0, time.Time{}
	for _, c := range s.Chains {
		if c.LastSaved.After(saved) {
			count, saved = c.Shard.Count, c.LastSaved
		}
	}
	return count
}

// Shards returns all shards of the run, also those that have stored nothing yet. If the run has no
// shards, the result is one shard of all chains.
func (s *Status) Shards() []Shard {
	count := s.shardCount()
	if count == 0 {
		return []Shard{{}}
	}
	var shards []Shard
	for k := range count {
		if shard := (Shard{k + 1, count}); shard.hasChains(len(s.Chains)) {
			shards = append(shards, shard)
		}
	}
	return shards
}
