package run

import (
	"math"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// needles is a problem whose mass lies at two mirrored compositions: all else scores
// 1e-30, and e^(−steep·d²) at the distance d from either.
func needles(t testing.TB, steep float64, seed uint64) *Spec {
	const n, total = 40, 100
	want := []float64{0.4, 0.3, 0.2, 0.1}
	var squares [n][total + 1]float64 // of an amount's distance from the peak's, since each draw asks for many
	for i := range squares {
		to := 0.0
		if i < len(want) {
			to = want[i]
		}
		for amount := range squares[i] {
			off := float64(amount)/total - to
			squares[i][amount] = off * off
		}
	}
	peak := func(x *mcmc.Composition, mirrored bool) float64 {
		d := 0.0
		for i := range n {
			at := i
			if mirrored {
				at = n - 1 - i
			}
			d += squares[i][x.Amount(at)]
		}
		return math.Exp(-steep * d)
	}
	score := func(x *mcmc.Composition) float64 {
		return math.Min(1, peak(x, false)+peak(x, true)+1e-30)
	}
	s := newSpec(t, n, total, mcmc.Uniform(2, 6), mcmc.Settings{Kernel: "balanced", Chains: 4, Warmup: 2000, Draws: 4000, Thin: 1, Seed: seed},
		mcmc.Objective{Name: "needle", Property: mcmc.ScoreFunc(score), Weight: 1})
	s.Question = &search.Question{Target: s.Target, Effort: testmode.Pick(20.0, 8)}
	return s
}

// The result names a region that the search found and no chain did, and no region that the
// chains know.
func TestMissedRegion(t *testing.T) {
	for seed := uint64(1); seed <= testmode.Pick[uint64](3, 1); seed++ {
		_, r := start(t, needles(t, 3000, seed), Options{})
		if r.Best[0].Score > 1e-3 {
			t.Fatalf("seed %d: a chain has found a needle: the test needs narrower ones", seed)
		}
		if r.Answer.Entries[0].LogScore < -1 {
			t.Fatalf("seed %d: the search has not found a needle: its best scores e^%.1f", seed, r.Answer.Entries[0].LogScore)
		}
		if r.UnseenMode == nil {
			t.Errorf("seed %d: the result has no note of it", seed)
		} else if len(r.UnseenMode.Parts) != 4 || r.UnseenMode.LogRatio < 20 {
			t.Errorf("seed %d: %+v", seed, r.UnseenMode)
		}
		if _, r := start(t, needles(t, 10, seed), Options{}); r.UnseenMode != nil {
			t.Errorf("seed %d: broad peaks are missed: %+v", seed, r.UnseenMode)
		}
	}
	s := smallSpec(t, resumeSettings(2000))
	s.Question = &search.Question{Target: s.Target, Effort: 1}
	if _, r := start(t, s, Options{}); r.UnseenMode != nil {
		t.Errorf("a smooth problem: %+v", r.UnseenMode)
	}
}

// Sums of logs are those of the numbers.
func TestLogMean(t *testing.T) {
	var a, b, none logMean
	want := 0.0
	for k, v := range []float64{3, math.Inf(-1), -2, 7, 7, 6.5} {
		want += math.Exp(v)
		if k%2 == 0 {
			a.add(v)
		} else {
			b.add(v)
		}
	}
	a.join(none)
	none.join(b)
	a.join(none)
	if got := a.logOfSum(); math.Abs(got-math.Log(want)) > 1e-14*math.Abs(got) || a.count != 6 || math.Abs(a.logOfMean()-math.Log(want/6)) > 1e-14 {
		t.Errorf("the sum of %d is e^%v, want e^%v", a.count, got, math.Log(want))
	}
}
