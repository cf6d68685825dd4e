package campaign

import (
	"math"
	"strconv"
	"testing"
)

// TestTrackRecord: the first batch has the corrections of the prior. After results at the ends of
// all intervals, the intervals stay as wide; where the intervals were widened more than that, they
// stay so, too. After other results, the prior is that of later batches. Results that beat nothing lower the odds of a new best, and results of which each
// batch beats all before it raise them.
func TestTrackRecord(t *testing.T) {
	s := Settings{BatchSize: 8, Seed: 1, MaxNewIngredients: -1, Workers: 1}
	after := func(value func(k int, p Prediction) float64) (*Campaign, *batchOptimizer) {
		t.Helper()
		path := fiveBench(t, "properties: {y: {forest: {label: y, maximize: true}}}\n"+shortSearch(), trialsTable(30, hill))
		b, err := open(t, path).Next(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if w, f := b.Correction.Widening["y"], b.Correction.OddsFactor; math.Abs(w-firstWidening) > 1e-9 || math.Abs(f-priorOddsFactor) > 1e-9 {
			t.Fatalf("the first batch widens by %v and multiplies odds by %v", w, f)
		}
		var results []Result
		for k, e := range b.Entries {
			text := strconv.FormatFloat(value(k, e.Predicted["y"]), 'g', -1, 64)
			results = append(results, Result{ID: e.ID, Values: map[string]string{"y": text}})
		}
		if _, err := open(t, path).Record(t.Context(), results, RecordOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
		c := open(t, path)
		ch, err := newBatchOptimizer(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		return c, ch
	}
	widening := func(ch *batchOptimizer) float64 {
		t.Helper()
		if err := ch.setIntervalWidening(); err != nil {
			t.Fatal(err)
		}
		return ch.objectives[0].intervalWidening
	}
	c, ch := after(func(_ int, p Prediction) float64 { return p.High })
	if w := ch.objectives[0].intervalWidening; math.Abs(w-firstWidening) > 1e-6 {
		t.Errorf("results at the ends of intervals widen them by %v", w)
	}
	c.Batches[0].Correction.Widening["y"] = 4
	if w := widening(ch); math.Abs(w-4) > 1e-6 {
		t.Errorf("results at the ends of intervals that were 4 times as wide widen by %v", w)
	}
	// Results as predicted: half of the predictions are those of the prior, of which a fifth is
	// then beyond the interval.
	_, ch = after(func(_ int, p Prediction) float64 { return p.Value })
	if w, want := ch.objectives[0].intervalWidening, laterWidening*1.2815515655446004/coverageNormalQuantile; math.Abs(w-want) > 1e-6 {
		t.Errorf("results as predicted widen by %v, want %v", w, want)
	}
	// Older batches count less.
	ch.round += 20
	if w := widening(ch); math.Abs(w-laterWidening) > 0.01 {
		t.Errorf("results of long ago widen by %v", w)
	}

	_, ch = after(func(k int, p Prediction) float64 { return -500 - float64(k) })
	if !(ch.oddsFactor < priorOddsFactor) {
		t.Errorf("after results that beat nothing the odds are multiplied by %v", ch.oddsFactor)
	}
	c, ch = after(func(k int, p Prediction) float64 { return 500 + float64(k) })
	if !(ch.oddsFactor > priorOddsFactor) {
		t.Errorf("after results that beat all the odds are multiplied by %v", ch.oddsFactor)
	}
	// The corrected chances of the batch, and those of the prior, have the sum of what came.
	sum, came := 0.0, 0.0
	for _, e := range c.Batches[0].Entries {
		sum += multiplyOdds(multiplyOdds(*e.BeatsBestProbability, 1/priorOddsFactor), ch.oddsFactor)
		came++
	}
	sum += priorOddsCount * multiplyOdds(priorOddsChance, ch.oddsFactor)
	came += priorOddsCount * multiplyOdds(priorOddsChance, priorOddsFactor)
	if math.Abs(sum-came) > 1e-6 {
		t.Errorf("chances have the sum %v, and %v came", sum, came)
	}
}

// TestMultiplyOdds: the odds of 1/4 are 1 to 3; the inverse factor gives the chance back.
func TestMultiplyOdds(t *testing.T) {
	if p := multiplyOdds(0.25, 3); p != 0.5 {
		t.Errorf("three times the odds of 0.25 are %v", p)
	}
	for _, p := range []float64{0, 0.004, 0.5, 0.999, 1} {
		if back := multiplyOdds(multiplyOdds(p, 0.05), 20); math.Abs(back-p) > 1e-12 {
			t.Errorf("%v comes back as %v", p, back)
		}
	}
}

// TestChanceText: a share of draws is no certainty.
func TestChanceText(t *testing.T) {
	for p, want := range map[float64]string{0: "<1 %", 1: ">99 %", 0.5: "50 %", 0.004: "<1 %", 0.997: ">99 %"} {
		if got := chanceText(p); got != want {
			t.Errorf("%v is written as %q, want %q", p, got, want)
		}
	}
}
