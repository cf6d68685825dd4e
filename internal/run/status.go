package run

import (
	"context"
	"errors"
	"time"
)

// A Status is the progress of a run, as far as its store shows it.
type Status struct {
	Chains  []ChainStatus
	Seconds float64 // time in seconds that all sessions of the run have taken
}

// ChainStatus is the progress of one chain.
type ChainStatus struct {
	Draws     int // number of stored draws
	Parts     int // number of files of draws
	Bytes     int64
	Done      bool      // whether all draws are stored
	LastSaved time.Time // time when the chain last stored draws or its state; zero if it never did
	Shard     Shard     // shard of the session that worked on the chain last

	// StateFileError is the error of the chain's state file; nil if the file is whole or absent. Draws
	// counts the chain's draws in any case.
	StateFileError error

	// PartError is the error of the chain's first damaged file of draws; nil if there is none. Only
	// the names, the lengths and the footers of the files are checked.
	PartError error

	expectedBytes int64 // total size that the files of draws have according to the chain's state
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

// activeWindow is the time after which an unfinished chain that stored no state counts as inactive.
// It is three times the usual time between two states. Only a longer segment exceeds it.
const activeWindow = 90 * time.Second

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
			if of.Draws, of.PartError, err = countDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
			of.Done = of.Draws == m.Settings.Draws && !m.isOpenEnded()
			continue
		}
		of.hasState = true
		of.Draws, of.LastSaved, of.Shard, of.expectedBytes = s.Draws, s.Saved, s.Shard, s.Bytes
		if s.Thin > 0 {
			of.Draws = s.At
		}
		if of.Bytes != s.Bytes || checkPartOrder(c, stored[c]) != nil {
			if _, of.PartError, err = countDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
		}
		of.Done = !m.isOpenEnded() && s.Draws == m.Settings.Draws && s.Parts == of.Parts && checkPartOrder(c, stored[c]) == nil
		status.Seconds = max(status.Seconds, s.Seconds)
	}
	return status, nil
}

// countDraws returns the number of stored draws of a chain, read from the footers of its files. It
// counts the draws before the first missing or damaged file, and returns the error of that file as
// broken.
func countDraws(ctx context.Context, store Store, m *Manifest, chain int, files []File) (draws int, broken, err error) {
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

// Shards returns the shards of the run, including shards that should have begun and have not. The
// chain that stored its state last determines the number of shards. If no chain names a shard, the
// result is one shard of all chains.
func (s *Status) Shards() []Shard {
	count, saved := 0, time.Time{}
	for _, c := range s.Chains {
		if c.LastSaved.After(saved) {
			count, saved = c.Shard.Count, c.LastSaved
		}
	}
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
