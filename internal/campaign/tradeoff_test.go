package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/pareto"
)

// TestBatchMovesTheFront: of a problem with a trade-off between what is learnt and a price,
// and between two learnt labels, whose front bends inwards, a batch is new and within the
// rules, and adds more to the true hypervolume than a batch for the product of the two. The
// same choice is made with any number of workers.
func TestBatchMovesTheFront(t *testing.T) {
	// The share of a is good for y and bad for z, both the more the nearer it is to all.
	y := func(x map[string]int) float64 { return math.Exp(float64(x["a"])/10) - float64(x["c"])/4 }
	z := func(x map[string]int) float64 { return math.Exp(float64(x["b"])/10) - float64(x["d"])/4 }
	price := func(x map[string]int) (sum float64) {
		for name, cost := range map[string]float64{"a": 1, "b": 2, "c": 3, "d": 4, "e": 50, "f": 1, "g": 1, "h": 1} {
			sum += cost * float64(x[name]) / 20
		}
		return sum
	}
	for _, c := range []struct {
		name, properties, trade string
		of                      [2]func(x map[string]int) float64
	}{
		{"learnt and known", "  price: {blend: {attribute: price, minimize: true}}\n", "[y, price]", [2]func(x map[string]int) float64{y, func(x map[string]int) float64 { return -price(x) }}},
		{"both learnt", "  z: {learn: {label: z, maximize: true}}\n", "[y, z]", [2]func(x map[string]int) float64{y, z}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := trialsTable(25, func(x []int, _ int) string {
				recipe := map[string]int{"a": x[0], "b": x[1], "c": x[2], "d": x[3], "e": x[4]}
				return fmt.Sprintf("%.5f,%.5f", y(recipe), z(recipe))
			})
			table = strings.Replace(table, "amount,y\n", "amount,y,z\n", 1)
			problem := "labels: [y, z]\nproperties:\n  y: {learn: {label: y, maximize: true}}\n" + c.properties
			added := func(trade string) float64 {
				path := fiveBench(t, problem+trade, table)
				k := open(t, path)
				losses := func(recipe map[string]int) []float64 { return []float64{-c.of[0](recipe), -c.of[1](recipe)} }
				var tried [][]float64
				for _, trial := range k.trials {
					tried = append(tried, losses(k.amountsByName(trial.parts)))
				}
				ideal, nadir := pareto.Bounds(tried)
				reference := pareto.HypervolumeReference(ideal, nadir)
				b := choose(t, path, Settings{BatchSize: 6, Seed: 3, MaxNewIngredients: -1, Workers: 2})
				if trade != "" {
					again := choose(t, path, Settings{BatchSize: 6, Seed: 3, MaxNewIngredients: -1, Workers: 1})
					if b.RemainingGain.Probability == nil || *b.RemainingGain.Probability < 0.5 || b.RemainingGain.Advice != GoOn {
						t.Errorf("what is left: %+v", b.RemainingGain)
					}
					for n := range b.Entries {
						e := &b.Entries[n]
						if e.Reason.Kind != Likely || !strings.Contains(e.Reason.Text, " chance to improve the trade-off of ") || *e.BeatsBestProbability <= 0 {
							t.Errorf("%s: %+v", e.ID, e.Reason)
						}
						if !slices.Equal(e.parts, again.Entries[n].parts) {
							t.Errorf("%s is another with one worker", e.ID)
						}
						if slices.ContainsFunc(k.trials, func(trial trial) bool { return trial.key == e.key }) {
							t.Errorf("%s was tried", e.ID)
						}
					}
				}
				before := pareto.Hypervolume(tried, reference)
				for n := range b.Entries {
					tried = append(tried, losses(b.Entries[n].Recipe))
				}
				return pareto.Hypervolume(tried, reference)/before - 1
			}
			moved, product := added("trade: "+c.trade+"\n"), added("")
			t.Logf("the batch adds %.3f of the hypervolume, that for the product %.3f", moved, product)
			if moved <= product || moved < 0.05 {
				t.Errorf("the batch adds %.3f of the hypervolume, that for the product %.3f", moved, product)
			}
		})
	}
}

// TestTradeAdvice: where the trade-off is known to be complete, kir says to stop only once two
// rounds in a row have added next to nothing to the hypervolume of what was measured.
func TestTradeAdvice(t *testing.T) {
	// All recipes of three ingredients in eighths but six that others beat by far.
	table, left := "recipe,ingredient,amount,y,z\n", 0
	worth := func(a, b, c int) (y, z float64) { return float64(8*a - c*c), float64(8*b - c*c) }
	for a := range 9 {
		for b := range 9 - a {
			c := 8 - a - b
			if c > 5 {
				left++
				continue
			}
			y, z := worth(a, b, c)
			for i, v := range []int{a, b, c} {
				if v > 0 {
					table += fmt.Sprintf("t%d %d,%c,%d,%g,%g\n", a, b, 'a'+i, v, y, z)
				}
			}
		}
	}
	path := bench(t, map[string]string{"trials.csv": table, "bar.yaml": "total: 8\ningredients: [a, b, c]\nrecipes: trials.csv\nsparsity: {uniform: [1, 3]}\nlabels: [y, z]\nsearch: {doses: any, effort: 0.1}\n" +
		"properties:\n  y: {learn: {label: y, maximize: true}}\n  z: {learn: {label: z, maximize: true}}\ntrade: [y, z]\n"})
	s := Settings{BatchSize: 1, Seed: 1, MaxNewIngredients: -1, Workers: 1}
	for round := range left - 2 {
		st, err := open(t, path).ComputeStanding(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if st.RemainingGain.Probability == nil || *st.RemainingGain.Probability >= stopProbability {
			t.Fatalf("round %d: %+v", round, st.RemainingGain)
		}
		until := strings.Contains(st.RemainingGain.Text, "Stop after 2 batches in a row that each add no more than 1 %")
		if stop := st.RemainingGain.Advice == Stop; stop != (round >= minRoundsWithoutGain) || until == stop {
			t.Errorf("after %d rounds that added nothing: %s", round, st.RemainingGain.Text)
		}
		b, err := open(t, path).Next(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		x := b.Entries[0].Recipe
		y, z := worth(x["a"], x["b"], x["c"])
		if _, err := open(t, path).Record(t.Context(), []Result{{ID: b.Entries[0].ID, Values: map[string]string{"y": fmt.Sprint(y), "z": fmt.Sprint(z)}}}, RecordOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBeatsIsDoubted: the probability that a recipe beats what was tried is by draws that are
// doubted, against the best predicted of what was tried; of a trade-off it is the share of
// such draws in which it adds to the front.
func TestBeatsIsDoubted(t *testing.T) {
	ch := new(batchOptimizer)
	p := &candidatePool{successProbabilities: []float64{1}, utilityDraws: [][]float64{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, bestTrialUtilities: []float64{1, 1, 1, 1}, studentUtilityDraws: [][]float64{{2, 1}, {0, 1}, {0, 1}, {0, 1}}, studentIncumbentUtilities: []float64{1, 1, 1, 1}, bestPredictedUtility: 1}
	if beats, better := ch.improvementStats(p, 0); beats != 0.25 || better != 0 {
		t.Errorf("%v and %v", beats, better)
	}
	f := &tradeOffOptimizer{batchOptimizer: ch, tradeObjectives: make([]tradeObjective, 2), candidateRecipes: make([]recipe, 1)}
	stated, wide := [][]float64{{0.8, 0.8}, {0.5, 0.5}}, [][]float64{{0.4, 0.4}, {0.5, 0.5}}
	f.statedLossDraws = lossDraws{losses: [][][]float64{stated, stated}, fronts: [][][]float64{stated[1:], stated[1:]}, trialHypervolumes: []float64{0.25, 0.25}}
	f.studentLossDraws = lossDraws{losses: [][][]float64{stated, wide}, fronts: [][][]float64{stated[1:], wide[1:]}, trialHypervolumes: []float64{0.25, 0.25}}
	if beats, better := f.hypervolumeStats(0); beats != 0.5 || better != 0 {
		t.Errorf("%v and %v", beats, better)
	}
	f.studentLossDraws.addToFronts(0)
	if got := f.studentLossDraws.fronts[1]; len(got) != 1 || got[0][0] != 0.4 {
		t.Errorf("the front is %v", got)
	}
}

// TestReferenceBeyondTheTrials: the reference point comes from the front of all recipes in each draw, so that a candidate
// beyond the ends of the trials' front counts, and a candidate that others beat does not move it.
func TestReferenceBeyondTheTrials(t *testing.T) {
	f := &tradeOffOptimizer{batchOptimizer: new(batchOptimizer), tradeObjectives: make([]tradeObjective, 2)}
	// Two candidates and two trials. In the second draw the first candidate is worse.
	f.statedLossDraws.losses = [][][]float64{
		{{5, 0}, {9, 9}, {1, 2}, {2, 1}},
		{{7, 0}, {9, 9}, {1, 2}, {2, 1}},
	}
	f.studentLossDraws.losses = [][][]float64{{{6, 1}, {9, 9}, {1, 2}, {2, 1}}}
	f.scaleLosses()
	// The ideal is (1, 0), the nadir (6, 2), and the reference (6.5, 2.2).
	for _, c := range []struct {
		got  []float64
		want [2]float64
	}{
		{f.statedLossDraws.losses[0][0], [2]float64{4 / 5.5, 0}},
		{f.statedLossDraws.losses[1][0], [2]float64{6 / 5.5, 0}},
		{f.statedLossDraws.losses[0][3], [2]float64{1 / 5.5, 1 / 2.2}},
		{f.studentLossDraws.losses[0][0], [2]float64{5 / 5.5, 1 / 2.2}},
	} {
		for k, want := range c.want {
			if math.Abs(c.got[k]-want) > 1e-12 {
				t.Errorf("losses %v, not %v", c.got, c.want)
				break
			}
		}
	}
}

// TestThinnedCandidatesAreNearTheFront: of more recipes than can be drawn jointly, those near the front of optimistic
// losses stay. None that is dropped beats one that stays.
func TestThinnedCandidatesAreNearTheFront(t *testing.T) {
	table := trialsTable(25, func(x []int, _ int) string { return fmt.Sprint(10*x[0] - x[1]*x[1]) })
	path := fiveBench(t, "labels: [y]\nproperties:\n  y: {learn: {label: y, maximize: true}}\n  price: {blend: {attribute: price, minimize: true}}\ntrade: [y, price]\n", table)
	ch, err := newBatchOptimizer(t.Context(), open(t, path), Settings{BatchSize: 6, Seed: 3, MaxNewIngredients: -1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := ch.newTradeOffOptimizer()
	if err != nil {
		t.Fatal(err)
	}
	if f.candidateRecipes, err = ch.randomRecipes(t.Context(), 600, ch.newRand(fillStreamName, 0)); err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(f.candidateRecipes)
	if err := f.thinCandidates(); err != nil {
		t.Fatal(err)
	}
	if len(all) < 400 || len(f.candidateRecipes) != poolCandidateCount-randomCandidateCount {
		t.Fatalf("%d candidates of %d", len(f.candidateRecipes), len(all))
	}
	losses := func(recipes []recipe) (points [][]float64) {
		for _, x := range recipes {
			var point []float64
			for k := range f.tradeObjectives {
				v, err := f.optimisticLoss(&f.tradeObjectives[k], x)
				if err != nil {
					t.Fatal(err)
				}
				point = append(point, v)
			}
			points = append(points, point)
		}
		return points
	}
	kept := losses(f.candidateRecipes)
	for _, p := range losses(all) {
		if slices.ContainsFunc(kept, func(q []float64) bool { return slices.Equal(p, q) }) {
			continue
		}
		if slices.ContainsFunc(kept, func(q []float64) bool { return pareto.Dominates(p, q) }) {
			t.Errorf("%v is dropped, but beats a candidate that stays", p)
		}
	}
}
