package run

import (
	"context"
	"errors"
	"time"
)

// A Status is the progress of a run in its store.
type Status struct {
	Chains  []ChainStatus
	Seconds float64 // that it has taken
}

// ChainStatus is the progress of one chain.
type ChainStatus struct {
	Draws int // stored
	Parts int // files of draws
	Bytes int64
	Done  bool      // all draws are stored
	Saved time.Time // when it stored draws or its state last; zero if never
	Shard Shard     // that worked on it last

	// Damage is the error of the chain's state file, nil if the file is whole or absent. The
	// chain's draws are counted in any case.
	Damage error

	// Broken is the error of the first damaged file of draws, nil if there is none. Only the files'
	// names, lengths and ends are checked.
	Broken error

	wantBytes int64 // bytes that the files of draws should have
	settled   bool  // the state file exists and is undamaged
}

// Complete reports whether all draws are stored.
func (s *Status) Complete() bool {
	for _, c := range s.Chains {
		if !c.Done {
			return false
		}
	}
	return true
}

// activeWindow is the longest time since a chain last stored its state for the chain to count as
// active. It is three times the usual time between states. Only a longer segment exceeds it.
const activeWindow = 90 * time.Second

// isActive reports whether an unfinished chain stored its state recently.
func (s *Status) isActive(now time.Time) bool {
	for _, c := range s.Chains {
		if !c.Done && !c.Saved.IsZero() && now.Sub(c.Saved) < activeWindow {
			return true
		}
	}
	return false
}

// intact reports whether all states are there and whole, and all files of draws have the expected
// lengths.
func (s *Status) intact() bool {
	for _, c := range s.Chains {
		if !c.settled || c.Bytes != c.wantBytes {
			return false
		}
	}
	return true
}

// statusOf reads the states and the parts of a run.
func statusOf(ctx context.Context, store Store, m *Manifest) (*Status, error) {
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
			of.Damage = damage[c]
			if of.Draws, of.Broken, err = countDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
			of.Done = of.Draws == m.Settings.Draws && !m.isOpenEnded()
			continue
		}
		of.settled = true
		of.Draws, of.Saved, of.Shard, of.wantBytes = s.Draws, s.Saved, s.Shard, s.Bytes
		if s.Thin > 0 {
			of.Draws = s.At
		}
		if of.Bytes != s.Bytes || checkOrder(c, stored[c]) != nil {
			if _, of.Broken, err = countDraws(ctx, store, m, c, stored[c]); err != nil {
				return nil, err
			}
		}
		of.Done = !m.isOpenEnded() && s.Draws == m.Settings.Draws && s.Parts == of.Parts && checkOrder(c, stored[c]) == nil
		status.Seconds = max(status.Seconds, s.Seconds)
	}
	return status, nil
}

// countDraws returns the number of stored draws of a chain, read from the ends of its files. It
// counts those before the first missing or damaged file, and returns that file's error.
func countDraws(ctx context.Context, store Store, m *Manifest, chain int, files []File) (draws int, broken, err error) {
	for k, f := range files {
		if gap := checkOrder(chain, files[:k+1]); gap != nil {
			return draws, gap, nil
		}
		n, err := storedDraws(ctx, store, f, m, chain)
		if errors.Is(err, ErrDamaged) {
			return draws, damagedPart(store, f.Name, err), nil
		}
		if err != nil {
			return draws, nil, err
		}
		draws += n
	}
	return draws, nil, nil
}

// Broken returns the errors of damaged files of draws.
func (s *Status) Broken() (all []error) {
	for _, c := range s.Chains {
		if c.Broken != nil {
			all = append(all, c.Broken)
		}
	}
	return all
}

// Damaged returns the errors of damaged state files.
func (s *Status) Damaged() (all []error) {
	for _, c := range s.Chains {
		if c.Damage != nil {
			all = append(all, c.Damage)
		}
	}
	return all
}

// Shards returns the shards of the run, including those that should have begun and have not. The
// chain that stored last gives their number. If no chain names a shard, all chains are one shard.
func (s *Status) Shards() []Shard {
	count, saved := 0, time.Time{}
	for _, c := range s.Chains {
		if c.Saved.After(saved) {
			count, saved = c.Shard.Count, c.Saved
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
