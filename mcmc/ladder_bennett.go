package mcmc

import (
	"math"

	"kir/internal/portable"
)

// ladderSums holds sums over scans, for one ladder of replicas from β = 0 to β = 1. The replica at
// β is on a rung of the ladder, and a step leads from a rung to the next.
type ladderSums struct {
	scanCount                    int64     // number of scans so far
	rejectionSums                []float64 // by step: Σ over scans of 1 − the probability of a swap
	logScoreSums                 []float64 // by rung: Σ V over the scans in which V, the log score, is finite
	forbiddenCounts              []int64   // by rung: number of scans in which V is −Inf
	restartCount, roundTripCount int64     // number of restarts and of round trips; see [LadderStatistics]

	// batches holds the sums of Bennett's estimate. For step k and an offset C, let d be the rise
	// of the log density from rung k to rung k+1, and let f(u) = 1/(1 + e^u), which is bounded.
	// Then for any C
	//
	//	Z_{k+1}/Z_k = e^C · E_k[f(C − d)] / E_{k+1}[f(d − C)].
	//
	// Each batch sums the same number of scans. If there are too many batches, pairs of batches are
	// merged. Batches are indexed by batch and step.
	batches    []bennettSums
	batchScans int64 // number of scans in a full batch
}

// bennettSums holds two sums over scans for one step: the sum of f(C − d) at the lower rung, and
// the sum of f(d − C) at the upper rung. See [ladderSums] for f, C and d.
type bennettSums struct{ lower, upper float64 }

// maxBatches is the number of batches at which pairs of batches are merged.
const maxBatches = 64

// steps returns the number of steps of the ladder, one less than its rungs.
func (s *ladderSums) steps() int { return len(s.rejectionSums) }

// reset clears the sums and makes room for the given number of steps.
func (s *ladderSums) reset(steps int) {
	*s = ladderSums{
		rejectionSums:   make([]float64, steps),
		logScoreSums:    make([]float64, steps+1),
		forbiddenCounts: make([]int64, steps+1),
		batches:         make([]bennettSums, 0, maxBatches*steps),
		batchScans:      1,
	}
}

// beginScan counts a new scan and adds a new batch if the last batch is full.
func (s *ladderSums) beginScan() {
	steps := s.steps()
	if s.scanCount%s.batchScans == 0 {
		if s.scanCount/s.batchScans == maxBatches {
			for b := range maxBatches / 2 {
				for k := range steps {
					p, q := s.batches[2*b*steps+k], s.batches[(2*b+1)*steps+k]
					s.batches[b*steps+k] = bennettSums{p.lower + q.lower, p.upper + q.upper}
				}
			}
			s.batches = s.batches[:maxBatches/2*steps]
			s.batchScans *= 2
		}
		s.batches = s.batches[:len(s.batches)+steps]
		clear(s.batches[len(s.batches)-steps:])
	}
	s.scanCount++
}

// addStep adds one scan of step k to the sums. The argument logScore is V at the lower rung, and
// swap is the probability of a swap. The arguments lower and upper are d − C for the states at the
// lower and the upper rung; see [ladderSums].
func (s *ladderSums) addStep(k int, logScore, swap, lower, upper float64) {
	s.addScore(k, logScore)
	s.rejectionSums[k] += 1 - swap
	b := &s.batches[len(s.batches)-s.steps()+k]
	b.lower += 1 / (1 + portable.Exp(-lower))
	b.upper += 1 / (1 + portable.Exp(upper))
}

// addScore adds the log score of one scan at rung k to the sums.
func (s *ladderSums) addScore(k int, logScore float64) {
	if logScore == negInf {
		s.forbiddenCounts[k]++
	} else {
		s.logScoreSums[k] += logScore
	}
}

// endScan adds the log score at the last rung to the sums.
func (s *ladderSums) endScan(logScore float64) { s.addScore(s.steps(), logScore) }

// avoidableRejectionRate returns the rejection rate of swaps of step k in the scans without a
// forbidden composition at the lower rung. Swaps with a forbidden composition are always rejected,
// however the β are spaced.
func (s *ladderSums) avoidableRejectionRate(k int) float64 {
	if allowed := s.scanCount - s.forbiddenCounts[k]; allowed > 0 {
		return max(0, s.rejectionSums[k]-float64(s.forbiddenCounts[k])) / float64(allowed)
	}
	return 0
}

// inefficiency returns Σ r/(1−r) over the steps, where r is the rejection rate of a step. A round
// trip takes about 2 + 2·Σ r/(1−r) scans (Syed et al. 2022).
func (s *ladderSums) inefficiency() float64 {
	sum := 0.0
	for _, rejected := range s.rejectionSums {
		sum += rejected / (float64(s.scanCount) - rejected)
	}
	return sum
}

// logZRatio returns log(Z_{k+1}/Z_k) less the offset of step k, or NaN if no scan determines it.
func (s *ladderSums) logZRatio(k int) float64 {
	sum := bennettSums{}
	for ; k < len(s.batches); k += s.steps() {
		sum.lower += s.batches[k].lower
		sum.upper += s.batches[k].upper
	}
	if sum.lower == 0 || sum.upper == 0 {
		return math.NaN()
	}
	return portable.Log(sum.lower) - portable.Log(sum.upper)
}

// logZError returns the standard error of log Z, to first order, from the spread between full
// batches. It returns NaN if there are too few batches.
func (s *ladderSums) logZError() float64 {
	steps := s.steps()
	if steps == 0 {
		return 0
	}
	full := int(s.scanCount / s.batchScans)
	if full < maxBatches/2 {
		return math.NaN()
	}
	means := make([]bennettSums, steps)
	for b := range full {
		for k := range steps {
			means[k].lower += s.batches[b*steps+k].lower / float64(full)
			means[k].upper += s.batches[b*steps+k].upper / float64(full)
		}
	}
	squares := 0.0
	for b := range full {
		d := 0.0
		for k := range steps {
			d += s.batches[b*steps+k].lower/means[k].lower - s.batches[b*steps+k].upper/means[k].upper
		}
		squares += float64(d * d) // d is a deviation: over all batches, its mean is 0
	}
	// A composition that no scan has met may still have a share of up to 1/scans.
	return max(math.Sqrt(squares/float64(full)/float64(full-1)), 1/float64(s.scanCount))
}
