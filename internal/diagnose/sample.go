package diagnose

import (
	"fmt"
	"math"
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

// rounding is how far numbers may be apart, as a share of the larger, that are the same but
// for rounding: scores of recipes that cost the same may differ in the last bits, as their
// costs were summed in another order.
const rounding = 1e-12

// IsConstant reports whether numbers from the least to the greatest are all the same but for
// rounding. Their variance is that of rounding: no error follows from it, and what is worked
// out as one is unknown.
//
// R's posterior and ArviZ call draws constant when they differ by less than 2.2e-16 and 1e-15,
// whatever their unit. Here they differ by less than 1e-12 of themselves, so that no figure
// depends on the unit of the statistic.
func IsConstant(least, greatest float64) bool {
	apart := greatest - least
	return least == greatest || !math.IsInf(apart, 0) && apart <= float64(rounding*math.Max(math.Abs(least), math.Abs(greatest)))
}

// constant reports whether all draws are the same but for rounding.
func (s *sample) constant() bool { return IsConstant(s.min, s.max) }

// checkDraws returns why figures that need chains of at least need draws cannot be
// computed, or nil.
func (s *sample) checkDraws(need int) error {
	if s.draws < need {
		return fewDraws(s.draws, need)
	}
	if s.constant() {
		return ErrConstant
	}
	return nil
}

// splitHalves returns the halves of the chains in x, which is laid out as flat. The
// result is valid until the next call.
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
