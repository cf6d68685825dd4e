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

// stateHeader is the first line of a state file. The line is followed by a compressed value in the
// encoding of encoding/gob, and by the SHA-256 of both.
const stateHeader = "kir chain state 2\n"

func stateName(chain int) string { return fmt.Sprintf("state/chain=%04d.kir", chain) }

// state holds the point from which a chain continues, and the data that the chain's draws do not
// contain. A state depends only on the run and on the chain's progress, so replacing a newer state
// by an older one does no harm.
type state struct {
	Run   string // identifier of the run; see [Manifest]
	Chain int

	// Walk is the encoded chain, see [mcmc.Chain.MarshalBinary], at the start of a segment: after
	// Warm iterations of warm-up, and At draws.
	Walk     []byte
	Warm, At int
	Open     bool // whether the warm-up has not ended, although all its planned iterations may be made

	// Held is set while the number of draws is not known yet. It holds the states since warm-up at
	// every Thin-th iteration, At in all, encoded by [bufferedDraws.encode]. The run then stores no
	// other draws.
	Held []byte
	Thin int

	// Draws is the number of draws that were stored, in Parts files, when the state was written.
	// Draws may exceed At; a chain that continues repeats the draws between At and Draws.
	Draws, Parts int
	Bytes        int64 // total size of the parts
	Tries        int
	Tally        mcmc.Tally
	Ladder       *mcmc.LadderStatistics
	// Best is the shortlist of a chain that searches. Fresh holds the best compositions whose set
	// of ingredients no known recipe has, except compositions in Best.
	Best, Fresh []Best

	Seconds float64   // seconds that all sessions of the run had taken when the state was written
	Saved   time.Time // time when the state was written
	Shard   Shard     // shard of the session that wrote the state

	buffered *bufferedDraws // the decoded draws of Held
}

// checkBuffered decodes the buffered draws of a state, and returns an error if the state does not
// fit the run of the manifest.
func (s *state) checkBuffered(m *Manifest) (*bufferedDraws, error) {
	if m.Auto == nil || s.Thin > maxAutoThin || s.Thin&(s.Thin-1) != 0 || m.Auto.Stop != "" && m.Settings.Thin%s.Thin != 0 ||
		s.Warm < 0 || s.Warm > m.warmupLength() || s.At < 0 || s.At > maxBufferCapacity || s.At > 0 && (s.Warm < m.warmupLength() || m.isWarmupOpen()) ||
		s.At > 0 && s.Open || s.At*s.Thin%segmentIterations != 0 || s.Draws != 0 || s.Parts != 0 {
		return nil, errors.New("it does not stand between two segments")
	}
	if m.Auto.Stop != "" && s.At*s.Thin > m.Settings.Draws*m.Settings.Thin {
		return nil, errors.New("it is further than the run")
	}
	return decodeBuffered(s.Held, m, s.Thin, s.At)
}

// maxBufferedBytes returns the largest encoded size of a chain's buffered draws.
func maxBufferedBytes(m *Manifest) int64 {
	if m.Auto == nil {
		return 0
	}
	return maxBufferCapacity * (8*int64(1+len(m.Properties)) + 10*(1+int64(len(m.Conditions))+int64(min(m.IngredientCount(), m.Total))))
}

// unknownBest returns the best compositions whose set of ingredients is no known recipe. Some of
// these compositions are in Best, and the others in Fresh.
func (s *state) unknownBest(known func([]int) bool) []Best {
	if known == nil {
		return nil
	}
	return mergeBest(slices.DeleteFunc(slices.Clone(s.Best), func(b Best) bool { return known(b.ingredientSet()) }), s.Fresh)
}

// save writes the state to the store.
func (s *state) save(ctx context.Context, store Store) error {
	var b bytes.Buffer
	b.WriteString(stateHeader)
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

// loadState reads the state of a chain of a run. It returns [ErrDamaged] if the file was changed.
func loadState(ctx context.Context, store Store, m *Manifest, chain int) (*state, error) {
	settings := &m.Settings
	name := stateName(chain)
	data, err := ReadWhole(ctx, store, name, maxStateBytes)
	if err != nil {
		return nil, err
	}
	damaged := func(what string) error { return fmt.Errorf("%s: %w: %s", name, ErrDamaged, what) }
	end := len(data) - sha256.Size
	if end < len(stateHeader) || string(data[:len(stateHeader)]) != stateHeader || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, damaged("its sum is another")
	}
	s, err := unpackState(data[len(stateHeader):end], m)
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

// maxUnpackedState is the largest uncompressed size of any state, in bytes.
const maxUnpackedState = 256 << 20

// unpackState decodes the state of a chain of a run. The file may come from someone else, and a few
// bytes can expand to fill all memory. So unpackState first checks the size against the largest
// state that the chain can have.
func unpackState(data []byte, m *Manifest) (*state, error) {
	used := int64(min(m.IngredientCount(), m.Total))
	// The two lists of the best compositions, and everything that is a number or a name.
	rest := 1<<16 + 2*shortlistLength*(20*used+10*int64(len(m.Properties)+len(m.Conditions))+128)
	rest += maxBufferedBytes(m)
	most := min(maxUnpackedState, rest+mcmc.MaxSavedBytes(m.Settings.Kernel, int(used)))
	// Decompress twice, so that an oversized state takes no memory.
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
	// An item of a list can take one byte here and a hundred in memory.
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

// loadStates returns the states of all chains, by chain, with nil for a chain without a usable
// state. By chain, damage holds the errors of damaged state files.
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
