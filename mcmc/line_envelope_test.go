package mcmc_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/kernelbench"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/property"
)

// assets are the returns and the covariance of a made-up market.
func assets(n int) (returns []float64, covariance [][]float64) {
	r := rand.New(rand.NewPCG(1, 31))
	loads := make([][3]float64, n)
	for i := range loads {
		returns = append(returns, 0.02+0.1*r.Float64())
		for f := range loads[i] {
			loads[i][f] = 0.2 * r.NormFloat64()
		}
	}
	for i := range n {
		covariance = append(covariance, make([]float64, n))
		for j := range n {
			for f := range loads[i] {
				covariance[i][j] += loads[i][f] * loads[j][f]
			}
		}
		covariance[i][i] += 0.01 + 0.02*r.Float64()
	}
	return returns, covariance
}

// curves are properties of 31 ingredients whose lines are curves.
func curves(tb testing.TB, total int) map[string]mcmc.LineProperty {
	tb.Helper()
	returns, covariance := assets(31)
	markowitz, err := property.NewMarkowitz(returns, covariance, 1.5, total)
	if err != nil {
		tb.Fatal(err)
	}
	normal, err := property.BellShaped(0.09, 0.01)
	if err != nil {
		tb.Fatal(err)
	}
	blend, err := property.NewBlend(returns, total, normal)
	if err != nil {
		tb.Fatal(err)
	}
	var recipes [][]mcmc.Part
	for k := range 3 {
		parts := []mcmc.Part{{Ingredient: 4 * k, Amount: total / 2}, {Ingredient: 4*k + 1, Amount: total - total/2}}
		for i := range 6 {
			units := total / 20
			parts[0].Amount -= units
			parts = append(parts, mcmc.Part{Ingredient: 4*k + 2 + i, Amount: units})
		}
		recipes = append(recipes, parts)
	}
	o := property.DistanceOptions{Ingredients: 31, Total: total, Recipes: recipes, ZeroReplacement: 0.5, Scale: 1}
	near, err := property.NewDistanceLikeness(o)
	if err != nil {
		tb.Fatal(err)
	}
	o.Floor = 0.001
	far, err := property.NewDistanceNovelty(o)
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]mcmc.LineProperty{"markowitz": markowitz, "normal": blend, "likeness": near, "novelty": far}
}

// curved is a target with one of the curves, of which ten ingredients are used.
func curved(tb testing.TB, name string, total int, weight float64) *mcmc.Target {
	tb.Helper()
	space, err := mcmc.NewSpace(31, total)
	if err != nil {
		tb.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(10, 10), mcmc.Objective{Name: name, Property: curves(tb, total)[name], Weight: weight})
	if err != nil {
		tb.Fatal(err)
	}
	return target
}

// A total of 1,000,000 is to be about as fast as one of 100: at most 1.5 times as slow.
func BenchmarkCurves(b *testing.B) {
	for _, c := range []struct {
		name   string
		weight float64
	}{{"markowitz", 2000}, {"normal", 10}, {"likeness", 1}, {"novelty", 1}} {
		for _, kernel := range []string{"balanced", "accelerated"} {
			for _, total := range []int{100, 10_000, 1_000_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", c.name, kernel, total), func(b *testing.B) {
					c := benchChain(b, kernel, curved(b, c.name, total, c.weight))
					b.ReportAllocs()
					b.ResetTimer()
					from := kernelbench.CPU()
					if err := c.Advance(b.N); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric((kernelbench.CPU()-from)*1e9/float64(b.N), "cpu-ns/op")
				})
			}
		}
	}
}

// A rough is a property of the amount of ingredient 0, whose bounds are as loose as
// they are told, or no bounds, or below what they bound.
type rough struct {
	scores []float64 // log y by amount
	loose  float64
	peak   int
}

func (p rough) LogScore(x *mcmc.Composition) float64 { return p.scores[x.Amount(0)] }

func (p rough) Scorer(x *mcmc.Composition) mcmc.Scorer { return &roughScorer{p, x, 0} }

type roughScorer struct {
	rough
	x *mcmc.Composition
	s int
}

func (s *roughScorer) Reset()            {}
func (s *roughScorer) Moved(i, j int)    {}
func (s *roughScorer) LogScore() float64 { return s.rough.LogScore(s.x) }

func (s *roughScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	s.Curve(i, j)
	for k := range s.s + 1 {
		p.Add(k, s.ScoreAt(k))
	}
}

func (s *roughScorer) Curve(i, j int) int {
	s.s = s.x.Amount(i) + s.x.Amount(j)
	return s.peak
}

func (s *roughScorer) ScoreAt(k int) float64 { return s.scores[k] }

func (s *roughScorer) UpperBound(from, to int) float64 {
	return slices.Max(s.scores[from:to+1]) + s.loose*float64(to-from)
}

// roughs are curves of all kinds for a line of sum s of ingredients 0 and 1.
func roughs(r *rand.Rand, s int) map[string]rough {
	all := make(map[string]rough)
	add := func(name string, loose float64, score func(k int) float64) {
		scores := make([]float64, s+1)
		for k := range scores {
			scores[k] = score(k)
		}
		all[name] = rough{scores, loose, r.IntN(s)}
	}
	forbidden := math.Inf(-1)
	bell := func(mean, sd float64) func(int) float64 {
		return func(k int) float64 { return -(float64(k) - mean) * (float64(k) - mean) / (2 * sd * sd) }
	}
	add("flat", 0, func(int) float64 { return -3 })
	add("flat, loose", 1, func(int) float64 { return -3 })
	add("bell", 0, bell(float64(s)/3, float64(s)/20))
	add("spike", 0.001, bell(float64(s)/3, 0.4))
	add("peak outside", 0, bell(-float64(s), float64(s)/9))
	add("steep", 0, func(k int) float64 { return -40 * float64(k) })
	add("cup", 0.01, func(k int) float64 { return -bell(float64(s)/2, float64(s)/6)(k) })
	add("noise", 0.1, func(int) float64 { return 2 * r.NormFloat64() })
	add("wild", 0, func(int) float64 { return 200 * r.NormFloat64() })
	add("holes", 0.02, func(int) float64 {
		if r.IntN(2) == 0 {
			return forbidden
		}
		return r.NormFloat64()
	})
	add("three of all", 0, func(k int) float64 {
		if k == 1 || k == s/2 || k == s {
			return 0
		}
		return forbidden
	})
	add("no bounds", math.NaN(), func(k int) float64 { return float64(k) / 50 })
	add("infinite bounds", math.Inf(1), func(k int) float64 { return float64(k) / 50 })
	add("far apart", 0, func(k int) float64 { return 1e307 * float64(k%3) })
	return all
}

// What is drawn by an envelope follows the line's law, with each property and what a
// chain adds to it: another split than the present one as Liu's rule has it too.
//
// The p-value of each test is held against 10⁻⁶/400 of false alarms.
func TestEnvelope(t *testing.T) {
	const s, rest = 61, 7
	draws := testmode.Pick(4000, 1000)
	r := rand.New(rand.NewPCG(1, 21))
	type test struct {
		name   string
		wishes []mcmc.Objective
	}
	var tests []test
	all := roughs(r, s)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tests = append(tests, test{name, []mcmc.Objective{{Name: name, Property: all[name], Weight: 1}}})
	}
	total := s + rest
	shipped := curves(t, total)
	for _, name := range slices.Sorted(maps.Keys(shipped)) {
		for _, weight := range []float64{0.3, 30, 30_000} {
			tests = append(tests, test{fmt.Sprint(name, ", ", weight), []mcmc.Objective{{Name: name, Property: shipped[name], Weight: weight}}})
		}
	}
	step := mcmc.Objective{Name: "steps", Weight: 1, Property: stepsOf{}}
	tests = append(tests,
		test{"all", []mcmc.Objective{{Name: "markowitz", Property: shipped["markowitz"], Weight: 100}, step, {Name: "normal", Property: shipped["normal"], Weight: 3}, {Name: "likeness", Property: shipped["likeness"], Weight: 0.5}}},
		test{"steps", []mcmc.Objective{step, {Name: "normal", Property: shipped["normal"], Weight: 3}}})
	laws := [][4]float64{{1, 1, 1, 0}, {1, 0.5, 0.01, 0}, {0, 0, 1, 0}, {1, 0, 0.3, -2}, {1, 1, 0, 0}, {1e-9, 1, 1, 90}}
	plains, lines := 0, 0
	for n, c := range tests {
		target := newTarget(t, 31, total, mcmc.Uniform(1, 3), c.wishes...)
		for l, law := range laws {
			here := s / 3
			if law[2] == 0 {
				here = s
			}
			amounts := make([]int, 31)
			amounts[0], amounts[1], amounts[2] = here, s-here, rest
			x, err := mcmc.NewState(target, newComposition(t, amounts...))
			if err != nil {
				t.Fatal(err)
			}
			beta := []float64{1, 9, 0.2}[(n+l)%3]
			mcmc.SetBeta(x, beta)
			weights := lineWeights(t, target, x.Composition, law, beta)
			sum := 0.0
			for _, w := range weights {
				sum += w
			}
			if sum == 0 {
				continue // all that the law gives weight is forbidden
			}
			for _, another := range []bool{false, true} {
				if another && weights[here] == 0 {
					continue
				}
				shares, moves := make([]float64, s+1), 0.0
				for k, w := range weights {
					if shares[k] = w / sum; another && k != here {
						if w > 0 {
							shares[k] = w / max(sum-weights[here], sum-w)
						}
						moves += shares[k]
					}
				}
				if another {
					shares[here] = max(0, 1-moves)
				}
				counts := make([]int, s+1)
				random := mcmc.NewRand(1, "envelope", uint64(n))
				for range draws {
					k, err := mcmc.DrawLine(random, x, 0, 1, law[0], law[1], law[2], law[3], another)
					if err != nil {
						t.Fatalf("%s: %v", c.name, err)
					}
					counts[k]++
				}
				curved, plain := mcmc.IsCurved(x, random, s)
				lines++
				if plains += oneIf(plain); !curved {
					t.Errorf("%s: the line is no curve", c.name)
				}
				if p, at := stattest.TestLaw(counts, shares); p < 1e-6/400 {
					t.Errorf("%s, law %v, β = %v, another %v: draws do not follow the law: p = %.2g at %s", c.name, law, beta, another, p, at)
				}
			}
		}
	}
	if t.Logf("%d of %d lines were weighed split by split", plains, lines); plains == 0 || plains > lines/5 {
		t.Errorf("%d of %d lines were weighed split by split", plains, lines)
	}
}

// Of a line that a search looks at the best split is known, and one that is drawn.
func TestCursorCurve(t *testing.T) {
	r, random := rand.New(rand.NewPCG(1, 22)), mcmc.NewRand(1, "cursor", 0)
	told := 0
	all := curves(t, 400)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		target := newTarget(t, 31, 400, mcmc.Uniform(1, 9), mcmc.Objective{Name: name, Property: p, Weight: 30}, mcmc.Objective{Name: "steps", Property: stepsOf{}, Weight: 1})
		amounts := make([]int, 31)
		for range 400 {
			amounts[[]int{0, 1, 2, 5, 8}[r.IntN(5)]]++
		}
		c, err := mcmc.NewCursor(target, newComposition(t, amounts...))
		if err != nil {
			t.Fatal(err)
		}
		for range 400 {
			i := []int{0, 1, 2, 5, 8}[r.IntN(5)]
			j := r.IntN(31)
			s := c.Composition().Amount(i) + c.Composition().Amount(j)
			if i == j || s < 60 {
				continue
			}
			from := 1 + r.IntN(s-1)
			to := from + r.IntN(s-from)
			line, ok, err := c.BestAndDrawnSplit(random, math.Pow(10, 4*r.Float64()), i, j, from, to)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			told++
			p, err := c.LineScores(i, j)
			if err != nil {
				t.Fatal(err)
			}
			at := func(k int) (score float64) {
				for q := 0; q < p.Len(); q++ {
					if start, value := p.Piece(q); start <= k {
						score = value
					}
				}
				return score
			}
			best := math.Inf(-1)
			for k := from; k < to; k++ {
				best = max(best, at(k))
			}
			near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9 }
			if line.BestSplit == 0 && best > math.Inf(-1) || line.BestSplit > 0 && (!near(at(line.BestSplit), best) || !near(line.BestScore, best)) {
				t.Fatalf("%s, splits %d to %d of %d: %+v, and the best is %v", name, from, to, s, line, best)
			}
			if line.BestSplit > 0 && (line.DrawnSplit < from || line.DrawnSplit >= to || !near(at(line.DrawnSplit), line.DrawnScore)) || !near(line.ZeroScore, at(0)) || !near(line.FullScore, at(s)) {
				t.Fatalf("%s, splits %d to %d of %d: %+v, and what is drawn scores %v, the ends %v and %v", name, from, to, s, line, at(line.DrawnSplit), at(0), at(s))
			}
			if line.BestSplit > 0 {
				c.Move(i, j, line.DrawnSplit, line.DrawnScore)
			}
		}
	}
	if told < 200 {
		t.Errorf("only %d lines were told", told)
	}
}

// On a line of 2·10⁹ units, far beyond what can be weighed split by split, draws are
// those of a normal law: as many in each twentieth of it.
func TestEnvelopeOfLongLine(t *testing.T) {
	const total, bins, draws = 2_000_000_000, 20, 20_000
	for _, c := range []struct{ mean, sd float64 }{{0.3, 1e-6}, {0.7, 0.01}, {0.5, 0.1}} {
		normal, err := property.BellShaped(c.mean, c.sd)
		if err != nil {
			t.Fatal(err)
		}
		blend, err := property.NewBlend([]float64{1, 0}, total, normal)
		if err != nil {
			t.Fatal(err)
		}
		target := newTarget(t, 2, total, mcmc.Uniform(1, 2), mcmc.Objective{Name: "bell", Property: blend, Weight: 1})
		x, err := mcmc.NewState(target, newComposition(t, total/2, total-total/2))
		if err != nil {
			t.Fatal(err)
		}
		counts, r := make([]int, bins), mcmc.NewRand(1, "long line", 0)
		for range draws {
			k, err := mcmc.DrawLine(r, x, 0, 1, 1, 1, 1, 0, false)
			if err != nil {
				t.Fatal(err)
			}
			z := (float64(k)/total - c.mean) / c.sd
			counts[min(int(bins*math.Erfc(-z/math.Sqrt2)/2), bins-1)]++
		}
		// What a normal law has beyond the line's ends is less than 10⁻⁶ of it.
		if p, at := stattest.TestLaw(counts, slices.Repeat([]float64{1. / bins}, bins)); p < 1e-6 {
			t.Errorf("mean %v, sd %v: p = %.2g at %s: %v", c.mean, c.sd, p, at, counts)
		}
		if _, plain := mcmc.IsCurved(x, r, total); plain {
			t.Errorf("mean %v, sd %v: all splits were weighed", c.mean, c.sd)
		}
	}
}

// A long line of which one split alone is allowed stays there, by the law and by
// another split than that.
func TestLongLineOfOneSplit(t *testing.T) {
	for _, total := range []int{2000, 200_000} {
		blend, err := property.NewBlend([]float64{1, 0}, total, must(property.WithinRange(0.5, 0.5)))
		if err != nil {
			t.Fatal(err)
		}
		target := newTarget(t, 2, total, mcmc.Uniform(1, 2), mcmc.Objective{Name: "half", Property: blend, Weight: 1})
		x, err := mcmc.NewState(target, newComposition(t, total/2, total-total/2))
		if err != nil {
			t.Fatal(err)
		}
		r := mcmc.NewRand(1, "one split", 0)
		for _, another := range []bool{false, true} {
			for range 20 {
				if k, err := mcmc.DrawLine(r, x, 0, 1, 1, 1, 1, 0, another); err != nil || k != total/2 {
					t.Fatalf("total %d, another %t: split %d, %v", total, another, k, err)
				}
			}
		}
	}
}

// lineWeights are the weights of the splits of ingredients 0 and 1, in units of the
// largest.
func lineWeights(t *testing.T, target *mcmc.Target, x *mcmc.Composition, law [4]float64, beta float64) []float64 {
	t.Helper()
	s := x.Amount(0) + x.Amount(1)
	logs := make([]float64, s+1)
	for k := range logs {
		y := x.Clone()
		if err := y.Move(0, 1, k); err != nil {
			t.Fatal(err)
		}
		score, err := target.LogScore(y)
		if err != nil {
			t.Fatal(err)
		}
		switch logs[k] = beta * score; k {
		case 0:
			logs[k] += math.Log(law[0])
		case s:
			logs[k] += math.Log(law[1])
		default:
			logs[k] += math.Log(law[2]) + law[3]
		}
	}
	top := slices.Max(logs)
	for k := range logs {
		if logs[k] = math.Exp(logs[k] - top); top == math.Inf(-1) {
			logs[k] = 0
		}
	}
	return logs
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// stepsOf is a property with a few pieces on a line.
type stepsOf struct{}

func (stepsOf) LogScore(x *mcmc.Composition) float64 {
	if a := x.Amount(0); 20 <= a && a < 26 {
		return math.Inf(-1)
	}
	return -float64(x.Amount(0) / 15)
}

func (p stepsOf) Scorer(x *mcmc.Composition) mcmc.Scorer { return stepsScorer{p, x} }

type stepsScorer struct {
	stepsOf
	x *mcmc.Composition
}

func (s stepsScorer) Reset()            {}
func (s stepsScorer) Moved(i, j int)    {}
func (s stepsScorer) LogScore() float64 { return s.stepsOf.LogScore(s.x) }

func (s stepsScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	y := s.x.Clone()
	last := math.NaN()
	for k := range s.x.Amount(i) + s.x.Amount(j) + 1 {
		if err := y.Move(i, j, k); err != nil {
			panic(err) // both are ingredients
		}
		if score := s.stepsOf.LogScore(y); score != last {
			p.Add(k, score)
			last = score
		}
	}
}
