package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/pareto"
	"kir/mcmc"
	"kir/rule"
)

// lossOf makes a loss of a function.
type lossOf func(x *mcmc.Composition) float64

func (f lossOf) LogScore(x *mcmc.Composition) float64 { return -f(x) }

// lineLoss is lossOf with lines, of a piece for each run of equal losses.
type lineLoss struct{ lossOf }

func (l lineLoss) Scorer(x *mcmc.Composition) mcmc.Scorer { return &runs{l, x} }

type runs struct {
	of lineLoss
	x  *mcmc.Composition
}

func (r *runs) Reset()            {}
func (r *runs) Moved(_, _ int)    {}
func (r *runs) LogScore() float64 { return r.of.LogScore(r.x) }
func (r *runs) Line(i, j int, p *mcmc.PiecewiseConstant) {
	y, last := r.x.Clone(), math.NaN()
	for k := 0; k <= r.x.Amount(i)+r.x.Amount(j); k++ {
		if err := y.Move(i, j, k); err != nil {
			panic(err)
		}
		if v := r.of.LogScore(y); v != last {
			p.Add(k, v)
			last = v
		}
	}
}

// randomLosses are linear, a distance, a quadratic form and steps, in turn from first on.
func randomLosses(r *rand.Rand, n, count, first int) []Objective {
	var out []Objective
	for k := range count {
		factors, rest := make([]float64, n), make([]float64, n)
		for i := range factors {
			factors[i], rest[i] = float64(r.IntN(100)), r.Float64()-0.3
		}
		linear := func(x *mcmc.Composition) (sum float64) {
			for i, amount := range x.Amounts() {
				sum += factors[i] * float64(amount)
			}
			return sum
		}
		var of mcmc.Property
		switch (first + k) % 4 {
		case 0:
			of = lossOf(linear)
		case 1:
			of = lossOf(func(x *mcmc.Composition) float64 { return math.Abs(linear(x) - 40*float64(x.Total())) })
		case 2:
			of = lineLoss{func(x *mcmc.Composition) float64 {
				one, two := 0.0, 0.0
				for i, amount := range x.Amounts() {
					one += factors[i] * float64(amount)
					two += rest[i] * float64(amount)
				}
				return two*two + math.Sqrt(one)
			}}
		case 3:
			of = lineLoss{func(x *mcmc.Composition) float64 {
				return math.Floor(linear(x)/float64(4*x.Total())) + float64(x.UsedCount())
			}}
		}
		out = append(out, Objective{Name: fmt.Sprint("loss ", k), Score: of})
	}
	return out
}

// enumerated returns the losses of all compositions that a target gives density.
func enumerated(t *testing.T, target *mcmc.Target, losses []Objective) (points [][]float64) {
	t.Helper()
	for _, x := range all(t, target.Space().N(), target.Space().Total()) {
		score, err := target.LogScore(x)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(score, -1) || math.IsInf(target.LogLaw(x.UsedCount()), -1) {
			continue
		}
		var p []float64
		for k := range losses {
			p = append(p, losses[k].Loss(x))
		}
		points = append(points, p)
	}
	return points
}

// extremes returns the points of a front that are the best of some weighted sum of two losses:
// the corners of its lower hull.
func extremes(points [][]float64) (hull [][]float64) {
	for _, p := range points {
		for len(hull) > 1 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if (b[0]-a[0])*(p[1]-a[1])-(b[1]-a[1])*(p[0]-a[0]) > 0 {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// TestTradeOffEnumerated: on random problems with rules, whose compositions are all looked
// at, nothing that is found is beaten or breaks a rule, and the front has all points that are
// the best of a weighted sum, its ends among them, and the whole hypervolume to 1e-3.
func TestTradeOffEnumerated(t *testing.T) {
	found, there := 0, 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 3))
		n, total := 5+r.IntN(2), 8+r.IntN(5)
		factors := make([]float64, n)
		for i := range factors {
			factors[i] = float64(1 + r.IntN(9))
		}
		space, err := mcmc.NewRuledSpace(t.Context(), rule.Set{Ingredients: n, Total: total, Rules: []rule.Rule{
			rule.Need{If: r.IntN(n - 1), Then: []int{n - 1}},
			rule.Limit{Factors: factors, Min: math.Inf(-1), Max: 6},
			rule.Amount{Of: []int{r.IntN(n)}, Max: total / 2},
		}}, mcmc.CountingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4))
		if err != nil {
			t.Fatal(err)
		}
		count := 2 + int(seed)%3
		losses := randomLosses(r, n, count, int(seed))
		got, err := TradeOff(t.Context(), target, losses, TradeOptions{Lines: 8000, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		every := enumerated(t, target, losses)
		var truth [][]float64
		for _, k := range pareto.NonDominated(every) {
			truth = append(truth, every[k])
		}
		members := lossesOf(got.Front)
		for _, m := range got.Front {
			x, err := mcmc.NewComposition(n, m.Parts...)
			if err != nil {
				t.Fatal(err)
			}
			if score, err := target.LogScore(x); err != nil || math.IsInf(score, -1) {
				t.Errorf("seed %d: %v breaks a rule", seed, x)
			}
			if !slices.ContainsFunc(truth, func(p []float64) bool { return slices.Equal(p, m.Losses) }) {
				t.Errorf("seed %d: %v with %v is beaten", seed, x, m.Losses)
			}
		}
		there += len(truth)
		found += len(members)
		if got.Volume < slices.Max(got.SearchVolumes) || slices.Min(got.SearchVolumes) <= 0 || got.Volume > 1 {
			t.Errorf("seed %d: a hypervolume of %v, of searches %v", seed, got.Volume, got.SearchVolumes)
		}
		must := [][]float64{}
		if count == 2 {
			must = extremes(truth)
		} else {
			for _, k := range pareto.BestInEachLoss(truth) {
				must = append(must, truth[k])
			}
		}
		for _, p := range must {
			if !slices.ContainsFunc(members, func(q []float64) bool { return slices.Equal(p, q) }) {
				t.Errorf("seed %d: the front misses the extreme point %v", seed, p)
			}
		}
		whole, part := pareto.Hypervolume(truth, got.Reference), pareto.Hypervolume(members, got.Reference)
		if part < whole*(1-1e-3) {
			t.Errorf("seed %d: a hypervolume of %v of %v", seed, part, whole)
		}
	}
	if share := float64(found) / float64(there); share < 0.99 {
		t.Errorf("%d of %d points of all fronts were found", found, there)
	}
	t.Logf("%d of %d points of all fronts", found, there)
}

// TestTradeOffTies: where losses tie in whole numbers and are rounded otherwise for each
// composition, the front is that of the whole numbers, each point once.
func TestTradeOffTies(t *testing.T) {
	split := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 12))
		n, total, count := 5, 8+r.IntN(4), 2+int(seed)%2
		space, err := mcmc.NewSpace(n, total)
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 4))
		if err != nil {
			t.Fatal(err)
		}
		var exact, losses []Objective
		for d := range count {
			factors := make([]int, n)
			for i := range factors {
				factors[i] = 1 + r.IntN(5)
			}
			whole := func(x *mcmc.Composition) float64 {
				sum := 0
				for i, amount := range x.Amounts() {
					sum += factors[i] * int(amount)
				}
				return float64(sum)
			}
			within := d == 1 // the distance from a bound
			bound := float64(2 * total)
			exact = append(exact, Objective{Score: lossOf(func(x *mcmc.Composition) float64 {
				if within {
					return max(whole(x)-bound, 0)
				}
				return whole(x)
			})})
			of := lossOf(func(x *mcmc.Composition) float64 {
				bits := uint64(0) // another rounding for each composition
				for _, amount := range x.Amounts() {
					bits = bits*31 + uint64(amount)
				}
				v := whole(x) * (160. / 14) * (1 + float64(bits%7)*0x1p-52)
				if within {
					return max(v-bound*(160./14), 0)
				}
				return v
			})
			l := Objective{Name: fmt.Sprint("loss ", d), Score: of}
			if within {
				l.LossMagnitude = bound * (160. / 14)
			}
			losses = append(losses, l)
		}
		got, err := TradeOff(t.Context(), target, losses, TradeOptions{Lines: 4000, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		every := enumerated(t, target, exact)
		var want, found [][]float64
		for _, k := range pareto.NonDominated(every) {
			want = append(want, every[k])
		}
		for _, m := range got.Front {
			x, err := mcmc.NewComposition(n, m.Parts...)
			if err != nil {
				t.Fatal(err)
			}
			var p []float64
			for d := range exact {
				p = append(p, exact[d].Loss(x))
			}
			found = append(found, p)
		}
		if !slices.EqualFunc(found, want, slices.Equal) {
			t.Errorf("seed %d: the front is %v, not %v", seed, found, want)
		}
		rounded := enumerated(t, target, losses)
		if len(pareto.NonDominated(rounded)) > len(want) {
			split++
		}
	}
	if split < 6 {
		t.Errorf("only %d fronts have ties that rounding splits: the test shows nothing", split)
	}
}

// TestTradeOffNotConvex: of a front that bends inwards, on which every weighted sum and every
// weighted product of what is gained is best at an end, all points between are found.
func TestTradeOffNotConvex(t *testing.T) {
	space, err := mcmc.NewSpace(4, 60)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 4))
	if err != nil {
		t.Fatal(err)
	}
	// With u the share of the first ingredient and the rest all of the second, the gains are
	// e^u and e^((1−u)²): their logarithms are a convex function of each other. The third
	// and the fourth ingredient only harm.
	share := func(x *mcmc.Composition, i int) float64 { return float64(x.Amount(i)) / 60 }
	losses := []Objective{
		{Name: "a", Score: lossOf(func(x *mcmc.Composition) float64 { return share(x, 2) - math.Exp(share(x, 0)) })},
		{Name: "b", Score: lossOf(func(x *mcmc.Composition) float64 {
			return share(x, 3) - math.Exp((1-share(x, 0))*(1-share(x, 0)))
		})},
	}
	got, err := TradeOff(t.Context(), target, losses, TradeOptions{Lines: 4000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Front) != 61 {
		t.Errorf("%d points; there are 61", len(got.Front))
	}
	if hull := extremes(lossesOf(got.Front)); len(hull) != 2 {
		t.Errorf("weighted sums find %d points of the front: the case is convex", len(hull))
	}
	for k := range 99 {
		weight, best, at := float64(k+1)/100, math.Inf(-1), 0
		for k, m := range got.Front {
			if gain := math.Pow(-m.Losses[0], weight) * math.Pow(-m.Losses[1], 1-weight); gain > best {
				best, at = gain, k
			}
		}
		if at != 0 && at != len(got.Front)-1 {
			t.Errorf("the product of weight %v is best within the front: the case shows nothing", weight)
		}
	}
}

// TestTradeOffIsTheSame: whatever the number of workers.
func TestTradeOffIsTheSame(t *testing.T) {
	target := newTarget(t)
	losses := randomLosses(rand.New(rand.NewPCG(5, 5)), 5, 3, 0)
	var first *TradeOffResult
	for _, workers := range []int{1, 4} {
		got, err := TradeOff(t.Context(), target, losses, TradeOptions{Lines: 600, Seed: 7, Workers: workers, Starts: []*mcmc.Composition{parts(t, 3, 3, 2, 1, 0)}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if fmt.Sprint(*first) != fmt.Sprint(*got) {
			t.Errorf("with %d workers:\n%v\nwith one:\n%v", workers, *got, *first)
		}
	}
}

// TestTradeOffDoses: what is found stays within doses, and is of no refused set.
func TestTradeOffDoses(t *testing.T) {
	target := newTarget(t)
	losses := randomLosses(rand.New(rand.NewPCG(6, 5)), 5, 2, 0)
	o := TradeOptions{Lines: 2000, Seed: 7, Least: []int{2, 1, 1, 2, 1}, Most: []int{6, 6, 3, 3, 0}, Refuse: func(set []int) bool { return slices.Equal(set, []int{0, 1}) }}
	got, err := TradeOff(t.Context(), target, losses, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Front) == 0 {
		t.Fatal("nothing was found")
	}
	for _, m := range got.Front {
		if len(m.Parts) == 2 && m.Parts[0].Ingredient == 0 && m.Parts[1].Ingredient == 1 {
			t.Errorf("%v was refused", m.Parts)
		}
		for _, p := range m.Parts {
			if p.Amount < o.Least[p.Ingredient] || p.Amount > o.Most[p.Ingredient] {
				t.Errorf("%v is outside the doses", m.Parts)
			}
		}
	}
}
