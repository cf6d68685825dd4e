package run

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// stateHeader is the first line of a state file. After it the file has a compressed value in the
// encoding of encoding/gob, and then the SHA-256 of everything before.
const stateHeader = "kir chain state 2\n"

func stateName(chain int) string { return fmt.Sprintf("state/chain=%04d.kir", chain) }

// state is the content of a chain's state file: the point from which the chain continues, and the
// data that the chain's draws do not contain. A state depends only on the run and on the chain's
// progress. So a newer state may be replaced by an older one; then some work is repeated.
type state struct {
	Run   string // identifier of the run; see [Manifest]
	Chain int

	// Walk is the encoded Markov chain at the start of a segment; see [mcmc.Chain.MarshalBinary].
	Walk []byte
	Warm int  // number of warm-up iterations that Walk has made
	At   int  // number of draws that Walk has made
	Open bool // whether the chain is still in its warm-up, even if it has made all Warm iterations that were planned

	// Held is set while the run has not determined its number of draws. It holds all draws of the
	// chain, encoded by [bufferedDraws.encode]. There are At draws, one at every Thin-th iteration
	// after the warm-up. No draws are stored in other files then.
	Held []byte
	Thin int // number of iterations from one draw in Held to the next; 0 if Held is not set

	Draws  int                    // number of draws in stored files when the state was written; if it exceeds At, the chain repeats draws when it continues
	Parts  int                    // number of stored files of draws when the state was written
	Bytes  int64                  // total size of the stored files of draws
	Tries  int                    // number of random compositions that were drawn to find the chain's first state
	Tally  mcmc.Tally             // counts of iterations and accepted moves after warm-up
	Ladder *mcmc.LadderStatistics // statistics of a tempered chain, else nil
	Best   []Best                 // best compositions of a tempered chain, visited or drawn
	Fresh  []Best                 // best compositions whose set of ingredients no known recipe has, without those in Best

	Seconds float64   // seconds that all sessions of the run had taken when the state was written
	Saved   time.Time // time when the state was written
	Shard   Shard     // shard of the session that wrote the state
	Task    bool      // whether a task wrote the state; see [RunTask]

	buffered *bufferedDraws // draws decoded from Held
}

// checkBuffered decodes the draws in s.Held. It returns an error if the state does not fit the run
// of the manifest m.
func (s *state) checkBuffered(m *Manifest) (*bufferedDraws, error) {
	if m.Auto == nil || s.Thin > maxAutoThin || s.Thin&(s.Thin-1) != 0 || m.Auto.Stop != "" && m.Settings.Thin%s.Thin != 0 ||
		s.Warm < 0 || s.Warm > m.warmupLength() || s.At < 0 || s.At > maxBufferCapacity || s.At > 0 && (s.Warm < m.warmupLength() || m.isWarmupLengthOpen()) ||
		s.At > 0 && s.Open || s.At*s.Thin%segmentIterations != 0 || s.Draws != 0 || s.Parts != 0 {
		return nil, errors.New("it does not stand between two segments")
	}
	if m.Auto.Stop != "" && s.At*s.Thin > m.Settings.Draws*m.Settings.Thin {
		return nil, errors.New("it is further than the run")
	}
	return decodeBuffered(s.Held, m, s.Thin, s.At)
}

// maxBufferedBytes returns the largest size of the draws of a chain in a state file, encoded by
// [bufferedDraws.encode]; see the field Held of [state].
func maxBufferedBytes(m *Manifest) int64 {
	if m.Auto == nil {
		return 0
	}
	return maxBufferCapacity * (8*int64(1+len(m.Properties)) + 10*(1+int64(len(m.Conditions))+int64(min(m.IngredientCount(), m.Total))))
}

// unknownBest returns the best compositions whose set of ingredients no known recipe has. They are
// stored partly in Best and partly in Fresh. The function known reports whether a known recipe has
// a set of ingredients.
func (s *state) unknownBest(known func([]int) bool) []Best {
	if known == nil {
		return nil
	}
	return mergeBest(slices.DeleteFunc(slices.Clone(s.Best), func(b Best) bool { return known(b.ingredientSet()) }), s.Fresh)
}

// save writes the state to the store.
func (s *state) save(ctx context.Context, store Store) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return err
	}
	data, err := sealBinary(stateHeader, b.Bytes())
	if err != nil {
		return err
	}
	return store.Replace(ctx, stateName(s.Chain), data)
}

// loadState reads and checks the state file of a chain. The error wraps [ErrDamaged] if the file
// was changed.
func loadState(ctx context.Context, store Store, m *Manifest, chain int) (*state, error) {
	settings := &m.Settings
	name := stateName(chain)
	data, err := ReadWhole(ctx, store, name, maxStateBytes)
	if err != nil {
		return nil, err
	}
	damaged := func(what string) error { return fmt.Errorf("%s: %w: %s", name, ErrDamaged, what) }
	data, err = openSealed(stateHeader, data)
	if err != nil {
		return nil, damaged(err.Error())
	}
	s, err := unpackState(data, m)
	if err != nil {
		return nil, damaged(err.Error())
	}
	switch {
	case s.Run != m.Run || s.Chain != chain:
		return nil, damaged("it is of another run or chain")
	case s.Thin > 0:
		if s.buffered, err = s.checkBuffered(m); err != nil {
			return nil, damaged(err.Error())
		}
		return s, nil
	case m.isDrawCountOpen():
		return nil, damaged("it is of a run that has stopped")
	case s.Warm < 0 || s.Warm > settings.Warmup || s.At < 0 || s.At > s.Draws || s.Draws > settings.Draws || s.Parts < 0 ||
		s.At%segmentDraws(settings) != 0 || s.Draws > 0 && s.Warm < settings.Warmup || s.At > 0 && s.Open:
		return nil, damaged("it does not stand between two segments")
	}
	return s, nil
}

// maxUnpackedStateBytes is the largest uncompressed size of any state, in bytes.
const maxUnpackedStateBytes = 256 << 20

// unpackState decodes the content of a state file. The file may come from someone else, and a few
// bytes can expand to fill all memory. So unpackState first checks that the uncompressed size is at
// most that of the largest possible state of the chain.
func unpackState(data []byte, m *Manifest) (*state, error) {
	used := int64(min(m.IngredientCount(), m.Total))
	// The two lists of the best compositions, and everything that is a number or a name.
	rest := 1<<16 + 2*shortlistLength*(20*used+10*int64(len(m.Properties)+len(m.Conditions))+128)
	rest += maxBufferedBytes(m)
	most := min(maxUnpackedStateBytes, rest+mcmc.MaxSavedBytes(m.Settings.Kernel, int(used)))
	unpacked, err := inflate(data, most)
	if err != nil {
		return nil, err
	}
	// An item of a list can take one byte here and a hundred in memory.
	if int64(len(unpacked)) > rest {
		var walk struct{ Walk []byte }
		if err := gob.NewDecoder(bytes.NewReader(unpacked)).Decode(&walk); err != nil {
			return nil, err
		}
		if int64(len(unpacked)-len(walk.Walk)) > rest {
			return nil, fmt.Errorf("beside its chain it unpacks to more than %d bytes", rest)
		}
	}
	s := new(state)
	return s, gob.NewDecoder(bytes.NewReader(unpacked)).Decode(s)
}

// loadStates reads the state files of all chains. Item k of states is the state of chain k, or nil
// if its file is missing or damaged. Item k of damage is the error of a damaged file.
func loadStates(ctx context.Context, store Store, m *Manifest) (states []*state, damage []error, err error) {
	states, damage = make([]*state, m.Settings.Chains), make([]error, m.Settings.Chains)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(32) // what is far away is asked for at once
	for c := range states {
		g.Go(func() (err error) {
			states[c], err = loadState(ctx, store, m, c)
			if errors.Is(err, ErrDamaged) {
				damage[c] = err
				return nil // the chain makes it again
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	}
	return states, damage, g.Wait()
}
