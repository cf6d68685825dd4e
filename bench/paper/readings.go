package paper

import (
	"math"

	"kir/internal/paper"
	"kir/internal/portable"
	"kir/mcmc"
)

// A reading is one way to read what the paper calls the updated rate of its Gibbs
// sampler, and what it would be on each target, in percent.
type reading struct {
	name  string
	rates []float64
}

// gibbsReadings returns what the updated rate of the Gibbs sampler would be if
// it was counted, or the sampler meant, in other ways. The first one is kir's.
//
// All are exact, from the same sums over n and s as the rate itself.
func gibbsReadings(targets []*mcmc.Target) ([]reading, error) {
	undivided := make(map[*mcmc.Target]*mcmc.Target, len(targets))
	for _, t := range targets {
		u, err := withoutCounts(t)
		if err != nil {
			return nil, err
		}
		undivided[t] = u
	}
	readings := []struct {
		name string
		rate func(t *mcmc.Target) float64
	}{
		{"iterations after which the composition is another", func(t *mcmc.Target) float64 {
			return paper.Gibbs(t).Updated()
		}},
		{"the same, of a pair drawn with replacement (i = j changes nothing)", func(t *mcmc.Target) float64 {
			n := float64(t.Space().N())
			return paper.Gibbs(t).Updated() * (n - 1) / n
		}},
		{"the same, of pairs with something to divide (x_i + x_j > 0)", func(t *mcmc.Target) float64 {
			g := paper.Gibbs(t)
			return g.Updated() / (1 - g.Absent)
		}},
		{"iterations that change n", func(t *mcmc.Target) float64 {
			g := paper.Gibbs(t)
			return g.Split + g.Merge
		}},
		{"iterations that raise n", func(t *mcmc.Target) float64 { return paper.Gibbs(t).Split }},
		{"all but handing everything over to an absent ingredient", func(t *mcmc.Target) float64 {
			g := paper.Gibbs(t)
			return g.Split + g.Merge + g.Divide
		}},
		{"handing everything over to an absent ingredient", func(t *mcmc.Target) float64 {
			return paper.Gibbs(t).Handover
		}},
		{"changes of pairs that are both used", func(t *mcmc.Target) float64 {
			g := paper.Gibbs(t)
			return g.Merge + g.Divide
		}},
		{"a split drawn uniformly from all s+1, then accepted by Metropolis", uniformSplitRate},
		{"one ingredient redrawn while all others stay: their sum fixes it", func(*mcmc.Target) float64 { return 0 }},
		{"the sampler without the division by |X_n|", func(t *mcmc.Target) float64 {
			return paper.Gibbs(undivided[t]).Updated()
		}},
	}
	all := make([]reading, len(readings))
	for k, r := range readings {
		all[k].name = r.name
		for _, t := range targets {
			all[k].rates = append(all[k].rates, 100*r.rate(t))
		}
	}
	return all, nil
}

// uniformSplitRate is the updated rate of a pair drawn as by Gibbs whose split
// is proposed uniformly and accepted with min(1, P(x′)/P(x)).
func uniformSplitRate(t *mcmc.Target) float64 {
	all := float64(t.Space().N())
	rate := 0.0
	paper.VisitSizes(t, func(n int, p float64) {
		f := float64(n)
		if n < t.Space().N() {
			one := p * 2 * f * (all - f) / (all * (all - 1))
			paper.VisitAmounts(t.Space().Total(), n, func(s int, ps float64) {
				end, inner := paper.LineShare(t, n, s)
				rate += one * ps * (1 + float64(float64(s-1)*min(1, inner/end))) / float64(s+1)
			})
		}
		if n >= 2 {
			both := p * f * (f - 1) / (all * (all - 1))
			paper.VisitPairSums(t.Space().Total(), n, func(s int, ps float64) {
				end, inner := paper.LineShare(t, n-1, s)
				rate += both * ps * (float64(s-2) + float64(2*min(1, end/inner))) / float64(s+1)
			})
		}
	})
	return rate
}

// withoutCounts returns the target whose law of n is ∝ y(n)·|X_n|: what y_sparse
// alone, without the division by |X_n|, makes of compositions.
func withoutCounts(t *mcmc.Target) (*mcmc.Target, error) {
	_, hi := t.Law().Support()
	logs := t.Space().LogCounts(hi)
	top := math.Inf(-1)
	paper.VisitSizes(t, func(n int, p float64) { top = max(top, portable.Log(p)+logs[n]) })
	weights := map[int]float64{}
	paper.VisitSizes(t, func(n int, p float64) { weights[n] = portable.Exp(portable.Log(p) + logs[n] - top) })
	return mcmc.NewTarget(t.Space(), mcmc.Table(weights))
}
