package assemble

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/report"
	"kir/internal/run"
	"kir/mcmc"
)

// Rare pairs are counts of few events: their law is far from normal.
func TestDiffersOfRarePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	told := 0
	const pairs = 200_000
	for range pairs {
		// 80 batches, in a quarter of which the pair is met: 20 times in all.
		counts := make([]float64, 80)
		sum := 0.0
		for k := range counts {
			if r.Float64() < 0.25 {
				counts[k] = 1
				sum++
			}
		}
		if sum < minBatchesWithEvent {
			continue
		}
		se := jackknifeError(80, func(k int) float64 { return (sum - counts[k]) / 20 * 80 / 79 })
		if isLiftSignificant(sum/20, se, 1) {
			told++
		}
	}
	// 6e-5 · 200,000 = 12 would be told of if the error was normal.
	if told > 12 {
		t.Errorf("%d of %d", told, pairs)
	}
}

// Each choice of the diverse shortlist maximises the formula, which is computed
// here from its words, and a short list begins a long one.
func TestDiverse(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var pool []run.Best
	for k := range 300 {
		b := run.Best{Draw: k, Score: math.Floor(20*r.Float64()) / 20, LogDensity: -float64(k)}
		b.LogScore = math.Log(b.Score)
		for i := range 12 {
			if r.Float64() < 0.3 || i == 0 {
				b.Parts = append(b.Parts, mcmc.Part{Ingredient: i, Amount: 1})
			}
		}
		pool = append(pool, b)
	}
	pool = run.DistinctBest(pool)
	for k := range pool {
		for q := range k {
			if slices.Equal(ingredientSet(pool[k].Parts), ingredientSet(pool[q].Parts)) {
				t.Fatal("a set is twice in the pool")
			}
		}
	}
	best := pool[0].Score
	list := selectDiverse(pool, 20)
	value := func(b run.Best, before []run.Best) float64 {
		overlap := 0.0
		for _, y := range before {
			overlap = max(overlap, dataset.Overlap(ingredientSet(b.Parts), ingredientSet(y.Parts)))
		}
		return 0.7*b.Score/best - 0.3*overlap
	}
	for k, b := range list {
		for _, other := range pool {
			taken := slices.ContainsFunc(list[:k], func(x run.Best) bool { return x.Draw == other.Draw })
			if !taken && value(other, list[:k]) > value(b, list[:k])+1e-12 {
				t.Errorf("choice %d is worth %v and draw %d %v", k, value(b, list[:k]), other.Draw, value(other, list[:k]))
			}
		}
	}
	for k, b := range selectDiverse(pool, 7) {
		if b.Draw != list[k].Draw {
			t.Errorf("choice %d of 7 is not that of 20", k)
		}
	}
	if got := selectDiverse(pool, 1000); len(got) != len(pool) {
		t.Errorf("%d of %d are chosen", len(got), len(pool))
	}
	if got := selectDiverse(nil, 5); len(got) != 0 {
		t.Errorf("%d of none", len(got))
	}
}

// The standard error of a lift and of a mean amount is what they vary by from
// run to run. 400 runs: the mean square of (estimate − truth)/error is 1 with a
// standard error of about √(2/400)·1.1 = 0.08; the bounds are four of them, and
// the seed is fixed.
func TestErrorsOfPairsAndAmounts(t *testing.T) {
	p := &compile.Problem{Ingredients: []string{"a", "b", "c", "d", "e", "f"}}
	r := rand.New(rand.NewPCG(1, 2))
	const runs = 400
	lifts := map[string]float64{"a + b": 0, "c + d": 0}
	truth := map[string]float64{
		"a + b": (0.5*0.3 + 0.5*0.3*0.3) / (0.3 * 0.3),
		"c + d": 0.3 * 0.3 * 0.5 / (0.3 * (0.7*0.3 + 0.3*0.3*0.5)),
	}
	amounts, told := 0.0, 0
	for range runs {
		g := fake(r, 4000, true)
		pairs := newPairs(p, g, g.shares(), run.UnlistedIngredients{})
		for _, of := range slices.Concat(pairs.Together, pairs.Apart) {
			if name := of.First + " + " + of.Second; truth[name] > 0 {
				z := (float64(of.Lift) - truth[name]) / float64(of.MCSE)
				lifts[name] += z * z / runs
			}
		}
		g = fake(r, 4000, false)
		none := newPairs(p, g, g.shares(), run.UnlistedIngredients{})
		told += len(none.Together) + len(none.Apart)
		mean, used := 0.0, 0.0
		for _, b := range g.batches {
			mean += float64(b.unitSums[4])
			used += float64(b.drawsUsing[4])
		}
		z := (mean/used - 19.5) / g.meanAmountErrors()[4]
		amounts += z * z / runs
	}
	for name, got := range lifts {
		if math.Abs(got-1) > 0.32 {
			t.Errorf("the mean square deviation of the lift of %s is %v errors", name, got)
		}
	}
	if math.Abs(amounts-1) > 0.32 {
		t.Errorf("the mean square deviation of an amount is %v errors", amounts)
	}
	// Where nothing is planted 15 pairs a run, each with a chance of 6e-5, are
	// 0.4 in all: more than 4 have a chance below 1e-4.
	if told > 4 {
		t.Errorf("%d pairs are told of that nobody planted", told)
	}
}

// The expected lift is that of ingredients which only compete for places: exact
// if all are equally likely and n varies, and close if they are not and n is
// fixed (each is used or not by itself, and only draws of that n count).
func TestExpectedLift(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		name   string
		chance func(i int) float64 // of 20 ingredients
		sizes  []int
	}{
		{"equal, n varies", func(int) float64 { return 0.3 }, []int{2, 3, 12}},
		{"equal, n is 2", func(int) float64 { return 0.1 }, []int{2}},
		{"unequal, n is 6", func(i int) float64 { return 0.02 + 0.048*float64(i) }, []int{6}},
		{"one nearly always", func(i int) float64 { return max(0.2, float64(i)-18.01) }, []int{4}},
		{"independent", func(i int) float64 { return 0.02 + 0.048*float64(i) }, nil},
	} {
		const n, draws = 20, 60_000
		var used [n]float64
		var both [n][n]float64
		g := &gatheredDraws{series: []statisticSeries{{valuesByChain: [][]float64{nil}}}}
		for done := 0; done < draws; {
			var set []int
			for i := range n {
				if r.Float64() < c.chance(i) {
					set = append(set, i)
				}
			}
			if c.sizes != nil {
				if !slices.Contains(c.sizes, len(set)) {
					continue
				}
			}
			for _, i := range set {
				used[i]++
				for _, j := range set {
					both[i][j]++
				}
			}
			g.series[0].valuesByChain[0] = append(g.series[0].valuesByChain[0], float64(len(set)))
			done++
		}
		var shares []float64
		for _, u := range used {
			shares = append(shares, u/draws)
		}
		kappa := g.competitionFactor(shares, run.UnlistedIngredients{})
		for i := range n {
			for j := range i {
				lift := both[i][j] * draws / (used[i] * used[j])
				expected := 1 + kappa*(1-shares[i])*(1-shares[j])
				// Five standard errors of the count, and 5 % for the form that
				// holds for large samples.
				if tolerance := 5*lift/math.Sqrt(both[i][j]) + 0.05*expected; math.Abs(lift-expected) > tolerance {
					t.Errorf("%s: the lift of %d and %d is %.3f, expected %.3f ± %.3f", c.name, i, j, lift, expected, tolerance)
				}
			}
		}
	}
}

// What is gathered of some draws is what they hold, whatever the limits: how
// many are looked at, and into how many batches chains are cut.
func TestGather(t *testing.T) {
	m := sample(t, map[string]string{"problem.yaml": `total: 60
ingredients: {count: 30}
sparsity: {uniform: [2, 7]}
properties: {a: {expression: "0.2 + share('ingredient 3')"}}
sampler: {kernel: balanced, chains: 5, draws: 997, warmup: 100}
`})
	r, err := run.Open(context.Background(), m.store)
	if err != nil {
		t.Fatal(err)
	}
	type draw struct {
		chain, at int
		parts     []mcmc.Part
		density   float64
		score     float64
	}
	var all []draw
	for d, err := range r.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, draw{d.Chain, d.Draw, slices.Clone(d.Parts), d.LogDensity, d.Scores[0]})
	}
	for _, l := range []gatherLimits{
		defaultGatherLimits(),
		{maxExaminedDraws: 5 * 100, maxRankedDraws: 40, maxPooledDraws: 60, maxPooledParts: 1 << 20, maxSummedIngredients: 12, maxPairedIngredients: 5, maxBatches: 80, maxBatchesPerChain: 20},
		{maxExaminedDraws: 5 * 400, maxRankedDraws: 1000, maxPooledDraws: 30, maxPooledParts: 100, maxSummedIngredients: 30, maxPairedIngredients: 30, maxBatches: 3, maxBatchesPerChain: 20},
		{maxExaminedDraws: 5, maxRankedDraws: 1, maxPooledDraws: 1, maxPooledParts: 1, maxSummedIngredients: 1, maxPairedIngredients: 1, maxBatches: 1, maxBatchesPerChain: 1},
	} {
		t.Run(fmt.Sprint(l.maxExaminedDraws, " looked at"), func(t *testing.T) {
			g, err := gatherDraws(context.Background(), m.problem, r, m.result.Inclusion, l)
			if err != nil {
				t.Fatal(err)
			}
			var looked []draw
			for _, d := range all {
				if d.at%g.examinedStride == 0 {
					looked = append(looked, d)
				}
			}
			if len(looked) > l.maxExaminedDraws || g.drawsPerChain*5 != len(looked) || g.examinedStride > 1 && 2*len(looked) < l.maxExaminedDraws {
				t.Errorf("%d draws are looked at, %d a chain", len(looked), g.drawsPerChain)
			}
			if len(g.batches) > l.maxBatches || len(g.batches) == 0 {
				t.Errorf("%d batches", len(g.batches))
			}
			draws := 0
			for _, b := range g.batches {
				draws += b.draws
				if b.draws < g.drawsPerChain*5/len(g.batches)/2 || b.draws > 2*(g.drawsPerChain*5/len(g.batches)+1) {
					t.Errorf("a batch of %d draws", b.draws)
				}
			}
			if draws != len(looked) {
				t.Errorf("the batches have %d draws, want %d", draws, len(looked))
			}
			use := func(d draw, i int) (units int64) {
				for _, p := range d.parts {
					if p.Ingredient == i {
						units = int64(p.Amount)
					}
				}
				return units
			}
			for slot, i := range g.slotIngredients {
				var used, amount, gotUsed, gotAmount int64
				for _, d := range looked {
					if u := use(d, i); u > 0 {
						used++
						amount += u
					}
				}
				for _, b := range g.batches {
					gotUsed += b.drawsUsing[slot]
					gotAmount += b.unitSums[slot]
				}
				if used != gotUsed || amount != gotAmount {
					t.Errorf("ingredient %d: %d draws with %d units, want %d with %d", i, gotUsed, gotAmount, used, amount)
				}
			}
			for a := range g.pairedSlotCount {
				for b := range a {
					want, got := 0, 0
					for _, d := range looked {
						if use(d, g.slotIngredients[a]) > 0 && use(d, g.slotIngredients[b]) > 0 {
							want++
						}
					}
					for _, batch := range g.batches {
						got += batch.countDrawsUsingBoth(a, b)
					}
					if got != want {
						t.Errorf("pair %d, %d: %d, want %d", a, b, got, want)
					}
				}
			}
			for k, of := range []func(d draw) float64{
				func(d draw) float64 { return float64(len(d.parts)) },
				func(d draw) float64 { return d.density },
				func(d draw) float64 { return d.score },
			} {
				s := g.series[k]
				for chain, got := range s.valuesByChain {
					var want []float64
					for _, d := range looked {
						if d.chain == chain && d.at%s.stride == 0 {
							want = append(want, of(d))
						}
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s of chain %d has %d draws, want %d", s.name, chain, len(got), len(want))
					}
				}
			}
			if len(g.bestBySet) > max(5, l.maxPooledDraws) || len(g.bestBySet) == 0 {
				t.Errorf("%d pooled", len(g.bestBySet))
			}
			for _, b := range g.bestBySet {
				d := all[b.Chain*997+b.Draw]
				if !slices.Equal(d.parts, b.Parts) || d.density != b.LogDensity || math.Abs(b.Score-d.score) > 1e-12 {
					t.Errorf("%+v is not draw %+v", b, d)
				}
			}
		})
	}
}

// A histogram holds all scores, zeros too, on a linear or a logarithmic scale.
func TestHistogram(t *testing.T) {
	for name, c := range map[string]struct {
		draws, random []float64 // scores
		log           bool
	}{
		"within 0 and 1":  {[]float64{0.5, 0.9, 1, 0.2}, []float64{0.1, 0.5, 0.3}, false},
		"random are 0":    {[]float64{0.5, 0.9, 1, 0.2}, []float64{0, 0, 0.3}, true},
		"tiny":            {[]float64{1e-30, 1e-20, 3e-25, 1e-22}, []float64{0, 1e-300, 1e-40}, true},
		"above 1":         {[]float64{5, 30, 100}, []float64{1, 2}, true},
		"one value":       {[]float64{1, 1, 1}, []float64{1, 1}, false},
		"one large value": {[]float64{100, 100}, []float64{100, 100}, true},
	} {
		logs := func(scores []float64) (logs []float64) {
			for _, s := range scores {
				logs = append(logs, math.Log(s))
			}
			return logs
		}
		h := newScoreHistogram(&gatheredDraws{logScores: [][]float64{logs(c.draws)}}, &run.Baseline{LogScores: logs(c.random)})
		if h.Log != c.log {
			t.Errorf("%s: log is %v", name, h.Log)
		}
		for _, of := range []struct {
			shares []report.Number
			below  report.Number
			scores []float64
		}{{h.Draws, h.DrawsBelow, c.draws}, {h.Random, h.RandomBelow, c.random}} {
			sum := float64(of.below)
			for k, share := range of.shares {
				sum += float64(share)
				count := 0
				for _, s := range of.scores {
					v := s
					if h.Log {
						v = math.Log10(s)
					}
					last := k == scoreHistogramBinCount-1
					if v >= float64(h.Edges[k])-1e-9 && (v < float64(h.Edges[k+1])-1e-9 || last && v <= float64(h.Edges[k+1])+1e-9) {
						count++
					}
				}
				if math.Abs(float64(share)-float64(count)/float64(len(of.scores))) > 1e-9 {
					t.Errorf("%s: bin %d has %v of %v", name, k, share, of.scores)
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: %v in all", name, sum)
			}
		}
	}
}

// The jackknife error of a mean is sd/√G, exactly.
func TestJackknife(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	for _, v := range values {
		squares += (v - sum/10) * (v - sum/10)
	}
	want := math.Sqrt(squares / 9 / 10)
	if got := jackknifeError(10, func(g int) float64 { return (sum - values[g]) / 9 }); math.Abs(got-want) > 1e-12 {
		t.Errorf("the error is %v, want %v", got, want)
	}
	if got := jackknifeError(7, func(int) float64 { return 1 }); !math.IsNaN(got) {
		t.Errorf("seven batches have the error %v", got)
	}
}

// The error of a mean amount takes as many batches with the ingredient as that of any
// figure.
func TestAmountErrorsOfFewBatches(t *testing.T) {
	for used, known := range map[int64]bool{minBatchesWithEvent - 1: false, minBatchesWithEvent: true} {
		g := &gatheredDraws{slotIngredients: []int{3}}
		for k := range int64(20) {
			b := newDrawBatch(4, 1, 1)
			if k < used {
				b.drawsUsing[0], b.unitSums[0] = 1+k%2, 10+k
			}
			g.batches = append(g.batches, b)
		}
		if se := g.meanAmountErrors()[0]; math.IsNaN(se) == known {
			t.Errorf("of %d batches with it the error is %v", used, se)
		}
	}
}

// That all draws which use a rare ingredient use a very frequent one, too, means
// little.
func TestPairsWithNearlyAlwaysUsed(t *testing.T) {
	p := &compile.Problem{Ingredients: []string{"a", "b", "c", "d", "e", "f"}}
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		// Each rare ingredient is in 20 draws or so, and with a in all of them in
		// every third run.
		g := fakeOf(r, 4000, false, [6]float64{0.95, 0.005, 0.005, 0.005, 0.005, 0.005})
		for _, of := range newPairs(p, g, g.shares(), run.UnlistedIngredients{}).Together {
			if of.First == "a" {
				t.Fatalf("%s + %s has the lift %v ± %v, expected %v", of.First, of.Second, of.Lift, of.MCSE, of.Expected)
			}
		}
	}
}

// Ranks with ties are spread over the places that the tied draws take: what
// results is the mean over all ways to break ties, here over many.
func TestRankShares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	chains := [][]float64{make([]float64, 90), make([]float64, 90), make([]float64, 90)}
	for c := range chains {
		for k := range chains[c] {
			chains[c][k] = math.Floor(r.Float64() * float64(3+2*c))
		}
	}
	const bins, ways = 10, 3000
	want := [3][bins]float64{}
	type draw struct {
		value, tie float64
		chain      int
	}
	for range ways {
		var all []draw
		for c, chain := range chains {
			for _, v := range chain {
				all = append(all, draw{v, r.Float64(), c})
			}
		}
		slices.SortFunc(all, func(a, b draw) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.tie, b.tie)) })
		for k, d := range all {
			want[d.chain][k*bins/len(all)] += 1.0 / 90 / ways
		}
	}
	got := rankBinShares(chains, bins)
	for c := range got {
		sum := 0.0
		for b, share := range got[c] {
			sum += float64(share)
			// A share is a mean over 3,000 ways, each with a standard
			// deviation below √(27·¼)/90 = 0.029: 5 standard errors.
			if math.Abs(float64(share)-want[c][b]) > 5*0.029/math.Sqrt(ways) {
				t.Errorf("chain %d, bin %d: %v, want %v", c, b, share, want[c][b])
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("the shares of chain %d are %v in all", c, sum)
		}
	}
	// The shares of all chains are even in every bin, whatever the ties.
	for b := range bins {
		if all := got[0][b] + got[1][b] + got[2][b]; math.Abs(float64(all)-3.0/bins) > 1e-12 {
			t.Errorf("bin %d has %v", b, all)
		}
	}
}

// fake returns what would be gathered of independent draws in which each
// ingredient is used with probability 0.3. If pairs are planted, 1 follows 0 half
// of the time, and 3 avoids 2 as often.
func fake(r *rand.Rand, draws int, planted bool) *gatheredDraws {
	return fakeOf(r, draws, planted, [6]float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3})
}

// fakeOf is fake with a probability for each ingredient, the largest first.
func fakeOf(r *rand.Rand, draws int, planted bool, probabilities [6]float64) *gatheredDraws {
	g := &gatheredDraws{slotIngredients: []int{0, 1, 2, 3, 4, 5}, pairedSlotCount: 6, series: []statisticSeries{{valuesByChain: [][]float64{nil}}}}
	for k := range 80 {
		b := newDrawBatch(draws/80+1, 6, 6)
		for range (k+1)*draws/80 - k*draws/80 {
			var used [6]bool
			n := 0.0
			for i := range used {
				used[i] = r.Float64() < probabilities[i]
				if planted && i == 1 && r.Float64() < 0.5 {
					used[1] = used[0]
				}
				if planted && i == 3 && used[2] && r.Float64() < 0.5 {
					used[3] = false
				}
				if used[i] {
					n++
					b.drawsUsing[i]++
					b.unitSums[i] += int64(10 + r.IntN(20))
					b.presence[i][b.draws/64] |= 1 << (b.draws % 64)
				}
			}
			g.series[0].valuesByChain[0] = append(g.series[0].valuesByChain[0], n)
			b.draws++
		}
		g.batches = append(g.batches, b)
	}
	return g
}

// shares returns the share of the draws that use each ingredient.
func (g *gatheredDraws) shares() []float64 {
	shares, draws := make([]float64, len(g.slotIngredients)), 0.0
	for _, b := range g.batches {
		draws += float64(b.draws)
		for slot, n := range b.drawsUsing {
			shares[g.slotIngredients[slot]] += float64(n)
		}
	}
	for i := range shares {
		shares[i] /= draws
	}
	return shares
}
