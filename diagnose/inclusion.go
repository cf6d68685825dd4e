package diagnose

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Inclusion is what can be said about the use of one ingredient.
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
// (divisor S−1) and its [ESSMean].
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

// AllInclusions returns what [Inclusions] does, one after the other, of those
// ingredients that are wanted.
func AllInclusions(chains []*Presence, wanted func(ingredient int) bool) (iter.Seq2[int, Inclusion], error) {
	if len(chains) == 0 || chains[0].draws == 0 {
		return nil, ErrNoDraws
	}
	first := chains[0]
	exact := true
	for c, p := range chains {
		if p.draws != first.draws {
			return nil, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, first.draws, p.draws, c)
		}
		if len(p.sums) != len(first.sums) {
			return nil, fmt.Errorf("%w: %d ingredients in chain 0, %d in chain %d", ErrRagged, len(first.sums), len(p.sums), c)
		}
		exact = exact && p.exact
	}
	return func(yield func(int, Inclusion) bool) {
		w := inclusionWork{chains: chains, draws: first.draws}
		if exact {
			w.indexRuns()
		} else {
			w.prepareBatches()
		}
		for i := range first.sums {
			if wanted(i) && !yield(i, w.inclusion(i, exact)) {
				return
			}
		}
	}, nil
}

// inclusion returns what can be said about an ingredient.
func (w *inclusionWork) inclusion(i int, exact bool) Inclusion {
	var present uint64
	var sum float64
	var of visits
	for c, p := range w.chains {
		sum += float64(p.sum(i))
		var n uint64
		var v visits
		if exact {
			n, v = stretches(w.runs(c, i), w.draws)
		} else {
			n, v = p.inBatches(i)
		}
		present += n
		of.present += v.present
		of.absent += v.absent
	}
	total := float64(len(w.chains)) * float64(w.draws)
	share := float64(present) / total
	x := Inclusion{MeanAmount: sum / float64(present)}
	x.Probability, x.Batch = share, w.batch
	switch {
	case present == 0 || share == 1:
		x.Err = ErrConstant
	case exact:
		x.ESS, x.Err = w.essOfRuns(i)
	default:
		x.ESS, x.Err = w.essOfBatches(i, share)
	}
	x.MCSE = math.NaN()
	if x.Err != nil {
		x.ESS = math.NaN()
	} else {
		x.MCSE = math.Sqrt(share * (1 - share) * (total / (total - 1)) / x.ESS)
	}
	x.visits, x.freedom, x.chains = of.fewer(), w.freedom, len(w.chains)
	return x
}

// inclusionWork holds what the ingredients share while Inclusions computes their
// errors one by one.
type inclusionWork struct {
	chains []*Presence
	draws  int
	batch  int
	sample sample

	// The runs of each chain by ingredient: those of ingredient i are
	// sorted[start[i]:start[i+1]].
	sorted [][]span
	start  [][]int

	rows  []uint64
	means [][]float64

	freedom float64 // of the latest effective sample size
}

// indexRuns sorts the runs of each chain by ingredient.
func (w *inclusionWork) indexRuns() {
	w.batch = 1
	for _, p := range w.chains {
		start := make([]int, len(p.sums)+1)
		for _, chunk := range p.runs {
			for _, r := range chunk {
				start[r.ingredient+1]++
			}
		}
		for i := range p.sums {
			start[i+1] += start[i]
		}
		sorted := make([]span, p.count)
		next := slices.Clone(start)
		for _, chunk := range p.runs {
			for _, r := range chunk {
				sorted[next[r.ingredient]] = span{r.from, r.to}
				next[r.ingredient]++
			}
		}
		w.sorted = append(w.sorted, sorted)
		w.start = append(w.start, start)
	}
}

// runs returns the runs of an ingredient in a chain.
func (w *inclusionWork) runs(c, ingredient int) []span {
	return w.sorted[c][w.start[c][ingredient]:w.start[c][ingredient+1]]
}

// essOfRuns returns the effective sample size of the 0/1 series of an ingredient,
// from its runs.
func (w *inclusionWork) essOfRuns(ingredient int) (float64, error) {
	if w.draws < minDrawsESS {
		return math.NaN(), fewDraws(w.draws, minDrawsESS)
	}
	half := w.draws / 2
	b := &w.sample.binary
	b.reset(2*len(w.chains), half)
	for c := range w.chains {
		runs := w.runs(c, ingredient)
		for k := 0; k < len(runs); {
			from, to := int(runs[k].from), int(runs[k].to)
			for k++; k < len(runs) && int(runs[k].from) == to; k++ {
				to = int(runs[k].to)
			}
			b.setRun(2*c, from, min(to, half))
			b.setRun(2*c+1, max(0, from-(w.draws-half)), to-(w.draws-half))
		}
	}
	ess, err := w.sample.essBinary()
	w.freedom = w.sample.geyer.freedom
	return ess, err
}

// prepareBatches gives batches to the chains that still keep all changes, and
// finds the longest: the others are joined to that length.
func (w *inclusionWork) prepareBatches() {
	w.chains = slices.Clone(w.chains)
	for c, p := range w.chains {
		if p.exact {
			q := *p
			q.toBatches()
			w.chains[c] = &q
		}
		w.batch = max(w.batch, w.chains[c].batch)
	}
	w.means = make([][]float64, len(w.chains))
}

// essOfBatches returns the effective sample size that the batch means of an
// ingredient with this share imply.
func (w *inclusionWork) essOfBatches(ingredient int, share float64) (float64, error) {
	count := w.draws / w.batch
	if count*len(w.chains) < leastMeans {
		return math.NaN(), fewDraws(w.draws, (leastMeans+len(w.chains)-1)/len(w.chains)*w.batch)
	}
	for c, p := range w.chains {
		w.rows = grow(w.rows, p.draws/w.batch+1)
		clear(w.rows)
		for b := range p.batchesBegun() {
			w.rows[b*p.batch/w.batch] += uint64(p.row(b)[ingredient])
		}
		w.means[c] = grow(w.means[c], count)
		for i := range count {
			w.means[c][i] = float64(w.rows[i]) / float64(w.batch)
		}
	}
	draws := float64(len(w.chains)) * float64(w.draws)
	variance := share * (1 - share) * (draws / (draws - 1))
	most := draws * math.Log10(draws)
	if count < minDrawsESS {
		// Too few for an autocorrelation: they are taken to be independent.
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

// A span is draws from, …, to−1.
type span struct{ from, to uint32 }

// visits are how many times an ingredient came and went.
type visits struct{ present, absent int }

// fewer returns how often the rarer of the two came about.
func (v visits) fewer() int { return min(v.present, v.absent) }

// stretches returns in how many of a chain's draws the runs of an ingredient
// have it, and how many stretches of draws with and without it they leave.
func stretches(runs []span, draws int) (present uint64, v visits) {
	end := uint32(0)
	for k, r := range runs {
		present += uint64(r.to - r.from)
		if r.from > end {
			v.absent++
		}
		if k == 0 || r.from > end {
			v.present++
		}
		end = r.to
	}
	if int(end) < draws {
		v.absent++
	}
	return present, v
}

// inBatches returns in how many draws an ingredient was present, if batches are
// kept, and in how many batches it was there and was missing.
func (p *Presence) inBatches(ingredient int) (draws uint64, v visits) {
	for b := range p.batchesBegun() {
		n := p.row(b)[ingredient]
		draws += uint64(n)
		if n > 0 {
			v.present++
		}
		if int(n) < min(p.batch, p.draws-b*p.batch) {
			v.absent++
		}
	}
	return draws, v
}
