package mcmc

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"math/big"

	"kir/internal/measure"
)

// A Cache keeps what was worked out of a space with rules. What it gives for a key
// must be what it was given for it, or nil.
type Cache interface {
	Load(key [sha256.Size]byte) []byte
	Store(key [sha256.Size]byte, data []byte)
}

// minCachedSteps is how many steps of 10⁻⁹ s counting takes of which the result is
// kept; what was measured always is.
const minCachedSteps = 2e8

// countingVersion is raised whenever |X_n| of the same rules, law and seed may
// come out differently; a test knows what does.
const countingVersion = 3

// A counting is what is kept: counts of a table, and what was measured beside it.
type counting struct {
	Whole    bool       // the table is of all rules
	Counts   []*big.Int // nil if a formula counts
	Measured []byte     // nil if nothing was
}

// memo is a counting on its way from a cache or to it.
type memo struct {
	cache Cache
	key   [sha256.Size]byte
	known *counting // nil if the cache has none
	used  bool      // of what is known
}

// newMemo looks up rules with all that their counts depend on.
func newMemo(r *ruleset, mass []float64, o Counting) *memo {
	m := &memo{cache: o.Cache}
	if o.Cache == nil {
		return m
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{
		countingVersion, len(r.Amounts), r.Conditions, mass, o.Seed, o.TableSteps,
		measure.DefaultRatioError, measure.DefaultEffort,
	}); err != nil {
		m.cache = nil // no rules that can be written, no cache
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

// counts returns those that are known of a space, nil if none are.
func (m *memo) counts(whole bool) []*big.Int {
	if m.known == nil || m.known.Whole != whole {
		return nil
	}
	m.used = m.used || m.known.Counts != nil
	return m.known.Counts
}

// measured returns what is known of a problem, nil if nothing is.
func (m *memo) measured(p measure.Problem, sizes []int) *measure.Result {
	if m.known == nil || m.known.Measured == nil {
		return nil
	}
	result, err := measure.Restore(p, sizes, m.known.Measured)
	if err != nil {
		return nil // foreign: it is worked out again
	}
	m.used = true
	return result
}

// keep gives the cache what was worked out, if it is worth that.
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
