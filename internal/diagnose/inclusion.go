package diagnose

import (
	"fmt"
	"iter"
	"math"

	"kir/internal/portable"
)

// An Inclusion holds the estimated probability that a composition uses one ingredient, and its mean amount.
type Inclusion struct {
	Proportion
	// MeanAmount is the mean amount over the draws that use the ingredient, NaN
	// if none does.
	MeanAmount float64
}

// Inclusions computes, for every ingredient, the probability that it is present
// from the Presences of all chains. It fails with ErrNoDraws, or with ErrRagged
// when the chains differ in draws or in ingredients.
//
// The standard error is sd/√ESS with the standard deviation sd of the 0/1 series
// (divisor S−1) and its effective sample size.
func Inclusions(chains []*Presence) ([]Inclusion, error) {
	all, err := AllInclusions(chains, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	result := make([]Inclusion, 0, len(chains[0].sums))
	for _, x := range all {
		result = append(result, x)
	}
	return result, nil
}

// AllInclusions iterates over the indices and [Inclusions] results of the ingredients for which wanted returns true.
// It computes each result when it is reached.
func AllInclusions(chains []*Presence, wanted func(ingredient int) bool) (iter.Seq2[int, Inclusion], error) {
	if len(chains) == 0 || chains[0].draws == 0 {
		return nil, ErrNoDraws
	}
	first := chains[0]
	w := inclusionWork{chains: chains, draws: first.draws, means: make([][]float64, len(chains))}
	for c, p := range chains {
		if p.draws != first.draws {
			return nil, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, first.draws, p.draws, c)
		}
		if len(p.sums) != len(first.sums) {
			return nil, fmt.Errorf("%w: %d ingredients in chain 0, %d in chain %d", ErrRagged, len(first.sums), len(p.sums), c)
		}
		w.batch = max(w.batch, p.batch)
	}
	return func(yield func(int, Inclusion) bool) {
		for i := range first.sums {
			if wanted(i) && !yield(i, w.inclusion(i)) {
				return
			}
		}
	}, nil
}

// inclusionWork holds the data shared by the computations for all ingredients.
type inclusionWork struct {
	chains []*Presence
	draws  int
	batch  int // batch length in draws: the longest of any chain, to which batches of other chains are merged
	sample sample
	means  [][]float64

	freedom float64 // degrees of freedom of the latest effective sample size
}

// inclusion returns the figures of ingredient i.
func (w *inclusionWork) inclusion(i int) Inclusion {
	var present, sum uint64
	var of visits
	for _, p := range w.chains {
		n, v := p.visitsOf(i)
		sum += p.sums[i]
		present += n
		of.present += v.present
		of.absent += v.absent
	}
	total := float64(float64(len(w.chains)) * float64(w.draws))
	share := float64(present) / total
	x := Inclusion{MeanAmount: float64(sum) / float64(present)}
	x.Probability, x.Batch = share, w.batch
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
	x.visits, x.freedom, x.chains = of.rarer(), w.freedom, len(w.chains)
	return x
}

// ess returns the effective sample size that the batch means of an ingredient imply. variance is that of the
// ingredient's 0/1 series.
func (w *inclusionWork) ess(ingredient int, variance float64) (float64, error) {
	if w.draws < minDrawsESS {
		return math.NaN(), fewDraws(w.draws, minDrawsESS)
	}
	count := w.draws / w.batch
	if count*len(w.chains) < leastMeans {
		return math.NaN(), fewDraws(w.draws, (leastMeans+len(w.chains)-1)/len(w.chains)*w.batch)
	}
	for c, p := range w.chains {
		w.means[c] = grow(w.means[c], count)
		joined := w.batch / p.batch
		for m := range w.means[c] {
			n := 0
			for b := m * joined; b < (m+1)*joined; b++ {
				n += int(p.row(b)[ingredient])
			}
			w.means[c][m] = float64(n) / float64(w.batch)
		}
	}
	draws := float64(float64(len(w.chains)) * float64(w.draws))
	most := float64(draws * portable.Log10(draws))
	if count < minDrawsESS {
		// With too few batch means for an autocorrelation, the batch means count as independent.
		var m moments
		for _, means := range w.means {
			for _, x := range means {
				m = m.merge(moments{n: 1, mean: x})
			}
		}
		w.freedom = float64(m.n - 1)
		return math.Min(variance/(m.squares/float64(m.n-1)/float64(m.n)), most), nil
	}
	s := &w.sample
	if err := s.load(w.means); err != nil {
		return math.NaN(), err
	}
	ess, err := s.essMean()
	w.freedom = s.geyer.freedom
	if err != nil {
		return math.NaN(), err
	}
	sd, err := s.sd()
	if err != nil {
		return math.NaN(), err
	}
	return math.Min(ess*variance/(sd*sd), most), nil
}
