package diagnose

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// sample is a set of chains in one block of memory, with the buffers that the
// figures need. The zero value is ready for load; a second load reuses all
// buffers.
type sample struct {
	chains, draws int
	half          int       // draws in each half of a chain
	flat          []float64 // chains one after the other
	min, max      float64

	ranking  ranking
	scores   []float64 // normal scores, laid out as flat
	deviates []float64 // what the effective sample size is taken of, laid out as flat
	halves   [][]float64
	moments  []moments
	dense    denseCovariance
	binary   binaryCovariance
	geyer    geyer
}

// load copies the chains. It fails with ErrNoDraws, ErrRagged or ErrNotFinite.
func (s *sample) load(chains [][]float64) error {
	s.chains, s.draws = len(chains), 0
	if len(chains) == 0 || len(chains[0]) == 0 {
		return ErrNoDraws
	}
	s.draws = len(chains[0])
	s.half = s.draws / 2
	for c, chain := range chains {
		if len(chain) != s.draws {
			return fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, s.draws, len(chain), c)
		}
	}
	s.flat = grow(s.flat, s.chains*s.draws)[:0]
	s.min, s.max = math.Inf(1), math.Inf(-1)
	for c, chain := range chains {
		for d, x := range chain {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return notFinite(c, d, x)
			}
			if x < s.min {
				s.min = x
			}
			if x > s.max {
				s.max = x
			}
		}
		s.flat = append(s.flat, chain...)
	}
	s.ranking.sorted = false
	return nil
}

// constant reports whether all draws are equal.
//
// R's posterior and ArviZ call draws constant when they differ by less than
// 2.2e-16 and 1e-15, whatever their unit. Here only draws that are equal are
// constant, so that no figure depends on the unit of the statistic.
func (s *sample) constant() bool { return s.min == s.max }

// ready returns why figures that need chains of at least need draws cannot be
// computed, or nil.
func (s *sample) ready(need int) error {
	if s.draws < need {
		return fewDraws(s.draws, need)
	}
	if s.constant() {
		return ErrConstant
	}
	return nil
}

// split returns the halves of the chains in x, which is laid out as flat. The
// result is valid until the next call.
func (s *sample) split(x []float64) [][]float64 {
	s.halves = s.halves[:0]
	for c := range s.chains {
		chain := x[c*s.draws : (c+1)*s.draws]
		s.halves = append(s.halves, chain[:s.half], chain[s.draws-s.half:])
	}
	return s.halves
}

// mean returns the mean of all draws.
func (s *sample) mean() (float64, error) {
	return momentsOf(s.flat).meanOrError()
}

// sd returns the standard deviation of all draws, with divisor S−1.
func (s *sample) sd() (float64, error) {
	if len(s.flat) < 2 {
		return math.NaN(), fewDraws(s.draws, 2)
	}
	if s.constant() {
		return 0, nil
	}
	return momentsOf(s.flat).sd()
}

// moments are the count, the mean and the sum of squared deviations from it.
type moments struct {
	n             int
	mean, squares float64
}

// sumLength is how many numbers are summed before their sum is added to the sum
// of those before. Long sums lose fewer digits that way.
const sumLength = 128

// momentsOf returns the moments of x in two passes, the second of which
// corrects what rounding left in the first. Equal numbers have a sum of squares
// of exactly 0.
func momentsOf(x []float64) moments {
	if len(x) == 0 {
		return moments{}
	}
	if allEqual(x) {
		return moments{n: len(x), mean: x[0]}
	}
	n := float64(len(x))
	m := sum(x) / n
	var rest, squares float64
	for start := 0; start < len(x); start += sumLength {
		var r, q float64
		for _, v := range x[start:min(start+sumLength, len(x))] {
			d := v - m
			r += d
			q += d * d
		}
		rest += r
		squares += q
	}
	return moments{n: len(x), mean: m + rest/n, squares: math.Max(0, squares-rest*rest/n)}
}

// sum returns the sum of x.
func sum(x []float64) float64 {
	var total float64
	for start := 0; start < len(x); start += sumLength {
		total += floats.Sum(x[start:min(start+sumLength, len(x))])
	}
	return total
}

// merge returns the moments of two sets of numbers together (Chan, Golub and
// LeVeque, Updating formulae and a pairwise algorithm for computing sample
// variances, 1979).
func (m moments) merge(o moments) moments {
	if m.n == 0 {
		return o
	}
	if o.n == 0 {
		return m
	}
	n := m.n + o.n
	d := o.mean - m.mean
	return moments{
		n:       n,
		mean:    m.mean + d*(float64(o.n)/float64(n)),
		squares: m.squares + o.squares + d*d*(float64(m.n)*(float64(o.n)/float64(n))),
	}
}

// meanOrError returns the mean, or ErrScale if the sum overflowed.
func (m moments) meanOrError() (float64, error) {
	if math.IsNaN(m.mean) || math.IsInf(m.mean, 0) {
		return math.NaN(), ErrScale
	}
	return m.mean, nil
}

// sd returns the standard deviation with divisor n−1, of numbers that are not all
// equal.
func (m moments) sd() (float64, error) {
	if m.n < 2 {
		return math.NaN(), fewDraws(m.n, 2)
	}
	v := m.squares / float64(m.n-1)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), ErrScale
	}
	return math.Sqrt(v), nil
}

// allEqual reports whether all numbers in x are equal.
func allEqual(x []float64) bool {
	for _, v := range x[1:] {
		if v != x[0] {
			return false
		}
	}
	return true
}

// grow returns a slice of length n that uses the memory of x if it suffices.
// Its contents are arbitrary.
func grow[T any](x []T, n int) []T {
	if cap(x) >= n {
		return x[:n]
	}
	return make([]T, n)
}
