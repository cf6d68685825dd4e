package volume

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/testonly/golden"
)

// problems are those that walks and saved results are looked at on: many small ones
// with rules of all kinds, and some with units above 1, bent terms and many ingredients.
func problems(t *testing.T) []Problem {
	var all []Problem
	for seed := range uint64(40) {
		all = append(all, randomProblem(t, rand.New(rand.NewPCG(seed, 31))))
	}
	ten := make([]count.Ingredient, 10)
	for i := range ten {
		ten[i].Min, ten[i].Step = 4, 2
	}
	bent := constraint.Sum{Min: 2, Max: 30}
	crossing := constraint.Sum{Min: math.MinInt64, Max: 40}
	for i := range 10 {
		bent.Terms = append(bent.Terms, constraint.Term{Ingredient: i, PerUnit: 1, Cap: 6 + 2*(i%3)})
		crossing.Terms = append(crossing.Terms, constraint.Term{Ingredient: i, PerUnit: int64(i % 4), PerUse: int64(i%3) - 1})
	}
	all = append(all, newProblem(t, count.Space{Total: 60, Ingredients: ten}, 0, bent, crossing), newProblem(t, count.Space{Total: 60, Ingredients: ten}, 0, crossing, bent))
	required := make([]count.Ingredient, 12)
	required[2].Required, required[5].Excluded, required[7].Min, required[7].Max = true, true, 5, 9
	return append(all, newProblem(t, count.Space{Total: 90, Ingredients: required, Groups: []count.Group{{Members: []int{0, 1, 2, 3}, Used: &count.Range{Min: 1, Max: 2}, Total: &count.Range{Min: 10, Max: 60}}}}, 0,
		limit([]int64{1, 5, 2, 8, 3, 9, 4, 7, 1, 1, 6, 2}, 200, 400), limit([]int64{3, 0, 2, 0, 3, 0, 4, 0, 1, 0, 6, 0}, 100, math.MaxInt64)))
}

func sumsOf(w *walker) (sums []int64) {
	for k := range w.sums {
		sums = append(sums, w.sums[k].value)
	}
	return sums
}

// TestWalksAsBefore: each move of a walk, where it is pulled towards the rules and where
// it keeps them, and what it could be split and merged to, is what it was; and what a
// walker says of where it stands is so.
func TestWalksAsBefore(t *testing.T) {
	var b strings.Builder
	for k, p := range problems(t) {
		r, err := newRules(p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d: units of %d, %d in all, %d bounds, linear %v\n", k, r.unit, r.total, len(r.sumBounds), r.amountSums)
		for _, pull := range []float64{0.05, 2, math.Inf(1)} {
			w, random := newWalker(r), streams(uint64(k))(7)
			sum, splits, merges, broken := fnv.New64a(), 0, 0, 0
			var x Composition
			for n := 1; n <= min(6, p.Table.MaxUsed()); n++ {
				if math.IsInf(p.Table.LogCount(n), -1) || !drawCountable(p.Sampler.Clone(), random, n, &x) {
					continue
				}
				if w.load(x); math.IsInf(pull, 1) && w.totalViolation > 0 {
					continue // only what keeps all rules is walked under them
				}
				for at := range 60 {
					w.makeMove(random, pull)
					fmt.Fprint(sum, w.usedIngredients, w.amounts, sumsOf(w), w.totalViolation, w.brokenCountableCount, " ")
					kept := w.totalViolation == 0 // what is split and merged keeps all rules
					if at%10 == 0 && kept && len(w.usedIngredients) < len(w.amounts) && len(w.usedIngredients) < r.total && w.splitKeepsRules(random) {
						splits++
					}
					if at%10 == 0 && kept && len(w.usedIngredients) > 1 && w.mergeKeepsRules(random) {
						merges++
					}
					// What it stands on, counted anew.
					w.store(&x)
					again := newWalker(r)
					again.load(x)
					if !slices.Equal(sumsOf(again), sumsOf(w)) || again.totalViolation != w.totalViolation || again.brokenCountableCount != w.brokenCountableCount || w.brokenCountableCount != 0 || !p.Space.Contains(x.Ingredients, x.Amounts) {
						t.Fatalf("problem %d: at %v the walker says %v, %d and %d, and it is %v, %d and %d", k, x, sumsOf(w), w.totalViolation, w.brokenCountableCount, sumsOf(again), again.totalViolation, again.brokenCountableCount)
					}
					if w.totalViolation > 0 {
						broken++
					}
				}
			}
			fmt.Fprintf(&b, " %v: %x %d moves, %d splits, %d merges, %d broken\n", pull, sum.Sum64(), w.moveCount, splits, merges, broken)
		}
	}
	for _, c := range []sumBound{{min: -3, max: 5, scale: 1}, {min: math.MinInt64, max: 5, scale: 0.25}, {min: 2, max: math.MaxInt64, scale: 1e20}} {
		for sum := int64(-6); sum < 9; sum++ {
			fmt.Fprint(&b, c.violation(sum), " ", c.violationCost(sum), " ")
		}
		b.WriteByte('\n')
	}
	random := streams(3)(1)
	for _, most := range []int32{1, 2, 3, 7, 8, 1000} {
		largest := int32(0)
		for range 3000 {
			s := drawStepSize(random, most)
			if largest = max(largest, s); s < 1 || s > most {
				t.Fatalf("a step of %d of %d", s, most)
			}
		}
		fmt.Fprint(&b, most, " up to ", largest, "\n")
	}
	golden.Compare(t, "testdata/walks.txt", []byte(b.String()))
}

// TestRestore: a result that was saved draws and says what it did, and one that is
// not of the problem is refused.
func TestRestore(t *testing.T) {
	for k, p := range problems(t)[39:] {
		sizes := sizesUpTo(min(5, p.Table.MaxUsed()))
		result, err := Measure(t.Context(), p, Options{Sizes: sizes, Stream: streams(uint64(k)), RatioError: 1, MaxMillionMoves: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		checkDraws(t, p, result)
		data, err := result.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := Restore(p, sizes, data)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(restored.Sizes, restored.Moves, restored.jackknifeLogShares, restored.compositionPools) != fmt.Sprint(result.Sizes, result.Moves, result.jackknifeLogShares, result.compositionPools) {
			t.Errorf("problem %d is restored as another", k)
		}
		for at := range sizes {
			var x, y Composition
			if result.Sizes[at].Found {
				result.Walk().Draw(streams(1)(uint64(at)), at, &x)
				restored.Walk().Draw(streams(1)(uint64(at)), at, &y)
			}
			if fmt.Sprint(x) != fmt.Sprint(y) {
				t.Errorf("problem %d: it draws %v and drew %v", k, y, x)
			}
		}
		found := slices.IndexFunc(result.Sizes, func(s Size) bool { return s.Found })
		if found < 0 {
			continue
		}
		at := func(r *Result) *Composition { return &r.compositionPools[found].members[0][0] }
		for name, change := range map[string]func(r *Result){
			"another size": func(r *Result) { r.Sizes[found].N++ }, "not found": func(r *Result) { r.Sizes[found].Found = false }, "no replicates": func(r *Result) { r.jackknifeLogShares[found] = nil },
			"a replicate less": func(r *Result) { r.jackknifeLogShares[found] = r.jackknifeLogShares[found][1:] }, "a weight less": func(r *Result) { r.compositionPools[found].weights = r.compositionPools[found].weights[1:] },
			"a population of none": func(r *Result) { r.compositionPools[found].members[0] = nil }, "a size less": func(r *Result) { r.Sizes = r.Sizes[1:] }, "pools less": func(r *Result) { r.compositionPools = r.compositionPools[1:] },
			"an amount more": func(r *Result) { at(r).Amounts[0] += int32(r.rules.unit) }, "an amount of 0": func(r *Result) { at(r).Amounts[0] = 0 }, "a part": func(r *Result) { at(r).Amounts[0] = -int32(r.rules.unit) },
			"an ingredient beyond": func(r *Result) { at(r).Ingredients[0] = int32(len(r.rules.allowedAmounts)) }, "one below": func(r *Result) { at(r).Ingredients[0] = -1 }, "amounts less": func(r *Result) { at(r).Amounts = at(r).Amounts[1:] },
			"an ingredient more": func(r *Result) {
				at(r).Ingredients = append(at(r).Ingredients, 1)
				at(r).Amounts = append(at(r).Amounts, 1)
			},
		} {
			other, err := Restore(p, sizes, data)
			if err != nil {
				t.Fatal(err)
			}
			change(other)
			bad, err := other.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(p, sizes, bad); err == nil {
				t.Errorf("problem %d: %s is restored", k, name)
			}
		}
		if _, err := Restore(p, sizes[1:], data); err == nil {
			t.Error("it is restored with fewer sizes")
		}
		if _, err := Restore(p, sizes, data[:len(data)/2]); err == nil {
			t.Error("half of it is restored")
		}
	}
}

// TestRefused: an error says what cannot be measured.
func TestRefused(t *testing.T) {
	p := randomProblem(t, rand.New(rand.NewPCG(1, 1)))
	named := p
	named.Sums = []constraint.Sum{{Terms: []constraint.Term{{Ingredient: 99, PerUnit: 1}}}}
	below := p
	below.Sums = []constraint.Sum{{}, {Terms: []constraint.Term{{Ingredient: -1, PerUnit: 1}}}}
	for want, c := range map[string]struct {
		p Problem
		o Options
	}{
		ErrNoStream.Error(): {p, Options{Sizes: []int{1}}},
		"measure: the sizes [2 1] are not in ascending order":                             {p, Options{Sizes: []int{2, 1}, Stream: streams(1)}},
		"measure: there are 1 masses for 2 sizes":                                         {p, Options{Sizes: []int{1, 2}, SizeProbabilities: []float64{1}, Stream: streams(1)}},
		fmt.Sprintf("measure: sum 0 names ingredient 99 of %d", len(p.Space.Ingredients)): {named, Options{Sizes: []int{1}, Stream: streams(1)}},
		fmt.Sprintf("measure: sum 1 names ingredient -1 of %d", len(p.Space.Ingredients)): {below, Options{Sizes: []int{1}, Stream: streams(1)}},
	} {
		if _, err := Measure(t.Context(), c.p, c.o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestJackknives: errors of figures that are left without each of the groups, and of
// the law that shares lead to.
func TestJackknives(t *testing.T) {
	a, b := make([]float64, populationCount), make([]float64, populationCount)
	for g := range a {
		a[g], b[g] = float64(g%2), float64(g%4)
	}
	// Half are 1 from the others: √(32·¼·31/32).
	if got, want := jackknifeDifference(a, nil), math.Sqrt(32*0.25*31/32); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := jackknifeDifference(a, b), math.Sqrt(32*1*31./32); math.Abs(got-want) > 1e-12 { // 0 and −2
		t.Errorf("%v, want %v", got, want)
	}
	if jackknifeDifference(nil, b) != jackknifeDifference(b, nil) || jackknifeDifference(nil, nil) != 0 || jackknifeDifference(a, a) != minRelativeError {
		t.Error("of nothing, or of the same, the error is another")
	}
	r := &Result{Sizes: []Size{{N: 1, LogShare: math.Log(0.5), Found: true}, {N: 2}, {N: 3, LogShare: math.Log(0.2), Found: true}}, jackknifeLogShares: [][]float64{make([]float64, populationCount), nil, make([]float64, populationCount)}}
	for g := range populationCount {
		r.jackknifeLogShares[0][g], r.jackknifeLogShares[2][g] = math.Log(0.5), math.Log(0.2)
		if g%2 == 0 {
			r.jackknifeLogShares[0][g] = math.Log(0.25)
		}
	}
	// Without each other group, 0.6 counts twice: 1.2, 0.1, 0.2 and 0.5 are 0.6, 0.05, 0.1
	// and 0.25 of 2; else 3/7, 1/14, 1/7 and 5/14.
	errors, rest := r.LawStandardErrors([]float64{0.6, 0.1, 0.2}, 0.5)
	for k, want := range []float64{0.6 - 3./7, 1./14 - 0.05, 1./7 - 0.1} {
		if want *= math.Sqrt(31) / 2; math.Abs(errors[k]-want) > 1e-12 {
			t.Errorf("the error of %d is %v, want %v", k, errors[k], want)
		}
	}
	if want := (5./14 - 0.25) * math.Sqrt(31) / 2; math.Abs(rest-want) > 1e-12 || len(errors) != 3 {
		t.Errorf("that of the rest is %v, want %v", rest, want)
	}
	if errors, rest := r.LawStandardErrors([]float64{0, 0, 0}, 0); rest != 0 || errors[0] != 0 {
		t.Errorf("of no mass they are %v and %v", errors, rest)
	}
}

// TestPopulationOfNone: where no member of a population keeps the rules in the end, its
// share is none, and nothing is kept of it.
func TestPopulationOfNone(t *testing.T) {
	sum := constraint.Sum{Min: math.MinInt64, Max: 0}
	for i := range 15 {
		sum.Terms = append(sum.Terms, constraint.Term{Ingredient: i, PerUnit: 1})
	}
	p := newProblem(t, count.Space{Total: 60, Ingredients: make([]count.Ingredient, 20)}, 9, sum)
	r, err := newRules(p)
	if err != nil {
		t.Fatal(err)
	}
	m := &measurement{problem: p, rules: r, options: Options{Stream: streams(1)}}
	w := &sizeState{usedCount: 9, logCount: p.Table.LogCount(9)}
	for _, steps := range [][]float64{nil, {1e-9}} {
		g, err := m.annealPopulation(t.Context(), w, streams(1)(0), populationSize, &schedule{inverseTemperatures: steps}, true)
		if err != nil || g.weightProduct != 0 || g.members != nil || g.moveCount != int64(len(steps)*populationSize*movesPerStep(9)) {
			t.Errorf("after %d steps it is %v of %d members after %d moves, %v", len(steps), g.weightProduct, len(g.members), g.moveCount, err)
		}
	}
	for _, c := range []struct {
		values []float64
		next   float64
		want   []float64
		kept   float64
	}{{[]float64{0, 1, 2}, math.Inf(1), []float64{1, 0, 0}, 1}, {[]float64{0, 1, 2}, 3, []float64{1, math.Exp(-1), math.Exp(-2)}, 1}, {[]float64{0, 0}, 9, []float64{1, 1}, 2}} {
		weights := make([]float64, len(c.values))
		fillWeights(c.values, 2, c.next, weights)
		if fmt.Sprint(weights) != fmt.Sprint(c.want) || countZeros(c.values) != c.kept {
			t.Errorf("%v weigh %v, want %v, and %v are kept", c.values, weights, c.want, countZeros(c.values))
		}
	}
}
