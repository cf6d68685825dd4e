package diagnose

import (
	"fmt"
	"math"
)

// A sample holds the draws of a set of chains in one block of memory, with buffers for computing statistics. The
// zero value is ready for loadChains; a second call of loadChains reuses all buffers.
type sample struct {
	chainCount, drawsPerChain int       // number of chains, and number of draws in each chain
	halfLength                int       // number of draws in each half of a chain
	allDraws                  []float64 // all draws, chain after chain
	min, max                  float64   // least and greatest draw

	ranking         ranking
	scores          []float64   // item k is the normal score of allDraws[k]
	essValues       []float64   // item k is computed from allDraws[k]; buffer for numbers whose effective sample size is wanted
	halves          [][]float64 // buffer: result of splitHalves
	halfMoments     []moments   // buffer: moments of each half chain
	autocovariances autocovarianceTable
	geyerESS        geyerESS
}

// loadChains copies the chains into s. loadChains fails with ErrNoDraws, ErrRagged or ErrNotFinite.
func (s *sample) loadChains(chains [][]float64) error {
	s.chainCount, s.drawsPerChain = len(chains), 0
	if len(chains) == 0 || len(chains[0]) == 0 {
		return ErrNoDraws
	}
	s.drawsPerChain = len(chains[0])
	s.halfLength = s.drawsPerChain / 2
	for c, chain := range chains {
		if len(chain) != s.drawsPerChain {
			return fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, s.drawsPerChain, len(chain), c)
		}
	}
	s.allDraws = resize(s.allDraws, s.chainCount*s.drawsPerChain)[:0]
	s.min, s.max = math.Inf(1), math.Inf(-1)
	for c, chain := range chains {
		for d, x := range chain {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return notFiniteError(c, d, x)
			}
			if x < s.min {
				s.min = x
			}
			if x > s.max {
				s.max = x
			}
		}
		s.allDraws = append(s.allDraws, chain...)
	}
	s.ranking.isSorted = false
	return nil
}

// constantTolerance is the maximum relative difference at which numbers count as equal. Scores of recipes with
// equal costs, for example, can differ in the last bits because the costs were summed in different orders.
const constantTolerance = 1e-12

// IsConstant reports whether numbers from least to greatest are all equal up to rounding. The variance of such
// numbers is rounding error, and any standard error computed from the variance is meaningless.
//
// The R package posterior and ArviZ call draws constant if the draws differ by less than 2.2e-16 and 1e-15,
// whatever the unit of the draws. IsConstant requires a relative difference of at most 1e-12, so that no result
// depends on the unit of the draws.
func IsConstant(least, greatest float64) bool {
	apart := greatest - least
	return least == greatest || !math.IsInf(apart, 0) && apart <= float64(constantTolerance*math.Max(math.Abs(least), math.Abs(greatest)))
}

// isConstant reports whether all draws are equal up to rounding.
func (s *sample) isConstant() bool { return IsConstant(s.min, s.max) }

// checkDraws returns the reason why statistics that need at least minDraws draws in each chain cannot be
// computed, or nil.
func (s *sample) checkDraws(minDraws int) error {
	if s.drawsPerChain < minDraws {
		return fewDrawsError(s.drawsPerChain, minDraws)
	}
	if s.isConstant() {
		return ErrConstant
	}
	return nil
}

// splitHalves returns the two halves of each chain in x. The slice x has one number for each draw in the order
// of s.allDraws. The result is valid until the next call.
func (s *sample) splitHalves(x []float64) [][]float64 {
	s.halves = s.halves[:0]
	for c := range s.chainCount {
		chain := x[c*s.drawsPerChain : (c+1)*s.drawsPerChain]
		s.halves = append(s.halves, chain[:s.halfLength], chain[s.drawsPerChain-s.halfLength:])
	}
	return s.halves
}

// mean returns the mean of all draws.
func (s *sample) mean() (float64, error) {
	return momentsOf(s.allDraws).meanOrError()
}

// sd returns the standard deviation of all S draws, with divisor S−1.
func (s *sample) sd() (float64, error) {
	if len(s.allDraws) < 2 {
		return math.NaN(), fewDrawsError(s.drawsPerChain, 2)
	}
	if s.isConstant() {
		return 0, nil
	}
	return momentsOf(s.allDraws).sd()
}
