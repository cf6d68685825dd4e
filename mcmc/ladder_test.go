package mcmc_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// log Z of several ladders is their mean, and its error the larger of what they
// state and of what they differ by.
func TestPoolLogZ(t *testing.T) {
	for _, c := range []struct {
		name         string
		ladders      []*mcmc.LadderStatistics
		value, error float64
	}{
		{"one", []*mcmc.LadderStatistics{{LogZ: 3, LogZError: 0.25}}, 3, 0.25},
		{"alike, so that they differ by less than they state", []*mcmc.LadderStatistics{{LogZ: 1, LogZError: 0.3}, {LogZ: 1.01, LogZError: 0.4}}, 1.005, 0.25},
		{"far apart, so that they state too little", []*mcmc.LadderStatistics{{LogZ: 0, LogZError: 0.01}, {LogZ: 1, LogZError: 0.01}, {LogZ: 5, LogZError: 0.02}}, 2, math.Sqrt(14 / 6.0)},
		{"one of two legs", []*mcmc.LadderStatistics{{LogZ: 3, LogZError: 0.25, Learnt: &mcmc.LadderStatistics{LogZ: 2.5, LogZError: 0.125}}}, 2.5, 0.125},
		{"one of two legs, the first", []*mcmc.LadderStatistics{{LogZ: 3, LogZError: 0.25, Learnt: &mcmc.LadderStatistics{LogZ: 2.5, LogZError: math.NaN()}}}, 3, 0.25},
		{"none", nil, math.NaN(), math.NaN()},
		{"one of which is unknown", []*mcmc.LadderStatistics{{LogZ: 1, LogZError: 0.1}, {LogZ: math.NaN(), LogZError: math.NaN()}}, math.NaN(), math.NaN()},
	} {
		value, se := mcmc.MeanLogZ(c.ladders...)
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
		k, err := mcmc.NewTemperedReplicas(target, replicas+2)
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

// A ladder that no chain can have is not restored, and what is said names what is
// wrong with it.
func TestDamagedLadders(t *testing.T) {
	target := newTarget(t, 6, 9, mcmc.Uniform(1, 4), wish("tenths", 2, func(x *mcmc.Composition) float64 { return 0.1 + float64(x.Amount(0)%3) }))
	k, err := mcmc.NewTemperedReplicas(target, 4)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.NewChain(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Warm(50); err != nil {
		t.Fatal(err)
	}
	c.EndWarmup()
	const scans, steps, length = 100, 3, 2 // of which two make a batch, as there are more than 64
	if err := c.Advance(scans); err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	l := c.Ladder()
	// A β stands once in what is saved, but those of the ends.
	where := func(beta float64) int {
		return bytes.Index(data, binary.LittleEndian.AppendUint64(nil, math.Float64bits(beta)))
	}
	// The sums are at the end: four counts, what is rejected, scores and how many are
	// forbidden, and the batches.
	const batches = (scans + length - 1) / length * steps
	sums := len(data) - 8*(4+steps+2*(steps+1)) - 16*batches
	if got := int64(binary.LittleEndian.Uint64(data[sums:])); got != scans || int64(binary.LittleEndian.Uint64(data[sums+24:])) != length {
		t.Fatalf("the sums are of %d scans", got)
	}
	first := where(l.Rungs[1].Beta)
	float := func(v float64) uint64 { return math.Float64bits(v) }
	negative := func(v int64) uint64 { return uint64(-v) }
	for _, d := range []struct {
		what string
		at   int
		v    uint64
		says string
	}{
		{"a β as high as the next", first, float(l.Rungs[2].Beta), "does not rise"},
		{"a β below 0", first, float(-0.5), "does not rise"},
		{"a β that is no number", first, float(math.NaN()), "not finite"},
		{"a peak elsewhere", where(3), float(4), "ends elsewhere"},
		{"the last peak elsewhere", where(9), float(9.5), "ends elsewhere"},
		{"an offset that is no number", first + 8, float(math.Inf(1)), "not finite"},
		{"ends that there are not", first + 16, 8, "number is out of range"},
		{"ends below none", first + 16, negative(1), "number is out of range"},
		{"scans below 0", sums, negative(1), "number is out of range"},
		{"more scans than anybody makes", sums, 1 << 60, "number is out of range"},
		{"more restarts than scans", sums + 8, scans + 1, "number is out of range"},
		{"more round trips than restarts", sums + 16, uint64(l.Restarts) + 1, "number is out of range"},
		{"batches without scans", sums + 24, 0, "number is out of range"},
		{"batches longer than the scans", sums + 24, scans + 1, "number is out of range"},
		{"more batches than are kept", sums + 24, 1, "number is out of range"},
		{"more rejected than scans", sums + 32, float(scans + 1), "sum is out of range"},
		{"rejected below 0", sums + 40, float(-1), "sum is out of range"},
		{"a score that is no number", sums + 8*(4+steps), float(math.NaN()), "not finite"},
		{"more forbidden than scans", sums + 8*(4+2*steps+1), scans + 1, "number is out of range"},
		{"a batch above its scans", len(data) - 8, float(length + 1), "sum is out of range"},
		{"a batch below 0", len(data) - 16*batches, float(-1), "sum is out of range"},
	} {
		damaged := slices.Clone(data)
		binary.LittleEndian.PutUint64(damaged[d.at:], d.v)
		if _, err := k.RestoreChain(damaged); err == nil || !strings.Contains(err.Error(), d.says) {
			t.Errorf("%s: %v", d.what, err)
		}
	}
	if _, err := k.RestoreChain(data); err != nil {
		t.Error(err)
	}

	for _, other := range []int{3, 5} {
		k, err := mcmc.NewTemperedReplicas(target, other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.RestoreChain(data); err == nil || !strings.Contains(err.Error(), "4 replicas") {
			t.Errorf("as a chain of %d replicas: %v", other, err)
		}
	}
	bare, err := mcmc.NewTempered(newTarget(t, 6, 9, mcmc.Uniform(1, 4)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.RestoreChain(data); err == nil {
		t.Error("a ladder is restored where nothing is scored")
	}
	kernel, err := mcmc.NewSampler("balanced", target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.RestoreChain(data); err == nil || !strings.Contains(err.Error(), "another kernel") {
		t.Errorf("as a chain of balanced: %v", err)
	}
}

// A ladder gets two steps for each one that is always rejected, 1 at least, and
// however steep its properties are at most 100.
func TestLengthOfLadders(t *testing.T) {
	target := newTarget(t, 6, 9, mcmc.Uniform(2, 4), wish("one", 1, func(x *mcmc.Composition) float64 { return 1 }))
	for _, c := range []struct {
		steps    int
		rejected float64
		rungs    int
	}{{8, 0.5, 9}, {8, 1, 17}, {8, 0, 2}, {8, 0.01, 2}, {8, 0.3, 6}, {49, 1, 99}, {50, 1, 101}, {51, 1, 101}, {100, 0.9, 101}} {
		var betas []float64
		for k := range c.steps + 1 {
			betas = append(betas, float64(k)/float64(c.steps))
		}
		p, err := mcmc.NewReplicas(target, betas, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k := range betas {
			x, err := mcmc.NewComposition(6, mcmc.Part{Ingredient: 1, Amount: 4}, mcmc.Part{Ingredient: 2, Amount: 5})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Set(k, x); err != nil {
				t.Fatal(err)
			}
		}
		if rungs, err := p.Space(c.rejected); err != nil || rungs != c.rungs {
			t.Errorf("%d steps rejected at a rate of %v make %d rungs, want %d: %v", c.steps, c.rejected, rungs, c.rungs, err)
		}
	}
	for replicas, ok := range map[int]bool{1: false, 2: true, 101: true, 102: false} {
		if _, err := mcmc.NewTemperedReplicas(target, replicas); (err == nil) != ok {
			t.Errorf("%d replicas: %v", replicas, err)
		}
	}
}
