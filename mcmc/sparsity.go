package mcmc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/portable"
)

// A Sparsity is a probability distribution y_sparse(n) of the number n of used ingredients, up to a
// constant factor. [Sparsity.On] restricts it to the numbers that a space allows, which makes it a
// [Law].
//
// The zero value gives no n any mass.
type Sparsity struct {
	weightOf   func(n int) float64 // returns the weight of n; nil for a mixture or a power
	components []Component         // the components of a mixture; nil for other laws
	powerBase  *Sparsity           // the Sparsity that is raised to a power; nil for other laws
	power      float64             // the exponent of powerBase
	err        error               // says which parameter is invalid; nil if the law is valid
}

// A Component is one law of a [Mixture] with its weight.
type Component struct {
	Weight float64
	Law    Sparsity
}

// Uniform returns the law that gives every n from lo to hi the same weight.
func Uniform(lo, hi int) Sparsity {
	if lo > hi {
		return Sparsity{err: fmt.Errorf("uniform from %d to %d is empty: the first must not be above the second", lo, hi)}
	}
	return Sparsity{weightOf: func(n int) float64 {
		if lo <= n && n <= hi {
			return 1
		}
		return 0
	}}
}

// Table returns the law that gives each n the weight weights[n], or 0 if n is not a key.
func Table(weights map[int]float64) Sparsity {
	for _, n := range slices.Sorted(maps.Keys(weights)) {
		if err := checkWeight(weights[n]); err != nil {
			return Sparsity{err: fmt.Errorf("the weight of n = %d %w", n, err)}
		}
	}
	weights = maps.Clone(weights)
	return Sparsity{weightOf: func(n int) float64 { return weights[n] }}
}

// Normal returns the law ∝ exp(−(n−mean)²/(2 sd²)). The argument sd must be positive.
func Normal(mean, sd float64) Sparsity {
	if math.IsNaN(mean) || math.IsInf(mean, 0) || !(sd > 0) || math.IsInf(sd, 0) {
		return Sparsity{err: fmt.Errorf("normal with mean %v and sd %v: the mean must be finite, and the sd finite and above 0", mean, sd)}
	}
	return Sparsity{weightOf: func(n int) float64 {
		z := (float64(n) - mean) / sd
		return portable.Exp(float64(-z * z / 2))
	}}
}

// Exponential returns the law ∝ exp(−rate·n) for n ≥ 1. The rate may be negative.
func Exponential(rate float64) Sparsity {
	if math.IsNaN(rate) || math.IsInf(rate, 0) {
		return Sparsity{err: fmt.Errorf("exponential with rate %v: the rate must be finite", rate)}
	}
	// Counted from n = 1 so that a steep rate does not underflow everywhere.
	return Sparsity{weightOf: func(n int) float64 { return portable.Exp(float64(-rate * float64(n-1))) }}
}

// Mixture returns the law Σ w_c·y_c / Σ w_c. Each component y_c is first normalised by itself, so
// its weight w_c is proportional to its share of the total mass.
func Mixture(components ...Component) Sparsity {
	if len(components) == 0 {
		return Sparsity{err: errors.New("the mixture has no components")}
	}
	for c, p := range components {
		if err := checkWeight(p.Weight); err != nil {
			return Sparsity{err: fmt.Errorf("the weight of component %d %w", c+1, err)}
		}
		if p.Law.err != nil {
			return Sparsity{err: fmt.Errorf("component %d: %w", c+1, p.Law.err)}
		}
	}
	return Sparsity{components: slices.Clone(components)}
}

// Power returns the law y(n)^c, where c ≥ 0 is the paper's weight c_sparse of the sparsity law.
//
// The power applies to y only, not to the division by |X_n|, the number of compositions with n
// ingredients. So without objectives the number of ingredients has the distribution y(n)^c itself.
// With c = 0 it is uniform on the numbers n to which y gives mass. An n without mass in y has no
// mass in the power.
func Power(y Sparsity, c float64) Sparsity {
	if y.err != nil {
		return y
	}
	if err := checkWeight(c); err != nil {
		return Sparsity{err: fmt.Errorf("the weight of the sparsity law %w", err)}
	}
	return Sparsity{powerBase: &y, power: c}
}

// ErrNoMass is the error of a sparsity law that gives no mass to any number of ingredients that the
// space allows.
var ErrNoMass = errors.New("the sparsity law has no mass on any possible number of ingredients")

// A Law is the probability distribution of the number n of used ingredients on a space, for n from
// 1 to [Space.MaxUsed].
type Law struct {
	minSize       int         // the smallest n of positive probability
	maxSize       int         // the largest n of positive probability
	probabilities []float64   // probabilities[k] is the probability of minSize+k ingredients
	aliasTable    *aliasTable // draws an index of probabilities in constant time
}

// On returns the law y restricted to the numbers of ingredients 1..min(N, M) of the space, and
// normalised. A probability below 2⁻¹⁰²² (2e-308) counts as 0.
func (y Sparsity) On(s *Space) (*Law, error) {
	if y.err != nil {
		return nil, y.err
	}
	p, err := y.normalisedProbabilities(min(s.ingredients, s.total))
	if err != nil {
		return nil, err
	}
	return newTrimmedLaw(p), nil
}

// An InfeasibleError is an [ErrNoMass]: for every number of ingredients to which the sparsity law
// gives mass, the rules forbid all compositions.
type InfeasibleError struct {
	WantedSizes   []int // the numbers of ingredients to which the sparsity law gives mass
	PossibleSizes []int // the numbers of ingredients for which the rules allow a composition, up to the largest counted
	Measured      bool  // whether PossibleSizes relies on random draws, which may miss a possible number
}

func (e *InfeasibleError) Error() string {
	text := fmt.Sprintf("the rules leave compositions of %s ingredients, and the sparsity law wants %s", sizesText(e.PossibleSizes), sizesText(e.WantedSizes))
	if len(e.PossibleSizes) == 0 {
		text = fmt.Sprintf("the rules leave no composition at all, and the sparsity law wants such of %s ingredients", sizesText(e.WantedSizes))
	}
	if e.Measured {
		text += "; as not all rules can be counted, that is as far as draws have found"
	}
	return text
}

func (e *InfeasibleError) Unwrap() error { return ErrNoMass }

// sizesText lists ascending numbers, with consecutive numbers as a range: "1, 3 to 5".
func sizesText(sizes []int) string {
	var parts []string
	for k := 0; k < len(sizes); {
		end := k
		for end+1 < len(sizes) && sizes[end+1] == sizes[end]+1 {
			end++
		}
		if end == k {
			parts = append(parts, strconv.Itoa(sizes[k]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", sizes[k], sizes[end]))
		}
		k = end + 1
	}
	return strings.Join(parts, ", ")
}

// normalisedProbabilities returns, at index n−1, the probability of n ingredients, for n from 1 to
// maxUsed.
func (y Sparsity) normalisedProbabilities(maxUsed int) ([]float64, error) {
	p := make([]float64, maxUsed)
	if y.components != nil {
		shares := 0.0
		for c, part := range y.components {
			if part.Weight == 0 {
				continue
			}
			q, err := part.Law.normalisedProbabilities(maxUsed)
			if err != nil {
				return nil, fmt.Errorf("component %d: %w", c+1, err)
			}
			for k := range p {
				p[k] += float64(part.Weight * q[k])
			}
			shares += part.Weight
		}
		if shares == 0 {
			return nil, fmt.Errorf("%w, which are 1 to %d", ErrNoMass, maxUsed)
		}
	} else if y.powerBase != nil {
		q, err := y.powerBase.normalisedProbabilities(maxUsed)
		if err != nil {
			return nil, err
		}
		peak := slices.Max(q) // so that a high power does not underflow everywhere
		for k := range p {
			if q[k] > 0 {
				p[k] = portable.Pow(q[k]/peak, y.power)
			}
		}
	} else if y.weightOf != nil {
		for k := range p {
			p[k] = y.weightOf(k + 1)
		}
	}
	// Weights near the largest float64 must not overflow in the sum.
	top := slices.Max(p)
	if top == 0 {
		return nil, fmt.Errorf("%w, which are 1 to %d", ErrNoMass, maxUsed)
	}
	if math.IsInf(top, 1) {
		return nil, errors.New("the weights of the sparsity law overflow: scale them down")
	}
	sum := 0.0
	for k := range p {
		p[k] /= top
		sum += p[k]
	}
	for k := range p {
		// Smaller numbers lose digits, and ratios of neighbours overflow.
		if p[k] /= sum; p[k] < minSizeProbability {
			p[k] = 0
		}
	}
	return p, nil
}

// newTrimmedLaw returns the law in which n has the probability p[n−1]. It drops zeros at both ends.
// At least one probability must be positive.
func newTrimmedLaw(p []float64) *Law {
	lo, hi := 0, len(p)-1
	for p[lo] == 0 {
		lo++
	}
	for p[hi] == 0 {
		hi--
	}
	p = slices.Clone(p[lo : hi+1])
	return &Law{minSize: lo + 1, maxSize: hi + 1, probabilities: p, aliasTable: newAliasTable(p)}
}

// sizesWithMass returns the numbers n of positive probability, in ascending order.
func (l *Law) sizesWithMass() []int {
	var all []int
	for k, p := range l.probabilities {
		if p > 0 {
			all = append(all, l.minSize+k)
		}
	}
	return all
}

// restrictTo returns the law restricted to the numbers n for which possible(n) is true, normalised
// again. It returns nil if no such n has mass.
func (l *Law) restrictTo(possible func(n int) bool) *Law {
	p := make([]float64, l.maxSize)
	sum := 0.0
	for n := l.minSize; n <= l.maxSize; n++ {
		if possible(n) {
			p[n-1] = l.P(n)
			sum += p[n-1]
		}
	}
	if sum == 0 {
		return nil
	}
	for k := range p {
		p[k] /= sum
	}
	return newTrimmedLaw(p)
}

// P returns the probability of n used ingredients.
func (l *Law) P(n int) float64 {
	if n < l.minSize || n > l.maxSize {
		return 0
	}
	return l.probabilities[n-l.minSize]
}

// draw returns a random number of used ingredients, drawn from the law.
func (l *Law) draw(r *Rand) int {
	if len(l.probabilities) == 1 {
		return l.minSize
	}
	return l.minSize + l.aliasTable.draw(r)
}

// Support returns the smallest and the largest number of ingredients that has positive probability.
func (l *Law) Support() (lo, hi int) { return l.minSize, l.maxSize }

// FirstGap returns the first n of probability 0 that lies between two numbers of positive
// probability. The result found is false if there is no such n. Kernels that change n by at most 1
// cannot cross a gap.
func (l *Law) FirstGap() (n int, found bool) {
	if k := slices.Index(l.probabilities, 0); k >= 0 {
		return l.minSize + k, true
	}
	return 0, false
}

// Mean returns the mean number of used ingredients.
func (l *Law) Mean() float64 {
	m := 0.0
	for k, p := range l.probabilities {
		m += float64(p * float64(l.minSize+k))
	}
	return m
}
