package kir_test

import (
	"math"
	"testing"

	"kir"
)

// log Z of several ladders is their mean, and its error the larger of what they
// state and of what they differ by.
func TestPoolLogZ(t *testing.T) {
	for _, c := range []struct {
		name         string
		ladders      []*kir.Ladder
		value, error float64
	}{
		{"one", []*kir.Ladder{{LogZ: 3, LogZError: 0.25}}, 3, 0.25},
		{"alike, so that they differ by less than they state", []*kir.Ladder{{LogZ: 1, LogZError: 0.3}, {LogZ: 1.01, LogZError: 0.4}}, 1.005, 0.25},
		{"far apart, so that they state too little", []*kir.Ladder{{LogZ: 0, LogZError: 0.01}, {LogZ: 1, LogZError: 0.01}, {LogZ: 5, LogZError: 0.02}}, 2, math.Sqrt(14 / 6.0)},
		{"none", nil, math.NaN(), math.NaN()},
		{"one of which is unknown", []*kir.Ladder{{LogZ: 1, LogZError: 0.1}, {LogZ: math.NaN(), LogZError: math.NaN()}}, math.NaN(), math.NaN()},
	} {
		value, se := kir.PoolLogZ(c.ladders...)
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-12 || math.IsNaN(x) && math.IsNaN(y) }
		if !near(value, c.value) || !near(se, c.error) {
			t.Errorf("%s: %v ± %v, want %v ± %v", c.name, value, se, c.value, c.error)
		}
	}
}

// Of a chain of replicas that do not move by themselves, what is counted is the
// swaps that β = 1 takes part in: exactly those after which its composition is
// another, as no two compositions of so large a space are the same by chance.
func TestTallyOfSwaps(t *testing.T) {
	target := chainTargets(t)["scored"]
	for replicas := range 4 {
		k, err := kir.NewTemperedReplicas(target, replicas+2)
		if err != nil {
			t.Fatal(err)
		}
		k.SetMoves(0)
		c, err := k.NewChain(uint64(replicas), 0)
		if err != nil {
			t.Fatal(err)
		}
		changed := int64(0)
		for scan := range int64(400) {
			before := c.State.Composition.Clone()
			if err := c.Advance(1); err != nil {
				t.Fatal(err)
			}
			if !before.Equal(c.State.Composition) {
				changed++
			}
			if got := c.Tally(); got.Iterations != scan+1 || got.Accepted != changed || got.Updated != changed {
				t.Fatalf("%d replicas: after %d scans, of which %d changed the composition, the tally is %+v", replicas+2, scan+1, changed, got)
			}
		}
		if changed < 40 || changed > 360 {
			t.Errorf("%d replicas: %d of 400 scans changed the composition, which tells little", replicas+2, changed)
		}
	}
}

// A scan in which a replica moves and swaps counts once.
func TestTallyOfScans(t *testing.T) {
	c := settled(t, "tempered", chainTargets(t)["scored"], 1, 100)
	if err := c.Advance(300); err != nil {
		t.Fatal(err)
	}
	tally := c.Tally()
	tried := int64(0)
	for _, m := range tally.Moves {
		tried += m.Tried
	}
	if tally.Iterations != 300 || tally.Accepted > 300 || tally.Updated > tally.Accepted || tally.Accepted < 100 || tried <= 300 {
		t.Errorf("300 scans give %+v", tally)
	}
}
