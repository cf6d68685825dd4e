package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// TestMadeAsBefore: what searches with doses, kinds, refusals, starts and ideas find,
// and what shortlists, comparisons and promises of it say, is what it was, line by line.
func TestMadeAsBefore(t *testing.T) {
	var b strings.Builder
	own := newTarget(t, mcmc.Objective{Name: "rough", Property: rough(4), Weight: 1}, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1})
	other := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 2, 2, 1, 1}), Weight: 1})
	stepped := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1}, mcmc.Objective{Name: "told", Property: smooth([]int{0, 9, 0, 0, 0}), Weight: 0})
	known := []*mcmc.Composition{parts(t, 3, 3, 2, 1, 0), parts(t, 2, 4, 1, 2, 0), parts(t, 5, 4, 0, 0, 0), parts(t, 1, 4, 3, 1, 0), parts(t, 9, 0, 0, 0, 0)}
	common := known[1:4]
	for _, o := range []Options{
		{Evaluations: 1, Seed: 1},
		{Evaluations: 150, Seed: 2, Workers: 2, Starts: known},
		{Evaluations: 3000, Seed: 3, DiverseCount: 4, Distance: NewDistance(5, nil), MinDistance: 0.4, Niche: Niche{Group: []int{0, 1, 1, 2, 2}, Attribute: []float64{1, 2, 3, 4, 5}, Bands: []float64{2, 3}}},
		{Evaluations: 3000, Seed: 4, DiverseCount: 30, Distance: NewDistance(5, common), MinDistance: 0.6, Niche: Niche{Common: []bool{true, true, false, false, false}}, Starts: common},
		{Evaluations: 2000, Seed: 5, Least: []int{2, 1, 1, 2, 1}, Most: []int{6, 6, 3, 3, 0}, Starts: known, Refuse: func(set []int) bool { return len(set) == 2 }},
	} {
		r, err := Best(t.Context(), own, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, o.Seed, ":", r.Evaluations, "lines,", r.Compositions, "compositions,", r.FeasibleStartCount, "starts")
		for _, list := range [][]Found{r.Diverse, r.Archive.Best()} {
			for _, f := range list {
				fmt.Fprintf(&b, " %.6f %v", f.LogScore, f.Parts)
			}
			b.WriteByte('\n')
		}
	}
	var candidates []Found
	for k, x := range all(t, 5, 9) { // some more than once, and those that may not be
		score, err := stepped.LogScore(x)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + k%2 {
			candidates = append(candidates, Found{Parts: x.Parts(), LogScore: score})
		}
	}
	for _, o := range []ListOptions{
		{MaxEntries: 0, Distance: NewDistance(5, nil)},
		{MaxEntries: 12, Distance: NewDistance(5, nil), MinDistance: 0.45, Known: known},
		{MaxEntries: 12, Distance: NewDistance(5, common), MinDistance: 0.45, Known: common, Tolerance: 0.4, Weight: 40},
		{MaxEntries: 100, Distance: NewDistance(5, nil), MinDistance: 1, Known: known[:1], Tolerance: 0.6, Least: []int{2, 1, 1, 2, 1}, Most: []int{6, 6, 3, 3, 2}},
		{MaxEntries: 5, Distance: NewDistance(5, nil), MinDistance: 0.2, Tolerance: 0.99, Refuse: func(set []int) bool { return len(set) == 4 }},
	} {
		list, err := Shortlist(t.Context(), stepped, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, "list of", o.MaxEntries, "by", o.MinDistance, ":", list.Evaluations, "lines,", list.Compositions, "compositions")
		for k, e := range list.Entries {
			if k > 0 && e.EarlierDistance == 0 {
				t.Errorf("%v is on a list twice", e.Parts)
			}
			fmt.Fprintf(&b, " %.6f %.6f %v %v apart %.6f near %.6v or %.6v\n", e.LogScore, e.Scores, e.Parts, e.Ranges, e.EarlierDistance, e.Nearest, e.Variants)
		}
		c, err := Compare(t.Context(), own, list.Entries, CompareOptions{RandomCount: 100, Seed: 3, Distance: o.Distance, Known: o.Known})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, " compares as %.6v\n", *c)
	}
	p, err := CheckOptimism(t.Context(), own, other, Options{Evaluations: 500, Seed: 9}, ListOptions{MaxEntries: 5, Distance: NewDistance(5, nil), MinDistance: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "{%.6v %.6v %.6v %.6v %v %v}, of which %.6g is left\n", p.Predicted, p.Checked, p.RandomPredicted, p.RandomChecked, p.Evaluations, p.Compositions, p.RemainingGain)
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 25 {
		v := make([]float64, n)
		for k := range v {
			v[k] = math.Floor(10 * r.Float64())
		}
		s := summarizeScores(v)
		fmt.Fprintf(&b, "%.6v: %.6v, %.3g is below\n", v, s, shareBelow(v, float64(s.Median)))
	}
	golden.Compare(t, "testdata/made.txt", []byte(b.String()))
}

// TestExpected: how many lines the walks of an answer are about to score.
func TestExpected(t *testing.T) {
	q := &Question{Effort: 0.5}
	b := RunContext{Iterations: 160_000}
	if got := q.ExpectedLines(b); got != 20_000 {
		t.Errorf("%d lines without halves", got)
	}
	q.HalfTargets = func(context.Context, uint64) (own, other *mcmc.Target, err error) { return nil, nil, nil }
	if got := q.ExpectedLines(b); got != 25_000 {
		t.Errorf("%d lines with halves", got)
	}
	for _, c := range []struct {
		of   OptimismCheck
		want float64
	}{{OptimismCheck{Predicted: 0.9, RandomPredicted: 0.1, Checked: 0.6, RandomChecked: 0.2}, 0.5}, {OptimismCheck{Predicted: 0.1, RandomPredicted: 0.1, Checked: 1}, math.NaN()}, {OptimismCheck{Predicted: 0.1, RandomPredicted: 0.2}, math.NaN()}} {
		c.of.setRemainingGains()
		if got := float64(c.of.RemainingGain); !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v is left of %+v", got, c.of)
		}
	}
}

// TestScoresThatFail: whichever score of a search, a shortlist, a comparison or a
// promise is the one that is no number, and whenever somebody tells it to stop, it is
// told.
func TestScoresThatFail(t *testing.T) {
	left := math.MaxInt
	ctx, cancel := context.WithCancel(t.Context())
	at := func(score func(x *mcmc.Composition) float64) mcmc.Property {
		return mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
			switch left--; {
			case left == 0 && ctx != nil:
				cancel()
			case left == 0:
				return math.NaN()
			}
			return score(x)
		})
	}
	near := smooth([]int{3, 3, 2, 1, 0})
	own := newTarget(t, mcmc.Objective{Name: "own", Weight: 1, Property: at(func(x *mcmc.Composition) float64 { return math.Exp(near.LogScore(x)) })})
	other := newTarget(t, mcmc.Objective{Name: "other", Weight: 1, Property: at(func(x *mcmc.Composition) float64 { return 0.5 })})
	known := []*mcmc.Composition{parts(t, 3, 3, 2, 1, 0), parts(t, 9, 0, 0, 0, 0)}
	candidates := []Found{{Parts: known[0].Parts()}, {Parts: known[1].Parts(), LogScore: math.Log(0.1)}, {Parts: parts(t, 0, 9, 0, 0, 0).Parts(), LogScore: math.Log(0.1)}}
	d := NewDistance(5, nil)
	o, l := Options{Evaluations: 60, Seed: 1, DiverseCount: 2, Distance: d, MinDistance: 0.3, Starts: known, Workers: 1}, ListOptions{MaxEntries: 2, Distance: d, MinDistance: 0.3, Known: known}
	for name, work := range map[string]func(ctx context.Context) error{
		"search":    func(ctx context.Context) error { _, err := Best(ctx, own, o); return err },
		"shortlist": func(ctx context.Context) error { _, err := Shortlist(ctx, own, candidates, l); return err },
		"compare": func(ctx context.Context) error {
			_, err := Compare(ctx, own, nil, CompareOptions{RandomCount: 30, Seed: 1, Distance: d, Known: known})
			return err
		},
		"check": func(ctx context.Context) error { _, err := CheckOptimism(ctx, own, other, o, l); return err },
	} {
		for _, stops := range []bool{false, true} {
			told := 0
			for k := 1; ; k += 1 + k/20 {
				ctx, cancel = nil, nil
				of := t.Context()
				if stops {
					ctx, cancel = context.WithCancel(t.Context())
					of = ctx
				}
				left = k
				err := work(of)
				if cancel != nil {
					cancel()
				}
				if left > 0 { // it was done before
					if err != nil {
						t.Errorf("%s: without a fault: %v", name, err)
					}
					break
				}
				switch {
				case stops && errors.Is(err, context.Canceled), !stops && err != nil:
					told++
				case !stops:
					t.Errorf("%s: score %d is no number: %v", name, k, err)
				case err != nil:
					t.Errorf("%s: stopped at score %d: %v", name, k, err)
				}
				if stops && err == nil && name != "shortlist" && k < 20 {
					t.Errorf("%s: stopped at score %d, it goes on to its end", name, k)
				}
			}
			if told == 0 {
				t.Errorf("%s: nothing was told", name)
			}
		}
	}
}
