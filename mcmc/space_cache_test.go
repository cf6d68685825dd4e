package mcmc_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"math/big"
	"testing"
	"time"

	"kir/mcmc"
	"kir/rule"
)

// given is a cache that has the same for all.
type given []byte

func (g given) Load([sha256.Size]byte) []byte   { return g }
func (g given) Store([sha256.Size]byte, []byte) {}

// FuzzCache counts with what a cache has of the rules, which is taken, or passed over and
// then given up, as it takes long to work it out. What is taken can be drawn from.
func FuzzCache(f *testing.F) {
	set, law := rule.Set{Ingredients: 100, Total: 100, Rules: deepRules(90).Rules[:2]}, mcmc.Uniform(7, 8)
	o := mcmc.CountingOptions{Law: law, MaxTableSteps: 1, Seed: 5}
	cache := memory{}
	o.Cache = cache
	if _, err := mcmc.NewRuledSpace(f.Context(), set, o); err != nil || len(cache) != 1 {
		f.Fatal(len(cache), err)
	}
	for _, data := range cache {
		f.Add(data)
	}
	var counts bytes.Buffer
	if err := gob.NewEncoder(&counts).Encode(struct{ Counts []*big.Int }{[]*big.Int{7: big.NewInt(99), 8: big.NewInt(0)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(counts.Bytes())
	if s, err := mcmc.NewRuledSpace(f.Context(), set, o); err != nil || !s.UsedCache() {
		f.Fatal("what a cache has is not taken: ", err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, steps := range []float64{0, 1} {
			o.Cache, o.MaxTableSteps = given(data), steps
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			space, err := mcmc.NewRuledSpace(ctx, set, o)
			cancel()
			if err != nil {
				continue
			}
			target, err := mcmc.NewTarget(space, law)
			if err != nil {
				continue
			}
			prior, r := mcmc.NewPrior(target), mcmc.NewRand(1, "test", 0)
			for range 3 {
				if x, err := prior.Draw(r); err == nil && space.Contains(x) != nil {
					t.Fatalf("%v is drawn: %v", x.Parts(), space.Contains(x))
				}
			}
		}
	})
}
