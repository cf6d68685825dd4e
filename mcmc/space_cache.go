package mcmc

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"math/big"

	"kir/internal/constraint/volume"
)

// A Cache stores the results of counting the compositions of spaces with rules. Load returns the
// data that were stored with the same key, or nil.
type Cache interface {
	Load(key [sha256.Size]byte) []byte
	Store(key [sha256.Size]byte, data []byte)
}

// minCachedSteps is the least number of counting steps, of about 10⁻⁹ s each, for which a result is
// cached. Results that were measured are always cached.
const minCachedSteps = 2e8

// countingVersion is part of every cache key. It must be raised whenever the counts for the same
// rules, law and seed may change. A test compares known counts.
const countingVersion = 3

// A counting is what the cache stores for a space: the counts of the table and the measured result.
type counting struct {
	Whole    bool       // whether the table counts the compositions that keep all rules
	Counts   []*big.Int // number of compositions of n ingredients, by n; nil if a formula gives the number
	Measured []byte     // the encoded result of the measurement; nil if nothing was measured
}

// A countingMemo loads the counting of one space from a cache and stores it there.
type countingMemo struct {
	cache          Cache             // nil if nothing is cached
	key            [sha256.Size]byte // hash of the rules and of everything else that the counts depend on
	cachedCounting *counting         // what the cache contains; nil if it contains nothing
	cacheUsed      bool              // whether some part of cachedCounting was used
}

// newCountingMemo loads the counting of the given rules from the cache, if the cache has it. The argument
// mass holds the probabilities of the numbers of ingredients.
func newCountingMemo(r *ruleset, mass []float64, o CountingOptions) *countingMemo {
	m := &countingMemo{cache: o.Cache}
	if o.Cache == nil {
		return m
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{
		countingVersion, len(r.Amounts), r.Conditions, mass, o.Seed, o.MaxTableSteps,
		volume.DefaultRatioError, volume.DefaultEffort,
	}); err != nil {
		m.cache = nil // rules that cannot be encoded are not cached
		return m
	}
	hash.Sum(m.key[:0])
	if data := o.Cache.Load(m.key); data != nil {
		var known counting
		if gob.NewDecoder(bytes.NewReader(data)).Decode(&known) == nil {
			m.cachedCounting = &known
		}
	}
	return m
}

// cachedCounts returns the cached counts of a table, or nil if the cache has none. The argument
// whole says whether the table counts the compositions that keep all rules.
func (m *countingMemo) cachedCounts(whole bool) []*big.Int {
	if m.cachedCounting == nil || m.cachedCounting.Whole != whole {
		return nil
	}
	m.cacheUsed = m.cacheUsed || m.cachedCounting.Counts != nil
	return m.cachedCounting.Counts
}

// cachedMeasurement returns the cached result of measuring problem p for the given numbers of
// ingredients, or nil if the cache has none.
func (m *countingMemo) cachedMeasurement(p volume.Problem, sizes []int) *volume.Result {
	if m.cachedCounting == nil || m.cachedCounting.Measured == nil {
		return nil
	}
	result, err := volume.Restore(p, sizes, m.cachedCounting.Measured)
	if err != nil {
		return nil // not of this problem: the caller measures again
	}
	m.cacheUsed = true
	return result
}

// storeCounting stores the counting of r in the cache, unless it came from the cache or was quick.
func (m *countingMemo) storeCounting(r *ruleset) error {
	if m.cache == nil || m.cacheUsed || r.measurement == nil && r.table.Steps() < minCachedSteps {
		return nil
	}
	c := counting{Whole: r.shares == nil, Counts: r.table.TabulatedCounts()}
	if r.measurement != nil {
		var err error
		if c.Measured, err = r.measurement.MarshalBinary(); err != nil {
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
