package volume

import (
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/internal/browsersched"
	"kir/internal/constraint/count"
	"kir/internal/portable"
)

const (
	// keepWeight is the fraction of a population's effective size that each annealing step retains.
	keepWeight = 0.6
	// enough is the fraction of a population that must satisfy all sums (v = 0) before the other members are dropped.
	enough = 0.4
	// maxSteps is the greatest number of annealing steps. 400 steps that retain 0.6 each reach shares of 10⁻⁸⁸.
	maxSteps = 400
	// frozen is the least v in a population, in units of 1/b, at which annealing gives up: weights of e⁻⁵⁰
	// carry no information.
	frozen = 50
)

// annealGroups anneals the populations from..to−1 of each size until their members keep all rules. If from is 0, it
// first determines each size's schedule.
func (m *measurement) annealGroups(ctx context.Context, from, to int) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(m.options.Workers)
	for _, w := range m.sizes {
		if math.IsInf(w.logCount, -1) {
			continue
		}
		work.Go(func() error {
			if from == 0 {
				if err := m.runPilot(ctx, w); err != nil {
					return err
				}
			}
			if !w.schedule.found {
				return nil
			}
			for g := from; g < to; g++ {
				r := m.options.Stream(w.stream + 1 + uint64(g))
				one, err := m.population(ctx, w, r, population, &w.schedule, true)
				if err != nil {
					return err
				}
				w.groups[g] = one
			}
			return nil
		})
	}
	return work.Wait()
}

// preliminary returns a measurement that uses the populations annealed so far in place of all.
func (m *measurement) preliminary() *measurement {
	own := *m
	own.sizes = nil
	for _, w := range m.sizes {
		one := *w
		for g := range one.groups {
			one.groups[g] = w.groups[g%earlyGroups]
		}
		own.sizes = append(own.sizes, &one)
	}
	return &own
}

// scale sets the scale of each sum to 1 over its standard deviation among random compositions, so that violations of
// different sums are comparable.
func (m *measurement) scale() {
	r := m.options.Stream(0)
	walker := newWalker(m.rules)
	sampler := m.problem.Sampler.Clone()
	var x Composition
	values := make([][]float64, len(m.rules.bounds))
	for _, w := range m.sizes {
		if math.IsInf(w.logCount, -1) {
			continue
		}
		for range 32 {
			if !draw(sampler, r, w.n, &x) {
				break
			}
			walker.load(x)
			for k := range walker.sums {
				values[k] = append(values[k], float64(walker.sums[k].sum))
			}
		}
	}
	for k, sample := range values {
		mean, squares := 0.0, 0.0
		for _, s := range sample {
			mean += s / float64(len(sample))
		}
		for _, s := range sample {
			squares += (s - mean) * (s - mean) / float64(len(sample))
		}
		if squares > 0 {
			m.rules.bounds[k].scale = 1 / math.Sqrt(squares)
		}
	}
}

// draw sets x to a uniform composition of n ingredients that keeps the countable rules. It returns false if there is
// none.
func draw(s *count.Sampler, r Rand, n int, x *Composition) bool {
	var err error
	x.Ingredients, x.Amounts, err = s.Draw(r, n, x.Ingredients[:0], x.Amounts[:0])
	return !errors.Is(err, count.ErrEmpty)
}

// runPilot determines the annealing schedule of a size by a population of its own.
func (m *measurement) runPilot(ctx context.Context, w *sizeWork) error {
	r := m.options.Stream(w.stream)
	g, err := m.population(ctx, w, r, pilot, &w.schedule, false)
	if g != nil {
		w.schedule.moves = g.moves
	}
	return err
}

// population draws compositions and anneals them along the schedule s. Unless fixed, it determines the steps of the
// schedule meanwhile.
func (m *measurement) population(ctx context.Context, w *sizeWork, r Rand, size int, s *schedule, fixed bool) (*group, error) {
	g := &group{members: make([]Composition, size), mean: 1, rand: r}
	walker := newWalker(m.rules)
	sampler := m.problem.Sampler.Clone()
	values := make([]float64, size)
	for k := range g.members {
		if !draw(sampler, r, w.n, &g.members[k]) {
			return g, nil
		}
		walker.load(g.members[k])
		values[k] = float64(float64(walker.v) / quantum)
	}
	weights := make([]float64, size)
	b := 0.0
	for step := 0; ; step++ {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		next := math.Inf(1)
		if fixed {
			if step < len(s.steps) {
				next = s.steps[step]
			}
		} else if countZeros(values) < enough*float64(size) {
			if step == maxSteps || b*slices.Min(values) > frozen {
				g.moves = walker.moves
				return g, nil
			}
			next = nextStep(values, b, weights)
			s.steps = append(s.steps, next)
		} else {
			s.found = true
		}
		fillWeights(values, b, next, weights)
		sum := 0.0
		for _, x := range weights {
			sum += x
		}
		g.mean = float64(g.mean * (sum / float64(size)))
		if sum == 0 {
			break
		}
		g.resample(r, weights, sum)
		b = next
		for k := range g.members {
			walker.load(g.members[k])
			for range movesPerStep(w.n) {
				walker.move(r, b)
			}
			walker.store(&g.members[k])
			values[k] = float64(float64(walker.v) / quantum)
		}
		if math.IsInf(b, 1) {
			break
		}
	}
	if g.mean == 0 {
		g.members = nil
	}
	g.moves = walker.moves
	return g, nil
}

// countZeros returns how many values are 0.
func countZeros(values []float64) float64 {
	n := 0.0
	for _, v := range values {
		if v == 0 {
			n++
		}
	}
	return n
}

// fillWeights sets weights to exp(−(next−b)·v) for each v of values. If next is infinite, a weight is 1 for v =
// 0, else 0.
func fillWeights(values []float64, b, next float64, weights []float64) {
	for k, v := range values {
		switch {
		case v == 0:
			weights[k] = 1
		case math.IsInf(next, 1):
			weights[k] = 0
		default:
			weights[k] = portable.Exp(float64(-(next - b) * v))
		}
	}
}

// nextStep returns the next b, found by bisection: the one for which the weights w of the values have (Σ w)² / Σ
// w² = keepWeight·size. Some value must be above 0.
func nextStep(values []float64, b float64, weights []float64) float64 {
	least := slices.Min(values)
	effective := func(step float64) float64 {
		sum, squares := 0.0, 0.0
		for k, v := range values {
			weights[k] = portable.Exp(float64(-step * (v - least)))
			sum += weights[k]
			squares += float64(weights[k] * weights[k])
		}
		return sum * sum / squares / float64(len(values))
	}
	// If all values are equal, no step changes the effective size. The step then ends at a mean weight of e⁻³.
	lo, hi := 0.0, 1.0
	for effective(hi) > keepWeight {
		lo, hi = hi, float64(2*hi)
		if lo*least > 3 {
			return b + 3/least
		}
	}
	for range 50 {
		if mid := float64((lo + hi) / 2); effective(mid) > keepWeight {
			lo = mid
		} else {
			hi = mid
		}
	}
	return b + hi
}

// resample replaces the members by as many draws from them in proportion to weights, with a single uniform number.
// Member k occurs ⌊size·w_k/Σw⌋ times or once more (Kitagawa 1996).
func (g *group) resample(r Rand, weights []float64, sum float64) {
	size := len(g.members)
	offset := float64(float64(r.Intn(1<<30)) / (1 << 30))
	members := make([]Composition, 0, size)
	below := 0.0
	for k, w := range weights {
		below += float64(w / sum * float64(size))
		for float64(len(members))+offset < below && len(members) < size {
			x := g.members[k]
			members = append(members, Composition{slices.Clone(x.Ingredients), slices.Clone(x.Amounts)})
		}
	}
	for k := len(weights) - 1; len(members) < size; { // rounding of the sum can leave the last members out
		for weights[k] == 0 {
			k--
		}
		x := g.members[k]
		members = append(members, Composition{slices.Clone(x.Ingredients), slices.Clone(x.Amounts)})
	}
	g.members = members
}
