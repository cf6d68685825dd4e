package mcmc

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"math/big"

	"kir/internal/constraint/volume"
)

// A Cache stores the counts of spaces with rules. For a key it must return the value that was
// stored for it, or nil.
type Cache interface {
	Load(key [sha256.Size]byte) []byte
	Store(key [sha256.Size]byte, data []byte)
}

// minCachedSteps is the least number of counting steps, of about 10⁻⁹ s each, whose result is
// cached. Measured results are always cached.
const minCachedSteps = 2e8

// countingVersion must be raised whenever |X_n| of the same rules, law and seed may come out
// differently. A test compares known values.
const countingVersion = 3

// A counting is the cached value: the counts of a table, and the measured result.
type counting struct {
	Whole    bool       // whether the table counts all rules
	Counts   []*big.Int // by n; nil if a formula counts
	Measured []byte     // the encoded measurement; nil if nothing was measured
}

// memo moves a counting from a cache or to it.
type memo struct {
	cache Cache
	key   [sha256.Size]byte
	known *counting // nil if the cache has none
	used  bool      // whether a part of known was used
}

// newMemo looks up the rules together with everything that their counts depend on.
func newMemo(r *ruleset, mass []float64, o Counting) *memo {
	m := &memo{cache: o.Cache}
	if o.Cache == nil {
		return m
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{
		countingVersion, len(r.Amounts), r.Conditions, mass, o.Seed, o.TableSteps,
		volume.DefaultRatioError, volume.DefaultEffort,
	}); err != nil {
		m.cache = nil // rules that cannot be encoded are not cached
		return m
	}
	hash.Sum(m.key[:0])
	if data := o.Cache.Load(m.key); data != nil {
		var known counting
		if gob.NewDecoder(bytes.NewReader(data)).Decode(&known) == nil {
			m.known = &known
		}
	}
	return m
}

// counts returns the cached counts of a space, nil if there are none.
func (m *memo) counts(whole bool) []*big.Int {
	if m.known == nil || m.known.Whole != whole {
		return nil
	}
	m.used = m.used || m.known.Counts != nil
	return m.known.Counts
}

// measured returns the cached result of a problem, nil if there is none.
func (m *memo) measured(p volume.Problem, sizes []int) *volume.Result {
	if m.known == nil || m.known.Measured == nil {
		return nil
	}
	result, err := volume.Restore(p, sizes, m.known.Measured)
	if err != nil {
		return nil // not of this problem: the caller measures again
	}
	m.used = true
	return result
}

// keep stores the counting in the cache if it took long enough.
func (m *memo) keep(r *ruleset) error {
	if m.cache == nil || m.used || r.measured == nil && r.table.Steps() < minCachedSteps {
		return nil
	}
	c := counting{Whole: r.shares == nil, Counts: r.table.All()}
	if r.measured != nil {
		var err error
		if c.Measured, err = r.measured.MarshalBinary(); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(c); err != nil {
		return err
	}
	m.cache.Store(m.key, out.Bytes())
	return nil
}
