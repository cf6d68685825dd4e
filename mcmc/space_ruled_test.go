package mcmc_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"testing"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// deepRules are rules of a space of some size that a table counts, of which few
// compositions keep the last ones: groups that cross, needs, and a limit of few
// values that leaves so many units to nineteen ingredients in twenty.
func deepRules(units int) rule.Set {
	set := rule.Set{Ingredients: 200, Total: 60, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Used: &rule.Range{Min: 2, Max: 4}},
		rule.Group{Of: []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, Used: &rule.Range{Min: 1, Max: 2}},
		rule.Need{If: 24, Then: []int{30, 36}},
		rule.Need{If: 42, Then: []int{3, 48}},
	}}
	l := rule.Limit{Factors: make([]float64, set.Ingredients), Min: math.Inf(-1), Max: float64(units) / float64(set.Total)}
	for i := range l.Factors {
		if i%20 > 0 {
			l.Factors[i] = 1 + float64(i%2)
		}
	}
	set.Rules = append(set.Rules, l)
	return set
}

// Shares down to 10⁻¹² that are measured agree with tables of all rules, within
// five of their standard errors: false alarm for one seed in 50,000 or so.
func TestMeasuredSharesAgreeWithTables(t *testing.T) {
	deepest, squares, n := 0.0, 0.0, 0
	depths := []int{3, 8}
	for _, depth := range depths[:testmode.Pick(2, 1)] {
		set := deepRules(depth)
		law := mcmc.Uniform(9, 10)
		table, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: law})
		if err != nil {
			t.Fatal(err)
		}
		measured, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: law, MaxTableSteps: 1, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if table.UncountedRuleShares() != nil || measured.UncountedRuleShares() == nil {
			t.Fatalf("%d units: what is counted and what is measured: %v", depth, table.UncountedReason())
		}
		logs, counts := table.LogCounts(10), measured.LogCounts(10)
		for size := 9; size <= 10; size++ {
			share := measured.UncountedRuleShares()[size-1]
			se := share.SE / share.Estimate
			z := (counts[size] - logs[size]) / se
			t.Logf("%d units, n = %d: share %.3g ± %.2g, z = %.2f", depth, size, share.Estimate, share.SE, z)
			if !(math.Abs(z) < 5) {
				t.Errorf("%d units, n = %d: log |X_n| is measured as %v ± %v and is %v", depth, size, counts[size], se, logs[size])
			}
			deepest = min(deepest, math.Log10(share.Estimate))
			squares += z * z
			n++
		}
	}
	t.Logf("mean square of z: %.2f of %d; the deepest share is 10^%.1f", squares/float64(n), n, deepest)
	if deepest > -11 {
		t.Errorf("the deepest share is 10^%.1f", deepest)
	}
}

// memory is a cache that a test can spoil.
type memory map[[sha256.Size]byte][]byte

func (m memory) Load(key [sha256.Size]byte) []byte {
	if data := m[key]; data != nil {
		return data
	}
	return nil
}

func (m memory) Store(key [sha256.Size]byte, data []byte) { m[key] = data }

// What comes from a cache is what would be worked out, bit for bit; with other
// rules, another law or seed nothing comes; and whatever else the cache gives is
// passed over.
func TestCountsFromACache(t *testing.T) {
	for _, c := range []struct {
		steps float64
		set   rule.Set
	}{{0, deepRules(8)}, {1, rule.Set{Ingredients: 100, Total: 100, Rules: deepRules(90).Rules[:2]}}} {
		set, steps, law, cache := c.set, c.steps, mcmc.Uniform(7, 8), memory{}
		o := mcmc.CountingOptions{Law: law, MaxTableSteps: steps, Seed: 5, Cache: cache}
		fresh, err := mcmc.NewRuledSpace(t.Context(), set, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(cache) != 1 || fresh.UsedCache() {
			t.Fatalf("steps %v: %d things are kept", steps, len(cache))
		}
		same := func(s *mcmc.Space) bool {
			return reflect.DeepEqual(s.LogCounts(8), fresh.LogCounts(8)) && reflect.DeepEqual(s.UncountedRuleShares(), fresh.UncountedRuleShares()) &&
				reflect.DeepEqual(s.LawStandardErrors([]float64{7: 0.3, 8: 0.7}), fresh.LawStandardErrors([]float64{7: 0.3, 8: 0.7}))
		}
		draws := func(s *mcmc.Space) (all [][]mcmc.Part) {
			target, err := mcmc.NewTarget(s, law)
			if err != nil {
				t.Fatal(err)
			}
			prior, r := mcmc.NewPrior(target), mcmc.NewRand(1, "test", 0)
			for range 50 {
				x, err := prior.Draw(r)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, x.Parts())
			}
			return all
		}
		again, err := mcmc.NewRuledSpace(t.Context(), set, o)
		if err != nil {
			t.Fatal(err)
		}
		if !again.UsedCache() || !same(again) || !reflect.DeepEqual(draws(again), draws(fresh)) {
			t.Errorf("steps %v: what comes from a cache is not what was worked out", steps)
		}
		if steps == 0 { // each takes long
			continue
		}
		// What is kept must not outlive what would be measured today.
		if got, want := fmt.Sprint(fresh.LogCounts(8)[7:]), "[42.36441539135488 47.651256512564046]"; got != want {
			t.Errorf("log |X_n| is measured as %s and was %s: raise countingVersion, so that caches are made again", got, want)
		}
		for what, change := range map[string]func(*mcmc.CountingOptions, *rule.Set){
			"seed":   func(o *mcmc.CountingOptions, _ *rule.Set) { o.Seed = 6 },
			"law":    func(o *mcmc.CountingOptions, _ *rule.Set) { o.Law = mcmc.Table(map[int]float64{7: 1, 8: 2}) },
			"bounds": func(o *mcmc.CountingOptions, _ *rule.Set) { o.MaxTableSteps = 2 },
			"rules":  func(_ *mcmc.CountingOptions, s *rule.Set) { s.Rules = s.Rules[1:] },
			"total":  func(_ *mcmc.CountingOptions, s *rule.Set) { s.Total-- },
		} {
			changed, other := o, set
			change(&changed, &other)
			if s, err := mcmc.NewRuledSpace(t.Context(), other, changed); err != nil || s.UsedCache() {
				t.Errorf("steps %v: another %s is taken from the cache (%v)", steps, what, err)
			}
		}
		for key, data := range cache {
			for _, spoilt := range [][]byte{{}, data[:len(data)/2], []byte("something else"), make([]byte, 1000)} {
				cache[key] = spoilt
				if s, err := mcmc.NewRuledSpace(t.Context(), set, o); err != nil || !same(s) {
					t.Errorf("steps %v: what is spoilt in the cache is taken (%v)", steps, err)
				}
			}
			break
		}
	}
}
