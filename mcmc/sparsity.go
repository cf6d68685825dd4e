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

// A Sparsity is a law y_sparse(n) for the number of ingredients, given up to
// a constant factor. It becomes a [Law] on the sizes that a space has.
//
// The zero value has no mass anywhere.
type Sparsity struct {
	weight func(n int) float64
	parts  []Component // the components of a mixture; nil for other laws
	base   *Sparsity   // the law that a power raises; nil for other laws
	power  float64
	err    error // what is wrong with the parameters
}

// A Component is one law of a mixture and its share.
type Component struct {
	Weight float64
	Law    Sparsity
}

// Uniform is the law that gives the same weight to every n from lo to hi.
func Uniform(lo, hi int) Sparsity {
	if lo > hi {
		return Sparsity{err: fmt.Errorf("uniform from %d to %d is empty: the first must not be above the second", lo, hi)}
	}
	return Sparsity{weight: func(n int) float64 {
		if lo <= n && n <= hi {
			return 1
		}
		return 0
	}}
}

// Table is the law with the given weights; sizes not in it have none.
func Table(weights map[int]float64) Sparsity {
	for _, n := range slices.Sorted(maps.Keys(weights)) {
		if err := checkWeight(weights[n]); err != nil {
			return Sparsity{err: fmt.Errorf("the weight of n = %d %w", n, err)}
		}
	}
	weights = maps.Clone(weights)
	return Sparsity{weight: func(n int) float64 { return weights[n] }}
}

// Normal is the law ∝ exp(−(n−mean)²/(2 sd²)), sd > 0.
func Normal(mean, sd float64) Sparsity {
	if math.IsNaN(mean) || math.IsInf(mean, 0) || !(sd > 0) || math.IsInf(sd, 0) {
		return Sparsity{err: fmt.Errorf("normal with mean %v and sd %v: the mean must be finite, and the sd finite and above 0", mean, sd)}
	}
	return Sparsity{weight: func(n int) float64 {
		z := (float64(n) - mean) / sd
		return portable.Exp(float64(-z * z / 2))
	}}
}

// Exponential is the law ∝ exp(−rate·n), n ≥ 1.
func Exponential(rate float64) Sparsity {
	if math.IsNaN(rate) || math.IsInf(rate, 0) {
		return Sparsity{err: fmt.Errorf("exponential with rate %v: the rate must be finite", rate)}
	}
	// Counted from n = 1 so that a steep rate does not underflow everywhere.
	return Sparsity{weight: func(n int) float64 { return portable.Exp(float64(-rate * float64(n-1))) }}
}

// Mixture is the law Σ w_c·y_c / Σ w_c of its components, each normalised on
// its own before it is weighed, so that a weight is a share.
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
	return Sparsity{parts: slices.Clone(components)}
}

// Power is the law y(n)^c, c ≥ 0. c is the paper's weight of the sparsity, c_sparse.
//
// It applies to the law alone and not to the division by |X_n|, so without properties the law of n
// is y(n)^c itself. c = 0 gives the uniform law on the sizes that have mass. A size without mass
// stays without.
func Power(y Sparsity, c float64) Sparsity {
	if y.err != nil {
		return y
	}
	if err := checkWeight(c); err != nil {
		return Sparsity{err: fmt.Errorf("the weight of the sparsity law %w", err)}
	}
	return Sparsity{base: &y, power: c}
}

// ErrNoMass is returned when a sparsity law gives no weight to any size of the space.
var ErrNoMass = errors.New("the sparsity law has no mass on any possible number of ingredients")

// A Law is a sparsity law normalised on 1..MaxUsed of a space.
type Law struct {
	lo, hi int       // the smallest and the largest n with mass
	p      []float64 // the probabilities of the sizes lo..hi
	alias  *aliasTable
}

// On normalises the law on 1..min(N, M) of the space. A probability below
// 2⁻¹⁰²² (2e-308) counts as 0.
func (y Sparsity) On(s *Space) (*Law, error) {
	if y.err != nil {
		return nil, y.err
	}
	p, err := y.normalised(min(s.ingredients, s.total))
	if err != nil {
		return nil, err
	}
	return trim(p), nil
}

// An InfeasibleError is returned when rules leave no composition of a size to which the sparsity
// law gives mass. It is an [ErrNoMass].
type InfeasibleError struct {
	Wanted   []int // the sizes to which the law gives mass
	Possible []int // the sizes that the rules leave, up to the largest counted
	Measured bool  // rules were measured by draws, which may miss a size that rules leave
}

func (e *InfeasibleError) Error() string {
	text := fmt.Sprintf("the rules leave compositions of %s ingredients, and the sparsity law wants %s", sizesText(e.Possible), sizesText(e.Wanted))
	if len(e.Possible) == 0 {
		text = fmt.Sprintf("the rules leave no composition at all, and the sparsity law wants such of %s ingredients", sizesText(e.Wanted))
	}
	if e.Measured {
		text += "; as not all rules can be counted, that is as far as draws have found"
	}
	return text
}

func (e *InfeasibleError) Unwrap() error { return ErrNoMass }

// sizesText lists rising sizes, consecutive ones as a range.
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

// normalised returns the probabilities of 1..maxUsed, at index n−1.
func (y Sparsity) normalised(maxUsed int) ([]float64, error) {
	p := make([]float64, maxUsed)
	if y.parts != nil {
		shares := 0.0
		for c, part := range y.parts {
			if part.Weight == 0 {
				continue
			}
			q, err := part.Law.normalised(maxUsed)
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
	} else if y.base != nil {
		q, err := y.base.normalised(maxUsed)
		if err != nil {
			return nil, err
		}
		peak := slices.Max(q) // so that a high power does not underflow everywhere
		for k := range p {
			if q[k] > 0 {
				p[k] = portable.Pow(q[k]/peak, y.power)
			}
		}
	} else if y.weight != nil {
		for k := range p {
			p[k] = y.weight(k + 1)
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
		if p[k] /= sum; p[k] < minMass {
			p[k] = 0
		}
	}
	return p, nil
}

// trim makes a Law from the probabilities of 1, 2, …, some of which are positive.
func trim(p []float64) *Law {
	lo, hi := 0, len(p)-1
	for p[lo] == 0 {
		lo++
	}
	for p[hi] == 0 {
		hi--
	}
	p = slices.Clone(p[lo : hi+1])
	return &Law{lo: lo + 1, hi: hi + 1, p: p, alias: newAliasTable(p)}
}

// sizes returns the sizes with mass.
func (l *Law) sizes() []int {
	var all []int
	for k, p := range l.p {
		if p > 0 {
			all = append(all, l.lo+k)
		}
	}
	return all
}

// restrictTo returns the law on the possible sizes, nil if there are none.
func (l *Law) restrictTo(possible func(n int) bool) *Law {
	p := make([]float64, l.hi)
	sum := 0.0
	for n := l.lo; n <= l.hi; n++ {
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
	return trim(p)
}

// P returns the probability of n ingredients; 0 outside the support.
func (l *Law) P(n int) float64 {
	if n < l.lo || n > l.hi {
		return 0
	}
	return l.p[n-l.lo]
}

// draw draws a size.
func (l *Law) draw(r *Rand) int {
	if len(l.p) == 1 {
		return l.lo
	}
	return l.lo + l.alias.draw(r)
}

// Support returns the smallest and the largest n that have mass.
func (l *Law) Support() (lo, hi int) { return l.lo, l.hi }

// Gap returns the first n inside the support that has no mass. Kernels that
// change n by at most 1 cannot cross one.
func (l *Law) Gap() (n int, found bool) {
	if k := slices.Index(l.p, 0); k >= 0 {
		return l.lo + k, true
	}
	return 0, false
}

// Mean returns the mean of n.
func (l *Law) Mean() float64 {
	m := 0.0
	for k, p := range l.p {
		m += float64(p * float64(l.lo+k))
	}
	return m
}
