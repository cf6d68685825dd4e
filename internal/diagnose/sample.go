package diagnose

import (
	"fmt"
	"math"
)

// A sample holds a set of chains in one block of memory, with buffers for the figures. The zero value is ready for
// load; a second load reuses all buffers.
type sample struct {
	chains, draws int
	half          int       // number of draws in each half of a chain
	flat          []float64 // all draws, chain after chain
	min, max      float64

	ranking        ranking
	scores         []float64 // normal scores of the draws, in the order of flat
	deviates       []float64 // numbers whose effective sample size is computed, in the order of flat
	halves         [][]float64
	moments        []moments
	fullCovariance denseCovariance
	geyer          geyer
}

// load copies the chains into s. It fails with ErrNoDraws, ErrRagged or ErrNotFinite.
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

// rounding is the greatest relative difference between numbers that count as equal. Scores of recipes with equal
// costs, for example, can differ in the last bits because the costs were summed in different orders.
const rounding = 1e-12

// IsConstant reports whether numbers from least to greatest are all equal up to rounding. Their variance is then
// rounding error, and any standard error computed from it is meaningless.
//
// R's posterior and ArviZ call draws constant if they differ by less than 2.2e-16 and 1e-15, whatever their unit.
// IsConstant requires a relative difference below 1e-12, so that no figure depends on the unit of the statistic.
func IsConstant(least, greatest float64) bool {
	apart := greatest - least
	return least == greatest || !math.IsInf(apart, 0) && apart <= float64(rounding*math.Max(math.Abs(least), math.Abs(greatest)))
}

// constant reports whether all draws are equal up to rounding.
func (s *sample) constant() bool { return IsConstant(s.min, s.max) }

// checkDraws returns the reason why figures that need chains of at least need draws cannot be computed, or nil.
func (s *sample) checkDraws(need int) error {
	if s.draws < need {
		return fewDraws(s.draws, need)
	}
	if s.constant() {
		return ErrConstant
	}
	return nil
}

// splitHalves returns the two halves of each chain in x, one number per draw in the order of s.flat. The result is
// valid until the next call.
func (s *sample) splitHalves(x []float64) [][]float64 {
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
