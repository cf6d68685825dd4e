package run

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// stateKind begins the file of a chain's state: this line, a value in the encoding
// of encoding/gob, compressed, and the SHA-256 of both.
const stateKind = "kir chain state 2\n"

func stateName(chain int) string { return fmt.Sprintf("state/chain=%04d.kir", chain) }

// state is where a chain goes on, and what its draws do not tell. It follows from
// the run and from how far the chain is, so that it does no harm if an older one
// takes the place of a newer one.
type state struct {
	Run   string // the identity of the run
	Chain int

	// Walk is the chain, see [mcmc.Chain.MarshalBinary], at the start of a segment:
	// after Warm iterations of warm-up, and At draws.
	Walk     []byte
	Warm, At int
	Open     bool // the warm-up has not ended, though it may have had its iterations

	// Of a run whose number of draws was not known yet: every Thin-th state since
	// warm-up, At in all, as [bufferedDraws.encode] writes them. Nothing else is stored then.
	Held []byte
	Thin int

	// What follows is of a later moment: when Draws draws were stored, in Parts
	// files. Chains go on from there by making the draws between anew.
	Draws, Parts int
	Bytes        int64 // of the parts
	Tries        int
	Tally        mcmc.Tally
	Ladder       *mcmc.Ladder
	Best, Fresh  []Best // see [state.fresh]; of a chain that searches

	Seconds float64   // that the run had taken by then
	Saved   time.Time // when it was written
	Shard   Shard     // by which

	buffered *bufferedDraws // what Held says
}

// checkBuffered returns the held draws of a state.
func (s *state) checkBuffered(m *Manifest) (*bufferedDraws, error) {
	if m.Auto == nil || s.Thin > mostAutoThin || s.Thin&(s.Thin-1) != 0 || m.Auto.Stop != "" && m.Settings.Thin%s.Thin != 0 ||
		s.Warm < 0 || s.Warm > m.warmup() || s.At < 0 || s.At > mostHeld || s.At > 0 && (s.Warm < m.warmup() || m.isWarmupOpen()) ||
		s.At > 0 && s.Open || s.At*s.Thin%segmentIterations != 0 || s.Draws != 0 || s.Parts != 0 {
		return nil, errors.New("it does not stand between two segments")
	}
	if m.Auto.Stop != "" && s.At*s.Thin > m.Settings.Draws*m.Settings.Thin {
		return nil, errors.New("it is further than the run")
	}
	return decodeBuffered(s.Held, m, s.Thin, s.At)
}

// mostHeldBytes is how long the held draws of a chain are at most.
func mostHeldBytes(m *Manifest) int64 {
	if m.Auto == nil {
		return 0
	}
	return mostHeld * (8*int64(1+len(m.Properties)) + 10*(1+int64(min(m.IngredientCount(), m.Total))))
}

// fresh returns the best that are not in the book: some are in Best, and the rest in
// Fresh.
func (s *state) fresh(known func([]int) bool) []Best {
	if known == nil {
		return nil
	}
	return topOf(slices.DeleteFunc(slices.Clone(s.Best), func(b Best) bool { return known(b.set()) }), s.Fresh)
}

// save writes the state.
func (s *state) save(ctx context.Context, store Store) error {
	var b bytes.Buffer
	b.WriteString(stateKind)
	small, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(small).Encode(s), small.Close()); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return store.Replace(ctx, stateName(s.Chain), b.Bytes())
}

// loadState reads the state of a chain of a run. What was changed since it was
// written is ErrDamaged.
func loadState(ctx context.Context, store Store, m *Manifest, chain int) (*state, error) {
	settings := &m.Settings
	name := stateName(chain)
	data, err := ReadWhole(ctx, store, name, mostState)
	if err != nil {
		return nil, err
	}
	damaged := func(what string) error { return fmt.Errorf("%s: %w: %s", name, ErrDamaged, what) }
	end := len(data) - sha256.Size
	if end < len(stateKind) || string(data[:len(stateKind)]) != stateKind || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, damaged("its sum is another")
	}
	s, err := unpackState(data[len(stateKind):end], m)
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
	case m.isOpenEnded():
		return nil, damaged("it is of a run that has stopped")
	case s.Warm < 0 || s.Warm > settings.Warmup || s.At < 0 || s.At > s.Draws || s.Draws > settings.Draws || s.Parts < 0 ||
		s.At%segmentDraws(settings) != 0 || s.Draws > 0 && s.Warm < settings.Warmup || s.At > 0 && s.Open:
		return nil, damaged("it does not stand between two segments")
	}
	return s, nil
}

// mostUnpacked bounds what any state unpacks to.
const mostUnpacked = 256 << 20

// unpackState reads a state of a chain of a run. It may be somebody else's, and a few
// bytes can unpack to as much as there is: so it is held against what the state of such a
// chain has at most.
func unpackState(data []byte, m *Manifest) (*state, error) {
	used := int64(min(m.IngredientCount(), m.Total))
	// The two lists of the best, and all that is a number or a name.
	rest := 1<<16 + 2*shortlistLength*(20*used+10*int64(len(m.Properties))+128)
	rest += mostHeldBytes(m)
	most := min(mostUnpacked, rest+mcmc.MostSaved(m.Settings.Kernel, int(used)))
	// It is unpacked twice, so that what is too long takes no memory.
	size, err := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(data)), most+1))
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, fmt.Errorf("it unpacks to more than %d bytes", most)
	}
	unpacked := make([]byte, size)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(data)), unpacked); err != nil {
		return nil, err
	}
	// An item of a list can take a byte here and a hundred in memory.
	var walk struct{ Walk []byte }
	if err := gob.NewDecoder(bytes.NewReader(unpacked)).Decode(&walk); err != nil {
		return nil, err
	}
	if int64(len(unpacked)-len(walk.Walk)) > rest {
		return nil, fmt.Errorf("beside its chain it unpacks to more than %d bytes", rest)
	}
	s := new(state)
	return s, gob.NewDecoder(bytes.NewReader(unpacked)).Decode(s)
}

// loadStates returns the states of all chains, nil where there is none, and of each that
// is there and damaged how.
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
