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
	// keptEffectiveShare is the fraction of a population's effective size that each annealing step retains.
	keptEffectiveShare = 0.6
	// zeroShareToFinish is the fraction of a population that must satisfy all sums before the other members are
	// dropped.
	zeroShareToFinish = 0.4
	// maxAnnealingSteps is the maximum number of annealing steps. 400 steps that retain 0.6 each reach shares of
	// 10⁻⁸⁸.
	maxAnnealingSteps = 400
	// maxExponent is the value of b·v above which annealing gives up, where b is the inverse temperature and v
	// the least violation in a population: weights of e⁻⁵⁰ carry no information.
	maxExponent = 50
)

// annealGroups anneals, for each size, the populations with the indices from..to−1, until the members of the
// populations keep all rules. If from is 0, annealGroups first determines the annealing schedule of each size. A
// size is a number of used ingredients.
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
			if !w.schedule.reachedZero {
				return nil
			}
			for g := from; g < to; g++ {
				r := m.options.Stream(w.firstStream + 1 + uint64(g))
				one, err := m.annealPopulation(ctx, w, r, populationSize, &w.schedule, true)
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

// preliminaryMeasurement returns a copy of the measurement for a rough result. In the copy the populations
// annealed so far stand in for all populations.
func (m *measurement) preliminaryMeasurement() *measurement {
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

// scaleSums sets the scale of each sum to 1 over the standard deviation of the sum among random compositions. So
// violations of different sums are comparable.
func (m *measurement) scaleSums() {
	r := m.options.Stream(0)
	walker := newWalker(m.rules)
	sampler := m.problem.Sampler.Clone()
	var x Composition
	values := make([][]float64, len(m.rules.sumBounds))
	for _, w := range m.sizes {
		if math.IsInf(w.logCount, -1) {
			continue
		}
		for range 32 {
			if !drawCountable(sampler, r, w.n, &x) {
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
			m.rules.sumBounds[k].scale = 1 / math.Sqrt(squares)
		}
	}
}

// drawCountable sets x to a uniform composition of n ingredients that keeps the countable rules. drawCountable
// returns false if there is no such composition.
func drawCountable(s *count.Sampler, r Rand, n int, x *Composition) bool {
	var err error
	x.Ingredients, x.Amounts, err = s.Draw(r, n, x.Ingredients[:0], x.Amounts[:0])
	return !errors.Is(err, count.ErrEmpty)
}

// runPilot determines the annealing schedule of a size with a pilot population, which is used for nothing else.
func (m *measurement) runPilot(ctx context.Context, w *sizeState) error {
	r := m.options.Stream(w.firstStream)
	g, err := m.annealPopulation(ctx, w, r, pilotSize, &w.schedule, false)
	if g != nil {
		w.schedule.pilotMoves = g.moveCount
	}
	return err
}

// annealPopulation draws a population of compositions and anneals the population along the inverse temperatures
// of the schedule s. The parameter size is the number of compositions. Unless fixed is true, annealPopulation
// also determines the inverse temperatures.
func (m *measurement) annealPopulation(ctx context.Context, w *sizeState, r Rand, size int, s *schedule, fixed bool) (*group, error) {
	g := &group{members: make([]Composition, size), weightProduct: 1, random: r}
	walker := newWalker(m.rules)
	sampler := m.problem.Sampler.Clone()
	values := make([]float64, size)
	for k := range g.members {
		if !drawCountable(sampler, r, w.n, &g.members[k]) {
			return g, nil
		}
		walker.load(g.members[k])
		values[k] = float64(float64(walker.totalViolation) / violationQuantum)
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
		} else if countZeros(values) < zeroShareToFinish*float64(size) {
			if step == maxAnnealingSteps || b*slices.Min(values) > maxExponent {
				g.moveCount = walker.moveCount
				return g, nil
			}
			next = nextStep(values, b, weights)
			s.steps = append(s.steps, next)
		} else {
			s.reachedZero = true
		}
		fillWeights(values, b, next, weights)
		sum := 0.0
		for _, x := range weights {
			sum += x
		}
		g.weightProduct = float64(g.weightProduct * (sum / float64(size)))
		if sum == 0 {
			break
		}
		g.resample(r, weights, sum)
		b = next
		for k := range g.members {
			walker.load(g.members[k])
			for range movesPerStep(w.n) {
				walker.makeMove(r, b)
			}
			walker.store(&g.members[k])
			values[k] = float64(float64(walker.totalViolation) / violationQuantum)
		}
		if math.IsInf(b, 1) {
			break
		}
	}
	if g.weightProduct == 0 {
		g.members = nil
	}
	g.moveCount = walker.moveCount
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

// fillWeights sets weights to the weights of a population when the inverse temperature changes from b to next.
// The weight of a member with violation v is exp(−(next−b)·v). If next is infinite, the weight is 1 for v = 0,
// and 0 for any other v.
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

// nextStep returns the inverse temperature that follows b, found by bisection. The weights w of the members,
// whose violations are values, then satisfy (Σ w)² / Σ w² = keptEffectiveShare·size. Some violation must be
// above 0.
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
	for effective(hi) > keptEffectiveShare {
		lo, hi = hi, float64(2*hi)
		if lo*least > 3 {
			return b + 3/least
		}
	}
	for range 50 {
		if mid := float64((lo + hi) / 2); effective(mid) > keptEffectiveShare {
			lo = mid
		} else {
			hi = mid
		}
	}
	return b + hi
}

// resample replaces the members by as many draws from the members in proportion to weights, with a single
// uniform number. Member k occurs ⌊size·w_k/Σw⌋ times or one time more (Kitagawa 1996).
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
