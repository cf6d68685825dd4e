package mcmc_test

import (
	"math"
	"testing"

	"kir/mcmc"
)

// StartState draws again while a property is 0, and says how often.
func TestStartTries(t *testing.T) {
	target := newTarget(t, 50, 10, mcmc.Uniform(1, 3), wish("has 0", 1, func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) }))
	r := mcmc.NewRand(1, "test", 0)
	tries := 0
	for range 100 {
		x, n, err := mcmc.StartState(target, r)
		if err != nil {
			t.Fatal(err)
		}
		if x.Composition.Amount(0) == 0 || n < 1 || math.IsInf(x.LogDensity(), 0) {
			t.Fatalf("%v after %d", x.Composition, n)
		}
		tries += n
	}
	// A draw has ingredient 0 with probability (1+2+3)/3/50 = 0.04: 2,500
	// draws are expected for 100, with an sd of 245. Six of those are passed
	// with probability below 1e-8; the seed is fixed.
	if tries < 1030 || tries > 3970 {
		t.Errorf("%d draws for 100 starts", tries)
	}
}
