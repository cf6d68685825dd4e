package mcmc

import (
	"math"

	"kir/internal/portable"
)

// ladderSums holds sums over scans for a ladder of replicas from β = 0 to β = 1. A rung of the
// ladder is one β, and step k leads from rung k to rung k+1. In a scan all replicas move, and then
// neighbours may swap.
type ladderSums struct {
	scanCount       int64     // number of scans in the sums
	rejectionSums   []float64 // rejectionSums[k] is the sum over scans of 1 − the probability of a swap between the rungs k and k+1
	logScoreSums    []float64 // logScoreSums[k] is the sum of the log scores at rung k over the scans in which they are finite
	forbiddenCounts []int64   // forbiddenCounts[k] is the number of scans in which the log score at rung k is −Inf
	restartCount    int64     // number of restarts; see [LadderStatistics]
	roundTripCount  int64     // number of round trips; see [LadderStatistics]

	// batches holds the sums of Bennett's estimate. For step k and an offset C, let d be the rise
	// of the log density from rung k to rung k+1, and let f(u) = 1/(1 + e^u), which is bounded.
	// Then for any C
	//
	//	Z_{k+1}/Z_k = e^C · E_k[f(C − d)] / E_{k+1}[f(d − C)].
	//
	// Each batch sums the same number of scans. If there are too many batches, pairs of batches are
	// merged. The sums of batch b and step k are at index b·(number of steps) + k.
	batches       []bennettSums
	scansPerBatch int64 // number of scans in a full batch
}

// bennettSums holds sums over the scans of a batch for one step of a ladder. Let f(u) = 1/(1 +
// e^u). lowerSum is the sum of f(C − d) at the lower rung, and upperSum the sum of f(d − C) at the
// upper rung. [ladderSums] defines C and d.
type bennettSums struct{ lowerSum, upperSum float64 }

// maxBennettBatches is the number of batches of [ladderSums] at which pairs of batches are merged.
const maxBennettBatches = 64

// stepCount returns the number of steps of the ladder, one less than its number of β.
func (s *ladderSums) stepCount() int { return len(s.rejectionSums) }

// reset sets all sums to 0 and makes room for the given number of steps.
func (s *ladderSums) reset(steps int) {
	*s = ladderSums{
		rejectionSums:   make([]float64, steps),
		logScoreSums:    make([]float64, steps+1),
		forbiddenCounts: make([]int64, steps+1),
		batches:         make([]bennettSums, 0, maxBennettBatches*steps),
		scansPerBatch:   1,
	}
}

// beginScan increases the number of scans. If the last batch has enough scans, it adds a new batch.
func (s *ladderSums) beginScan() {
	steps := s.stepCount()
	if s.scanCount%s.scansPerBatch == 0 {
		if s.scanCount/s.scansPerBatch == maxBennettBatches {
			for b := range maxBennettBatches / 2 {
				for k := range steps {
					p, q := s.batches[2*b*steps+k], s.batches[(2*b+1)*steps+k]
					s.batches[b*steps+k] = bennettSums{p.lowerSum + q.lowerSum, p.upperSum + q.upperSum}
				}
			}
			s.batches = s.batches[:maxBennettBatches/2*steps]
			s.scansPerBatch *= 2
		}
		s.batches = s.batches[:len(s.batches)+steps]
		clear(s.batches[len(s.batches)-steps:])
	}
	s.scanCount++
}

// addStep adds one scan of step k to the sums. The argument logScore is the log score at the lower
// rung, and swap is the probability of a swap. The arguments lower and upper are d − C at the lower
// and at the upper rung; see [ladderSums].
func (s *ladderSums) addStep(k int, logScore, swap, lower, upper float64) {
	s.addScore(k, logScore)
	s.rejectionSums[k] += 1 - swap
	b := &s.batches[len(s.batches)-s.stepCount()+k]
	b.lowerSum += 1 / (1 + portable.Exp(-lower))
	b.upperSum += 1 / (1 + portable.Exp(upper))
}

// addScore adds the log score of the replica at rung k in one scan to the sums.
func (s *ladderSums) addScore(k int, logScore float64) {
	if logScore == negInf {
		s.forbiddenCounts[k]++
	} else {
		s.logScoreSums[k] += logScore
	}
}

// endScan ends a scan by adding the log score of the replica at β = 1 to the sums.
func (s *ladderSums) endScan(logScore float64) { s.addScore(s.stepCount(), logScore) }

// avoidableRejectionRate returns the rejection rate of swaps between the rungs k and k+1, without
// the scans in which the composition at rung k is forbidden. Swaps of a forbidden composition are
// always rejected, no matter how the β are spaced.
func (s *ladderSums) avoidableRejectionRate(k int) float64 {
	if allowed := s.scanCount - s.forbiddenCounts[k]; allowed > 0 {
		return max(0, s.rejectionSums[k]-float64(s.forbiddenCounts[k])) / float64(allowed)
	}
	return 0
}

// inefficiency returns Σ r/(1−r) over the steps of the ladder, where r is the rejection rate of
// swaps. A replica needs about 2 + 2·Σ r/(1−r) scans for the way from β = 1 to β = 0 and back (Syed
// et al. 2022).
func (s *ladderSums) inefficiency() float64 {
	sum := 0.0
	for _, rejected := range s.rejectionSums {
		sum += rejected / (float64(s.scanCount) - rejected)
	}
	return sum
}

// logZRatio returns an estimate of log(Z_{k+1}/Z_k) minus the offset of step k. It returns NaN if
// no scan determines the estimate.
func (s *ladderSums) logZRatio(k int) float64 {
	sum := bennettSums{}
	for ; k < len(s.batches); k += s.stepCount() {
		sum.lowerSum += s.batches[k].lowerSum
		sum.upperSum += s.batches[k].upperSum
	}
	if sum.lowerSum == 0 || sum.upperSum == 0 {
		return math.NaN()
	}
	return portable.Log(sum.lowerSum) - portable.Log(sum.upperSum)
}

// logZError returns the standard error of log Z, computed to first order from the spread between
// batches. It returns NaN if there are too few batches.
func (s *ladderSums) logZError() float64 {
	steps := s.stepCount()
	if steps == 0 {
		return 0
	}
	full := int(s.scanCount / s.scansPerBatch)
	if full < maxBennettBatches/2 {
		return math.NaN()
	}
	means := make([]bennettSums, steps)
	for b := range full {
		for k := range steps {
			means[k].lowerSum += s.batches[b*steps+k].lowerSum / float64(full)
			means[k].upperSum += s.batches[b*steps+k].upperSum / float64(full)
		}
	}
	squares := 0.0
	for b := range full {
		d := 0.0
		for k := range steps {
			d += s.batches[b*steps+k].lowerSum/means[k].lowerSum - s.batches[b*steps+k].upperSum/means[k].upperSum
		}
		squares += float64(d * d) // d is a deviation: over all batches, its mean is 0
	}
	// A composition that no scan has met may still have a share of up to 1/scans.
	return max(math.Sqrt(squares/float64(full)/float64(full-1)), 1/float64(s.scanCount))
}
