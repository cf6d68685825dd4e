package diagnose

import (
	"fmt"
	"iter"
	"math"

	"kir/internal/portable"
)

// An Inclusion holds the estimated probability that a composition uses an ingredient, and the mean amount of the
// ingredient.
type Inclusion struct {
	Proportion
	// MeanAmount is the mean amount over the draws that use the ingredient. MeanAmount is NaN if no draw uses
	// the ingredient.
	MeanAmount float64
}

// Inclusions computes, for every ingredient, the probability that a draw uses the ingredient, from the [Presence]
// of each chain. Inclusions fails with ErrNoDraws, or with ErrRagged if the chains differ in the number of draws
// or of ingredients.
//
// The standard error is sd/√ESS. Here sd is the standard deviation (divisor S−1, for S draws) of the 0/1 series
// "the draw uses the ingredient", and ESS is the effective sample size of the series.
func Inclusions(chains []*Presence) ([]Inclusion, error) {
	all, err := AllInclusions(chains, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	result := make([]Inclusion, 0, len(chains[0].amountSums))
	for _, x := range all {
		result = append(result, x)
	}
	return result, nil
}

// AllInclusions iterates over the ingredients for which wanted returns true, with the index and the result of
// [Inclusions] for each ingredient. Each result is computed when the iteration reaches the ingredient.
func AllInclusions(chains []*Presence, wanted func(ingredient int) bool) (iter.Seq2[int, Inclusion], error) {
	if len(chains) == 0 || chains[0].drawCount == 0 {
		return nil, ErrNoDraws
	}
	first := chains[0]
	w := inclusionComputer{chains: chains, drawsPerChain: first.drawCount, batchMeans: make([][]float64, len(chains))}
	for c, p := range chains {
		if p.drawCount != first.drawCount {
			return nil, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, first.drawCount, p.drawCount, c)
		}
		if len(p.amountSums) != len(first.amountSums) {
			return nil, fmt.Errorf("%w: %d ingredients in chain 0, %d in chain %d", ErrRagged, len(first.amountSums), len(p.amountSums), c)
		}
		w.batchLength = max(w.batchLength, p.batchLength)
	}
	return func(yield func(int, Inclusion) bool) {
		for i := range first.amountSums {
			if wanted(i) && !yield(i, w.inclusion(i)) {
				return
			}
		}
	}, nil
}

// inclusionComputer holds the data that the computations for all ingredients share.
type inclusionComputer struct {
	chains        []*Presence
	drawsPerChain int         // number of draws in each chain
	batchLength   int         // number of draws in a batch: the length of the longest batches of any chain, to which the batches of other chains are merged
	batchSample   sample      // buffers for the effective sample size
	batchMeans    [][]float64 // item c lists the batch means of chain c for the latest ingredient

	degreesOfFreedom float64 // degrees of freedom of the latest effective sample size
}

// inclusion returns the estimated probability and mean amount of the ingredient with index i.
func (w *inclusionComputer) inclusion(i int) Inclusion {
	var present, sum uint64
	var of visitCounts
	for _, p := range w.chains {
		n, v := p.visitCountsOf(i)
		sum += p.amountSums[i]
		present += n
		of.presentPeriods += v.presentPeriods
		of.absentPeriods += v.absentPeriods
	}
	total := float64(float64(len(w.chains)) * float64(w.drawsPerChain))
	share := float64(present) / total
	x := Inclusion{MeanAmount: float64(sum) / float64(present)}
	x.Probability, x.Batch = share, w.batchLength
	if present == 0 || share == 1 {
		x.Err = ErrConstant
	} else {
		x.ESS, x.Err = w.ess(i, float64(share*(1-share)*(total/(total-1))))
	}
	x.MCSE = math.NaN()
	if x.Err != nil {
		x.ESS = math.NaN()
	} else {
		x.MCSE = math.Sqrt(share * (1 - share) * (total / (total - 1)) / x.ESS)
	}
	x.visitCount, x.degreesOfFreedom, x.chainCount = of.rarer(), w.degreesOfFreedom, len(w.chains)
	return x
}

// ess returns the effective sample size of the 0/1 series "the draw uses the ingredient", computed from the batch
// means. The parameter variance is the variance of the series.
func (w *inclusionComputer) ess(ingredient int, variance float64) (float64, error) {
	if w.drawsPerChain < minDrawsESS {
		return math.NaN(), fewDrawsError(w.drawsPerChain, minDrawsESS)
	}
	count := w.drawsPerChain / w.batchLength
	if count*len(w.chains) < minBatchMeans {
		return math.NaN(), fewDrawsError(w.drawsPerChain, (minBatchMeans+len(w.chains)-1)/len(w.chains)*w.batchLength)
	}
	for c, p := range w.chains {
		w.batchMeans[c] = resize(w.batchMeans[c], count)
		joined := w.batchLength / p.batchLength
		for m := range w.batchMeans[c] {
			n := 0
			for b := m * joined; b < (m+1)*joined; b++ {
				n += int(p.batchRow(b)[ingredient])
			}
			w.batchMeans[c][m] = float64(n) / float64(w.batchLength)
		}
	}
	draws := float64(float64(len(w.chains)) * float64(w.drawsPerChain))
	most := float64(draws * portable.Log10(draws))
	if count < minDrawsESS {
		// With too few batch means for an autocorrelation, the batch means count as independent.
		var m moments
		for _, means := range w.batchMeans {
			for _, x := range means {
				m = m.merge(moments{count: 1, mean: x})
			}
		}
		w.degreesOfFreedom = float64(m.count - 1)
		return math.Min(variance/(m.squaredDeviations/float64(m.count-1)/float64(m.count)), most), nil
	}
	s := &w.batchSample
	if err := s.loadChains(w.batchMeans); err != nil {
		return math.NaN(), err
	}
	ess, err := s.essMean()
	w.degreesOfFreedom = s.geyerESS.degreesOfFreedom
	if err != nil {
		return math.NaN(), err
	}
	sd, err := s.sd()
	if err != nil {
		return math.NaN(), err
	}
	return math.Min(ess*variance/(sd*sd), most), nil
}
