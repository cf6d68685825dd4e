package mcmc

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"math/big"

	"kir/internal/constraint/volume"
)

// A Cache stores the results of counting the compositions of spaces with rules. Store stores data
// under a key. Load returns the data stored under a key, or nil.
type Cache interface {
	Load(key [sha256.Size]byte) []byte
	Store(key [sha256.Size]byte, data []byte)
}

// minCachedSteps is the least number of counting steps, of about 10⁻⁹ s each, that make a result
// worth caching. Results that were measured are always cached.
const minCachedSteps = 2e8

// countingVersion is part of every cache key. It must be raised whenever the counts for the same
// rules, law and seed may change. A test compares some counts with known values.
const countingVersion = 3

// A counting is what the cache stores for a space: the counts of the table, and the result of the
// measurement.
type counting struct {
	Whole    bool       // whether the counts are of compositions that keep all rules, and not only the countable ones
	Counts   []*big.Int // Counts[n] is the number of compositions of n ingredients; nil if a formula gives the numbers
	Measured []byte     // the encoded result of the measurement; nil if nothing was measured
}

// A countCacheEntry is the place of one space in a cache. It loads the counting of the space and
// stores it there.
type countCacheEntry struct {
	cache          Cache             // the cache; nil if nothing is cached
	key            [sha256.Size]byte // hash of the rules and of everything else that the counts depend on
	cachedCounting *counting         // what the cache contains under key; nil if it contains nothing
	cacheUsed      bool              // whether some part of cachedCounting was used
}

// newCountCacheEntry loads the counting of the rules r from the cache, if the cache has it. The
// argument mass[n−1] is the probability of n ingredients in the sparsity law.
func newCountCacheEntry(r *ruleset, mass []float64, o CountingOptions) *countCacheEntry {
	m := &countCacheEntry{cache: o.Cache}
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
// whole says whether the table counts the compositions that keep all rules, and not only the
// countable ones.
func (m *countCacheEntry) cachedCounts(whole bool) []*big.Int {
	if m.cachedCounting == nil || m.cachedCounting.Whole != whole {
		return nil
	}
	m.cacheUsed = m.cacheUsed || m.cachedCounting.Counts != nil
	return m.cachedCounting.Counts
}

// cachedMeasurement returns the cached result of measuring problem p for compositions with each of
// the given numbers of ingredients. It returns nil if the cache has none.
func (m *countCacheEntry) cachedMeasurement(p volume.Problem, sizes []int) *volume.Result {
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

// storeCounting stores the counting of r in the cache. It does nothing if the counting came from
// the cache, or if it took little time.
func (m *countCacheEntry) storeCounting(r *ruleset) error {
	if m.cache == nil || m.cacheUsed || r.measurement == nil && r.countTable.Steps() < minCachedSteps {
		return nil
	}
	c := counting{Whole: r.uncountedRuleShares == nil, Counts: r.countTable.TabulatedCounts()}
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
