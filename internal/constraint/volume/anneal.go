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
	// keptEffectiveShare is the effective size of a population after each annealing step, as a fraction of the
	// effective size before the step.
	keptEffectiveShare = 0.6
	// zeroShareToFinish is the fraction of a population that must satisfy all sums before annealing finishes by
	// dropping all other members.
	zeroShareToFinish = 0.4
	// maxAnnealingSteps is the maximum number of annealing steps. 400 steps that retain a fraction of 0.6 each
	// reach a fraction of 10⁻⁸⁸.
	maxAnnealingSteps = 400
	// maxExponent is the value of b·v above which annealing gives up. Here b is the inverse temperature, and v is
	// the least violation of the rules in the population. Weights of e⁻⁵⁰ carry no information.
	maxExponent = 50
)

// annealPopulations anneals, for each size, that is, for each number of used ingredients, the populations with the
// indices from..to−1. Annealing moves the members of a population until they keep all rules. If from is 0,
// annealPopulations first determines the annealing schedule of each size.
func (m *measurement) annealPopulations(ctx context.Context, from, to int) error {
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
			if !w.schedule.pilotReachedZero {
				return nil
			}
			for g := from; g < to; g++ {
				r := m.options.Stream(w.firstStreamIndex + 1 + uint64(g))
				one, err := m.annealPopulation(ctx, w, r, populationSize, &w.schedule, true)
				if err != nil {
					return err
				}
				w.populations[g] = one
			}
			return nil
		})
	}
	return work.Wait()
}

// preliminaryMeasurement returns a copy of the measurement from which a rough result can be computed. In the
// copy, the few populations annealed so far are repeated in place of all other populations.
func (m *measurement) preliminaryMeasurement() *measurement {
	own := *m
	own.sizes = nil
	for _, w := range m.sizes {
		one := *w
		for g := range one.populations {
			one.populations[g] = w.populations[g%roughPopulationCount]
		}
		own.sizes = append(own.sizes, &one)
	}
	return &own
}

// scaleSums sets the scale of each sum to 1/σ, where σ is the standard deviation of the sum among random
// compositions. So violations of different sums are comparable.
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
			if !drawCountable(sampler, r, w.usedCount, &x) {
				break
			}
			walker.load(x)
			for k := range walker.sums {
				values[k] = append(values[k], float64(walker.sums[k].value))
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

// drawCountable sets x to a composition of n ingredients, drawn uniformly from the compositions that keep the
// countable rules. drawCountable returns false if there is no such composition.
func drawCountable(s *count.Sampler, r Rand, n int, x *Composition) bool {
	var err error
	x.Ingredients, x.Amounts, err = s.Draw(r, n, x.Ingredients[:0], x.Amounts[:0])
	return !errors.Is(err, count.ErrEmpty)
}

// runPilot determines the annealing schedule of a size with a pilot population, whose compositions are then
// dropped.
func (m *measurement) runPilot(ctx context.Context, w *sizeState) error {
	r := m.options.Stream(w.firstStreamIndex)
	g, err := m.annealPopulation(ctx, w, r, pilotSize, &w.schedule, false)
	if g != nil {
		w.schedule.pilotMoves = g.moveCount
	}
	return err
}

// annealPopulation draws a population of compositions and anneals the population along the inverse temperatures
// of the schedule s. The parameter size is the number of compositions. If fixedSchedule is false,
// annealPopulation chooses the inverse temperatures and adds each to the schedule.
func (m *measurement) annealPopulation(ctx context.Context, w *sizeState, r Rand, size int, s *schedule, fixedSchedule bool) (*population, error) {
	g := &population{members: make([]Composition, size), weightProduct: 1, random: r}
	walker := newWalker(m.rules)
	sampler := m.problem.Sampler.Clone()
	values := make([]float64, size)
	for k := range g.members {
		if !drawCountable(sampler, r, w.usedCount, &g.members[k]) {
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
		if fixedSchedule {
			if step < len(s.inverseTemperatures) {
				next = s.inverseTemperatures[step]
			}
		} else if countZeros(values) < zeroShareToFinish*float64(size) {
			if step == maxAnnealingSteps || b*slices.Min(values) > maxExponent {
				g.moveCount = walker.moveCount
				return g, nil
			}
			next = nextStep(values, b, weights)
			s.inverseTemperatures = append(s.inverseTemperatures, next)
		} else {
			s.pilotReachedZero = true
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
			for range movesPerStep(w.usedCount) {
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

// fillWeights computes the weights of the members of a population when the inverse temperature changes from b to
// next. Item k of values is the violation v of member k, and item k of weights becomes exp(−(next−b)·v). If next
// is infinite, the weight is 1 for v = 0, and 0 for any other v.
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

// nextStep returns the inverse temperature of the next annealing step, found by bisection. Item k of values is
// the violation of member k at present; some violation must be above 0. The new inverse temperature is such that
// the weights w of the members satisfy (Σ w)² / Σ w² = keptEffectiveShare·size. The slice weights is a buffer.
func nextStep(values []float64, inverseTemperature float64, weights []float64) float64 {
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
			return inverseTemperature + 3/least
		}
	}
	for range 50 {
		if mid := float64((lo + hi) / 2); effective(mid) > keptEffectiveShare {
			lo = mid
		} else {
			hi = mid
		}
	}
	return inverseTemperature + hi
}

// resample replaces the members by an equal number of copies of members, drawn in proportion to weights with a
// single uniform random number. The parameter sum is the sum of the weights. Member k occurs ⌊size·w_k/sum⌋ times
// or one time more (Kitagawa 1996).
func (g *population) resample(r Rand, weights []float64, sum float64) {
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
