package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// TestAnswerAtTheEdges asks where there is next to nothing to look among.
func TestAnswerAtTheEdges(t *testing.T) {
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)) / float64(1+x.Total()) })
	for _, c := range []struct {
		name     string
		n, total int
		law      mcmc.Sparsity
		wish     mcmc.ScoreFunc
		weight   float64
		entries  int // at least; −1: no answer
	}{
		{"one of one", 1, 1, mcmc.Uniform(1, 1), rising, 1, 1},
		{"one unit", 3, 1, mcmc.Uniform(1, 1), rising, 1, 1},
		{"one ingredient", 1, 9, mcmc.Uniform(1, 1), rising, 1, 1},
		{"all used", 4, 4, mcmc.Uniform(4, 4), rising, 1, 1},
		{"no weight", 4, 9, mcmc.Uniform(1, 3), rising, 0, -1},
		{"a great weight", 4, 9, mcmc.Uniform(1, 3), rising, 1e6, 2},
		{"nearly all forbidden", 9, 30, mcmc.Uniform(2, 4), func(x *mcmc.Composition) float64 {
			if x.Amount(0) == 0 || x.Amount(8) == 0 {
				return 0
			}
			return 0.5
		}, 1, 1},
	} {
		space, err := mcmc.NewSpace(c.n, c.total)
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, c.law, mcmc.Objective{Name: "y", Property: c.wish, Weight: c.weight})
		if err != nil {
			t.Fatal(err)
		}
		for _, effort := range []float64{0, 0.001, 1} {
			q := &search.Question{Target: target, Effort: effort}
			b := search.RunContext{Iterations: 4000, Seed: 1}
			x, _, err := mcmc.StartState(target, mcmc.NewRand(1, "test", 0))
			if err != nil {
				t.Fatal(err)
			}
			b.Found = []search.Found{{Parts: x.Composition.Parts(), LogScore: x.LogScore() / max(c.weight, 1)}}
			a, err := q.Answer(t.Context(), b)
			if err != nil {
				t.Errorf("%s, effort %v: %v", c.name, effort, err)
				continue
			}
			if c.entries < 0 {
				if a != nil {
					t.Errorf("%s: an answer where nothing counts", c.name)
				}
				continue
			}
			if least := min(c.entries, 1+int(effort)*c.entries); len(a.Entries) < least {
				t.Errorf("%s, effort %v: %d entries", c.name, effort, len(a.Entries))
			}
			for _, e := range a.Entries {
				if score := e.Score(); !(score > 0 && score <= 1) || math.Abs(score-e.Scores[0]) > 1e-9 {
					t.Errorf("%s, effort %v: an entry scores %v, its property %v", c.name, effort, score, e.Scores[0])
				}
			}
		}
	}
}

// What cannot be checked on halves is noted, and ends nothing but the check.
func TestAnswerNotesWhatCannotBeChecked(t *testing.T) {
	space, err := mcmc.NewSpace(4, 10)
	if err != nil {
		t.Fatal(err)
	}
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)) / 11 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), mcmc.Objective{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1, HalfTargets: func(context.Context, uint64) (own, other *mcmc.Target, err error) {
		return nil, nil, errors.New("one half has no such class")
	}}
	a, err := q.Answer(t.Context(), search.RunContext{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a.OptimismCheck != nil || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "one half has no such class") || len(a.Entries) == 0 {
		t.Errorf("the answer is %+v", a)
	}
}

// Without known recipes, entries are apart by a share of what random compositions
// differ.
func TestAnswerWithoutKnownIsApart(t *testing.T) {
	space, err := mcmc.NewSpace(12, 60)
	if err != nil {
		t.Fatal(err)
	}
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)+x.Amount(1)) / 61 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, err := (&search.Question{Target: target, Effort: 1}).Answer(t.Context(), search.RunContext{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Entries) < 2 || !(a.Entries[1].EarlierDistance > 0.2) {
		t.Errorf("the second of %d entries is %v apart from the first", len(a.Entries), a.Entries[1].EarlierDistance)
	}
}

// What is told while it is looked ends at what was expected, nearly: half of a walk
// may be left over in each round.
func TestAnswerTellsHowFarItIs(t *testing.T) {
	space, err := mcmc.NewSpace(8, 30)
	if err != nil {
		t.Fatal(err)
	}
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)) / 31 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1}
	b := search.RunContext{Iterations: 40_000, Seed: 1, LinesScored: new(atomic.Int64)}
	if _, err := q.Answer(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if told, expected := int(b.LinesScored.Load()), q.ExpectedLines(b); told > expected || told < 8*expected/10 {
		t.Errorf("%d lines were told of, and %d expected", told, expected)
	}
}

// Where rules and the book do not go together, the rules do, and it is said.
func TestAnswerOutsideTheBook(t *testing.T) {
	space, err := mcmc.NewSpace(4, 10)
	if err != nil {
		t.Fatal(err)
	}
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)) / 11 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 3), mcmc.Objective{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1, Least: []int{1, 1, 1, 1}, Most: []int{2, 2, 2, 2}}
	a, err := q.Answer(t.Context(), search.RunContext{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Entries) == 0 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "within the amounts of the known recipes") {
		t.Errorf("%d entries, with the notes %q", len(a.Entries), a.Notes)
	}
}

// blend is how near the mean of an attribute is to what is wished.
func blend(t *testing.T, total int, mean, sd float64, attribute ...float64) mcmc.Property {
	t.Helper()
	d, err := property.BellShaped(mean, sd)
	if err != nil {
		t.Fatal(err)
	}
	b, err := property.NewBlend(attribute, total, d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// steps falls in steps, as a forest does, away from what is best, and is 0 where
// ingredients 1 and 5 are together.
func steps(step int, best ...int) mcmc.Property {
	return mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if x.Amount(1) > 0 && x.Amount(5) > 0 {
			return 0
		}
		off := 0
		for i, b := range best {
			off += max(x.Amount(i)-b, b-x.Amount(i))
		}
		return 1 / (1 + float64(off/step))
	})
}

// asked returns a question with everything that can be asked, of long lines that are
// curves and a rule that crosses them.
func asked(t *testing.T) *search.Question {
	t.Helper()
	const n, total = 9, 200
	space, err := mcmc.NewRuledSpace(t.Context(), rule.Set{Ingredients: n, Total: total, Rules: []rule.Rule{
		rule.Need{If: 4, Then: []int{0, 1}},
		rule.Amount{Of: []int{2}, Max: 90},
	}}, mcmc.CountingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	strong := blend(t, total, 0.3, 0.06, 0, 0.25, 0.5, 0.75, 0, 0.25, 0.5, 0.75, 0)
	wishes := func(best ...int) []mcmc.Objective {
		return []mcmc.Objective{{Name: "strong", Property: strong, Weight: 5}, {Name: "steps", Property: steps(25, best...), Weight: 2}, {Name: "told", Property: steps(1), Weight: 0}}
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{2: 1, 3: 2, 5: 1}), wishes(60, 50, 40, 30, 20)...)
	if err != nil {
		t.Fatal(err)
	}
	half := func(best ...int) *mcmc.Target {
		of, err := target.WithObjectives(wishes(best...)...)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := search.UnweightedTarget(of)
		if err != nil {
			t.Fatal(err)
		}
		return plain
	}
	q := &search.Question{
		Target: target, Effort: 0.5,
		Least: []int{5, 5, 5, 5, 5, 5, 5, 5, 5}, Most: []int{150, 150, 90, 120, 120, 150, 150, 100, 0},
		LacksAlwaysUsed: func(set []int) bool { return set[0] > 3 },
		KnownScores:     func() ([]float64, error) { return []float64{0.2, 0.1, math.NaN(), 0.15, 0.05}, nil },
		HalfTargets: func(context.Context, uint64) (own, other *mcmc.Target, err error) {
			return half(60, 50, 40, 30, 20), half(50, 60, 30, 40, 20), nil
		},
		Niche:  search.Niche{Group: []int{0, 0, 1, 1, 2, 2, 3, 3, 3}, Attribute: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, Bands: []float64{3, 4}},
		Refuse: func(set []int) bool { return len(set) == 3 && set[2] == 7 },
	}
	for _, known := range [][]mcmc.Part{
		{{Ingredient: 0, Amount: 100}, {Ingredient: 1, Amount: 60}, {Ingredient: 3, Amount: 40}},
		{{Ingredient: 0, Amount: 140}, {Ingredient: 2, Amount: 60}},
		{{Ingredient: 0, Amount: 155}, {Ingredient: 4, Amount: 25}, {Ingredient: 8, Amount: 20}}, // of which neither 155 nor 20 may be
		{{Ingredient: 0, Amount: 80}, {Ingredient: 3, Amount: 50}, {Ingredient: 5, Amount: 70}},
		{{Ingredient: 0, Amount: 40}, {Ingredient: 1, Amount: 40}, {Ingredient: 2, Amount: 40}, {Ingredient: 3, Amount: 40}, {Ingredient: 4, Amount: 40}},
	} {
		x, err := mcmc.NewComposition(n, known...)
		if err != nil {
			t.Fatal(err)
		}
		q.Known = append(q.Known, x)
	}
	return q
}

// What is found follows from the seed, from version to version: a search that begins
// elsewhere, or walks otherwise, is another one, and to be measured anew.
func TestAnswerOfSeed(t *testing.T) {
	a, err := asked(t).Answer(t.Context(), search.RunContext{Iterations: 100_000, Seed: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	fmt.Fprintln(&got, a.Evaluations, "lines,", a.Compositions, "compositions", a.Notes)
	for _, e := range a.Entries {
		fmt.Fprintf(&got, "%.4f %.4f apart %.3f: %v %v near %.3v", e.Score(), e.Scores, e.EarlierDistance, e.Parts, e.Ranges, e.Nearest)
		for _, v := range e.Variants {
			fmt.Fprintf(&got, " or %.4f %v", v.Score(), v.Parts)
		}
		got.WriteByte('\n')
	}
	c := a.Comparison
	for _, s := range []search.Scores{c.Shortlist, c.Random, c.Known} {
		fmt.Fprintf(&got, "%d: %.4f ± %.4f, from %.4f by %.4f and %.4f to %.4f\n", s.Number, s.Mean, s.SE, s.Least, s.Median, s.Upper, s.Greatest)
	}
	fmt.Fprintf(&got, "beats %.3f %.3f apart %.3f %.3f reach %.3f %v promise {%.4v %.4v %.4v %.4v %v %v}\n", c.RandomShareBelow, c.KnownShareBelow, c.KnownMedianDistance, c.MedianDistance, c.Reach, c.ExtrapolatingEntries,
		a.OptimismCheck.Predicted, a.OptimismCheck.Checked, a.OptimismCheck.RandomPredicted, a.OptimismCheck.RandomChecked, a.OptimismCheck.Evaluations, a.OptimismCheck.Compositions)
	// A search that is long enough for all of its rounds.
	space, err := mcmc.NewSpace(6, 12)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 3: 2, 4: 1}), mcmc.Objective{Name: "steps", Property: steps(3, 4, 3, 2, 2, 1), Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := search.Best(t.Context(), target, search.Options{Evaluations: 60_000, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	// One of lines that are curves.
	if space, err = mcmc.NewSpace(6, 300); err != nil {
		t.Fatal(err)
	}
	if target, err = mcmc.NewTarget(space, mcmc.Uniform(2, 4),
		mcmc.Objective{Name: "strong", Property: blend(t, 300, 0.3, 0.06, 0, 0.2, 0.4, 0.6, 0.8, 1), Weight: 1},
		mcmc.Objective{Name: "sweet", Property: blend(t, 300, 7, 2, 9, 1, 8, 3, 2, 7), Weight: 3}); err != nil {
		t.Fatal(err)
	}
	curved, err := search.Best(t.Context(), target, search.Options{Evaluations: 6000, Seed: 5, Most: []int{200, 200, 200, 200, 200, 50}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*search.Result{r, curved} {
		fmt.Fprintln(&got, r.Evaluations, "lines,", r.Compositions, "compositions")
		for _, f := range r.Archive.Best() {
			fmt.Fprintf(&got, "%.4f %v\n", f.Score(), f.Parts)
		}
	}
	golden.Compare(t, "testdata/answer.txt", []byte(got.String()))
}

// A countdown is a context that ends when it is asked for the last time.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Who is told to stop scores nothing more, wherever that is, and a score that is no
// number is told of.
func TestAnswerStops(t *testing.T) {
	space, err := mcmc.NewSpace(5, 12)
	if err != nil {
		t.Fatal(err)
	}
	ctx, late, bad := &countdown{Context: t.Context()}, 0, -1
	rising := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if ctx.left < 0 {
			late++
		}
		if bad--; bad <= 0 {
			return math.NaN()
		}
		return float64(1+x.Amount(0)) / 13
	})
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 5), mcmc.Objective{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	known, err := mcmc.NewComposition(5, mcmc.Part{Ingredient: 1, Amount: 12})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1, Known: []*mcmc.Composition{known}}
	b := search.RunContext{Iterations: 2000, Seed: 1, Workers: 1}
	for k := 1; ; k += 1 + k/10 {
		ctx.left, bad = math.MaxInt, k
		var score *mcmc.ScoreError
		if a, err := q.Answer(ctx, b); err == nil && bad > 0 {
			if k < 5000 {
				t.Errorf("%d compositions are scored", k)
			}
			break
		} else if !errors.As(err, &score) {
			t.Fatalf("score %d is no number: %+v, %v", k, a, err)
		}
	}
	bad = math.MaxInt
	failed := errors.New("the scores are lost")
	q.KnownScores = func() ([]float64, error) { return nil, failed }
	if _, err := q.Answer(ctx, b); !errors.Is(err, failed) {
		t.Errorf("without the scores of known ones: %v", err)
	}
	q.KnownScores = nil
	q.HalfTargets = func(context.Context, uint64) (own, other *mcmc.Target, err error) { return target, target, nil }
	for k := 0; ; k += 1 + k/10 {
		ctx.left = k
		_, err := q.Answer(ctx, b)
		if late > 0 {
			t.Fatalf("told to stop when asked %d times, %d compositions are scored", k, late)
		}
		if err == nil {
			if k < 3000 {
				t.Errorf("it is done when it asked %d times: it does not ask in each loop", k)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}
