package assemble

import (
	"math"
	"slices"
	"sort"

	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

const (
	// maxPlottedChains is the largest number of chains with rank plots and traces: the first
	// chains.
	maxPlottedChains     = 8
	maxPlottedStatistics = 8 // maxPlottedStatistics is the largest number of statistics with rank plots and traces: the first statistics.
	// rankBinCount is the number of bins of a rank plot.
	rankBinCount = 20
)

// newPlots returns the data of the rank plots and traces of the first statistics and chains.
func newPlots(g *gatheredDraws, statistics map[string]run.Statistic) []report.Plot {
	plots := make([]report.Plot, 0, maxPlottedStatistics)
	for _, d := range g.series[:min(len(g.series), maxPlottedStatistics)] {
		p := report.Plot{Name: d.name, Ranks: rankBinShares(d.valuesByChain, rankBinCount)}
		p.Ranks = p.Ranks[:min(len(p.Ranks), maxPlottedChains)]
		// A chain is worth its part of the effective draws, and its ranks are
		// among those of all chains, itself included.
		chains := float64(len(d.valuesByChain))
		const q = 1.0 / rankBinCount
		p.RankSE = report.Number(math.Sqrt(q * (1 - q) * (1 - 1/chains) * chains / float64(statistics[d.name].ESSBulk)))
		if chains == 1 {
			p.RankSE = report.Number(math.NaN())
		}
		every := evenStride(len(d.valuesByChain[0]), maxTracePoints)
		p.Every = every * d.stride
		for _, chain := range d.valuesByChain[:min(len(d.valuesByChain), maxPlottedChains)] {
			var trace []report.Number
			for k := 0; k < len(chain); k += every {
				trace = append(trace, roundForPlot(chain[k]))
			}
			p.Trace = append(p.Trace, trace)
		}
		plots = append(plots, p)
	}
	return plots
}

// roundForPlot rounds a number to five significant figures for a plot.
func roundForPlot(v float64) report.Number {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return report.Number(v)
	}
	unit := portable.Pow(10, 4-math.Floor(portable.Log10(math.Abs(v))))
	if math.IsInf(unit, 0) || unit == 0 {
		return report.Number(v)
	}
	return report.Number(math.Round(v*unit) / unit)
}

// rankBinShares returns the data of a rank plot. The values of all chains are ranked together, and
// the ranks are divided into bins. Item [c][b] of the result is the share of the values of chain c
// whose ranks are in bin b.
func rankBinShares(chains [][]float64, bins int) [][]report.Number {
	type draw struct {
		value float64
		chain int
	}
	var all []draw
	for c, chain := range chains {
		for _, v := range chain {
			all = append(all, draw{v, c})
		}
	}
	sort.Slice(all, func(a, b int) bool { return all[a].value < all[b].value })
	shares := make([][]report.Number, len(chains))
	for c := range shares {
		shares[c] = make([]report.Number, bins)
	}
	width := float64(len(all)) / float64(bins)
	counts := make([]int, len(chains))
	for from := 0; from < len(all); {
		to := from
		clear(counts)
		for ; to < len(all) && all[to].value == all[from].value; to++ {
			counts[all[to].chain]++
		}
		// Draws that are equal are spread over the places that they take.
		for bin := int(float64(from) / width); bin < bins; bin++ {
			lo, hi := max(float64(from), float64(bin)*width), min(float64(to), float64(bin+1)*width)
			if lo >= hi && bin > int(float64(from)/width) {
				break
			}
			part := max(0, hi-lo) / float64(to-from)
			for c, n := range counts {
				shares[c][bin] += report.Number(part * float64(n) / float64(len(chains[c])))
			}
		}
		from = to
	}
	return shares
}

const (
	// scoreHistogramBinCount is the number of bins of the histogram of scores.
	scoreHistogramBinCount = 30
	// maxHistogramDecades is the largest number of powers of ten that a logarithmic histogram of
	// scores spans.
	maxHistogramDecades = 12
)

// newScoreHistogram returns the histogram that compares the scores of the draws with those of
// random compositions. It has a linear scale if all scores lie within 0..1 and neither most draws
// nor most random compositions have small scores. Otherwise it has a logarithmic scale.
func newScoreHistogram(g *gatheredDraws, b *run.Baseline) *report.Histogram {
	var draws []float64
	for _, chain := range g.logScores {
		draws = append(draws, chain...)
	}
	if len(draws) == 0 || b == nil {
		return nil
	}
	slices.Sort(draws)
	middle, top := draws[len(draws)/2], draws[len(draws)-1]
	for _, s := range b.LogScores {
		top = max(top, s)
	}
	random := slices.Clone(b.LogScores)
	slices.Sort(random)
	small := portable.Log(0.02)
	h := &report.Histogram{DrawCount: len(draws), Log: top > 1e-9 || middle < small || random[len(random)/2] < small}
	scale := portable.Exp
	lo, hi := 0.0, 1.0
	if h.Log {
		scale = func(s float64) float64 { return s / math.Ln10 }
		// From what few draws and a quarter of the random compositions lie below
		// to the best, and no more decades than can be told apart.
		hi = scale(top)
		lo = min(scale(draws[len(draws)/50]), scale(random[len(random)/4]))
		lo, hi = math.Floor(max(lo, hi-maxHistogramDecades)), math.Ceil(hi)
		if hi <= lo {
			hi = lo + 1
		}
	}
	for k := range scoreHistogramBinCount + 1 {
		h.Edges = append(h.Edges, report.Number(lo+(hi-lo)*float64(k)/scoreHistogramBinCount))
	}
	fill := func(scores []float64) (shares []report.Number, below report.Number) {
		shares = make([]report.Number, scoreHistogramBinCount)
		for _, s := range scores {
			v := scale(s)
			if v < lo {
				below++
				continue
			}
			shares[min(scoreHistogramBinCount-1, int((v-lo)/(hi-lo)*scoreHistogramBinCount))]++
		}
		for k := range shares {
			shares[k] /= report.Number(len(scores))
		}
		return shares, below / report.Number(len(scores))
	}
	h.Draws, h.DrawsBelow = fill(draws)
	h.Random, h.RandomBelow = fill(b.LogScores)
	return h
}
