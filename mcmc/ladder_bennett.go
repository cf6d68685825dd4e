package mcmc

import (
	"math"

	"kir/internal/portable"
)

// ladderSums holds the sums over scans.
type ladderSums struct {
	scans                int64
	rejected             []float64 // by step: Σ over scans of 1 − the probability of a swap
	logScore             []float64 // by rung: Σ V over the scans where V is finite
	forbidden            []int64   // by rung: number of scans where V is −Inf
	restarts, roundTrips int64

	// batches are Bennett's sums. For step k and the offset C, with d the rise of the log density
	// and f(u) = 1/(1 + e^u),
	//
	//	Z_{k+1}/Z_k = e^C · E_k[f(C − d)] / E_{k+1}[f(d − C)],
	//
	// for any C, and f is bounded. Each batch sums a number of scans. When there are too many
	// batches, pairs of them are merged.
	batches []bennettSums // by batch and step
	length  int64         // number of scans in a batch
}

// bennettSums holds the sums of f(C − d) over the lower rung and of f(d − C) over the upper one.
type bennettSums struct{ lower, upper float64 }

// maxBatches is the number of batches at which pairs are merged.
const maxBatches = 64

func (s *ladderSums) steps() int { return len(s.rejected) }

func (s *ladderSums) reset(steps int) {
	*s = ladderSums{
		rejected:  make([]float64, steps),
		logScore:  make([]float64, steps+1),
		forbidden: make([]int64, steps+1),
		batches:   make([]bennettSums, 0, maxBatches*steps),
		length:    1,
	}
}

// beginScan makes room for the next scan.
func (s *ladderSums) beginScan() {
	steps := s.steps()
	if s.scans%s.length == 0 {
		if s.scans/s.length == maxBatches {
			for b := range maxBatches / 2 {
				for k := range steps {
					p, q := s.batches[2*b*steps+k], s.batches[(2*b+1)*steps+k]
					s.batches[b*steps+k] = bennettSums{p.lower + q.lower, p.upper + q.upper}
				}
			}
			s.batches = s.batches[:maxBatches/2*steps]
			s.length *= 2
		}
		s.batches = s.batches[:len(s.batches)+steps]
		clear(s.batches[len(s.batches)-steps:])
	}
	s.scans++
}

// addStep adds step k to the sums: V on its lower rung, the probability of a swap, and the rises of
// the two states' log densities less the offset.
func (s *ladderSums) addStep(k int, logScore, swap, lower, upper float64) {
	s.addScore(k, logScore)
	s.rejected[k] += 1 - swap
	b := &s.batches[len(s.batches)-s.steps()+k]
	b.lower += 1 / (1 + portable.Exp(-lower))
	b.upper += 1 / (1 + portable.Exp(upper))
}

func (s *ladderSums) addScore(k int, logScore float64) {
	if logScore == negInf {
		s.forbidden[k]++
	} else {
		s.logScore[k] += logScore
	}
}

// endScan adds V on the last rung.
func (s *ladderSums) endScan(logScore float64) { s.addScore(s.steps(), logScore) }

// avoidableRate is the rejection rate of step k without the swaps that a forbidden composition
// rejects, which no spacing avoids.
func (s *ladderSums) avoidableRate(k int) float64 {
	if allowed := s.scans - s.forbidden[k]; allowed > 0 {
		return max(0, s.rejected[k]-float64(s.forbidden[k])) / float64(allowed)
	}
	return 0
}

// inefficiency returns Σ r/(1−r) over the steps, where r is a step's rejection rate. A round trip
// takes about 2 + 2·Σ r/(1−r) scans (Syed et al. 2022).
func (s *ladderSums) inefficiency() float64 {
	sum := 0.0
	for _, rejected := range s.rejected {
		sum += rejected / (float64(s.scans) - rejected)
	}
	return sum
}

// logRatio returns log Z_{k+1}/Z_k less the offset, NaN where no scan determines it.
func (s *ladderSums) logRatio(k int) float64 {
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

// error returns the standard error of log Z, to first order, from the spread between full batches.
func (s *ladderSums) error() float64 {
	steps := s.steps()
	if steps == 0 {
		return 0
	}
	full := int(s.scans / s.length)
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
	return max(math.Sqrt(squares/float64(full)/float64(full-1)), 1/float64(s.scans))
}
