package kir_test

import (
	"crypto/sha256"
	"testing"

	"kir"
	"kir/rule"
)

// given is a cache that has the same for all.
type given []byte

func (g given) Load([sha256.Size]byte) []byte   { return g }
func (g given) Store([sha256.Size]byte, []byte) {}

// FuzzCache counts with what a cache has of the rules, which is taken or passed over;
// the space can then be drawn from.
func FuzzCache(f *testing.F) {
	set := rule.Set{Ingredients: 9, Total: 12, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2, 3}, Used: &rule.Range{Min: 1, Max: 2}}, rule.Group{Of: []int{2, 3, 4, 5}, Used: &rule.Range{Min: 1, Max: 2}}, rule.Need{If: 1, Then: []int{6, 7}},
	}}
	law := kir.Uniform(2, 4)
	for _, steps := range []float64{0, 1} {
		cache := memory{}
		if _, err := kir.NewRuledSpace(f.Context(), set, kir.Counting{Law: law, TableSteps: steps, Seed: 5, Cache: cache}); err != nil {
			f.Fatal(err)
		}
		for _, data := range cache {
			f.Add(data, steps > 0)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, measured bool) {
		o := kir.Counting{Law: law, Seed: 5, Cache: given(data)}
		if measured {
			o.TableSteps = 1
		}
		space, err := kir.NewRuledSpace(t.Context(), set, o)
		if err != nil {
			return // counts that no rules have
		}
		target, err := kir.NewTarget(space, law)
		if err != nil {
			return
		}
		prior, r := kir.NewPrior(target), kir.NewRand(1, "test", 0)
		for range 3 {
			if x, err := prior.Draw(r); err == nil && space.Contains(x) != nil {
				t.Fatalf("%v is drawn: %v", x.Parts(), space.Contains(x))
			}
		}
	})
}
