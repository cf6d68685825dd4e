package view

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// maxFigureChains is the largest number of chains in figures and tables: the first chains of a run.
const maxFigureChains = 8

const (
	// stripLeft and stripRight are the horizontal positions of the left and the right ends of
	// strips. A strip is the part of a figure that shows one chain.
	stripLeft, stripRight = 52.0, figureWidth - 4
	// stripHeight is the height of a strip, and stripStep the distance from the top of a strip to
	// the top of the next, in CSS pixels.
	stripHeight, stripStep = 34.0, 40.0
)

// drawStrip draws the background of the k-th strip, which shows one chain, and labels it with the
// number of the chain. The parameter top is the position of the first strip, and spare a margin
// above and below. It returns the horizontal scale, from 0 to steps, and the vertical scale, from
// lo to hi.
func drawStrip(f *figure.Figure, k, chain int, top, spare, steps, lo, hi float64) (x, y figure.Scale) {
	y0 := top + float64(float64(k)*stripStep)
	f.Write(stripLeft-6, y0+stripHeight/2+4, figure.SmallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", chain))
	f.Rect(stripLeft, y0-spare, stripRight-stripLeft, stripHeight+float64(2*spare), figure.Shade)
	f.Height = y0 + stripStep
	return figure.Scale{Lo: 0, Hi: steps, From: stripLeft, To: stripRight}, figure.Scale{Lo: lo, Hi: hi, From: y0 + stripHeight, To: y0}
}

// writeBelowStrips writes a line of text below the strips.
func writeBelowStrips(f *figure.Figure, format string, args ...any) {
	f.Write((stripLeft+stripRight)/2, f.Height+10, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprintf(format, args...))
	f.Height += 16
}

// ranksFigure shows whether chains agree: a rank plot of statistic k, with a strip for each chain.
func ranksFigure(m *report.Model, k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Ranks) < 2 || !p.RankSE.IsKnown() {
		return nil // ranks compare chains
	}
	f := &figure.Figure{Name: fmt.Sprintf("ranks-%d", k+1), Title: "Ranks of " + p.Name + " by chain", Width: figureWidth}
	even := 1 / float64(len(p.Ranks[0]))
	se := float64(p.RankSE)
	farthest, beyond, bins := float64(3*se), 0, 0
	for _, chain := range p.Ranks {
		for _, share := range chain {
			off := math.Abs(float64(share) - even)
			farthest = max(farthest, off)
			bins++
			if off > 2*se {
				beyond++
			}
		}
	}
	lo, hi := max(0, even-float64(1.1*farthest)), even+float64(1.1*farthest)
	f.Text = fmt.Sprintf("Rank plot: for each of %s, the share of its draws in each of %d bins of rank among all draws. Even shares mean that the chains agree. %d of %d shares lie outside two standard errors of the even one.",
		number.CountWithNoun(len(p.Ranks), "chain"), len(p.Ranks[0]), beyond, bins)
	for c, chain := range p.Ranks {
		x, y := drawStrip(f, c, c, 4, 0, float64(len(chain)), lo, hi)
		f.FillTranslucent(stripLeft, y.ClampedAt(even+float64(2*se)), stripRight-stripLeft, y.ClampedAt(even-float64(2*se))-y.ClampedAt(even+float64(2*se)), figure.Soft)
		f.Line(stripLeft, y.At(even), stripRight, y.At(even), 1, figure.Ink)
		var steps []float64
		for b, share := range chain {
			at := y.At(float64(share))
			steps = append(steps, x.At(float64(b)), at, x.At(float64(b+1)), at)
		}
		f.Path(steps, 2, figure.Accent)
	}
	_, digits := figure.Ticks(float64(100*lo), float64(100*hi), 3)
	writeBelowStrips(f, "rank among all draws; each strip from %s to %s %%", number.Axis(float64(100*lo), digits+1), number.Axis(float64(100*hi), digits+1))
	f.Key("share of the chain's draws", func(f *figure.Figure, x, y float64) {
		f.Path([]float64{x, y + 7, x + 10, y + 7, x + 10, y + 3, x + 20, y + 3}, 2, figure.Accent)
	})
	f.Key("even, ± 2 standard errors", func(f *figure.Figure, x, y float64) {
		f.FillTranslucent(x, y, 20, 10, figure.Soft)
		f.Line(x, y+5, x+20, y+5, 1, figure.Ink)
	})
	f.PlaceKeys()
	return f
}

// traceFigure shows the values of statistic k at successive draws, with a strip for each chain.
func traceFigure(m *report.Model, k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Trace) == 0 || len(p.Trace[0]) < 2 {
		return nil
	}
	f := &figure.Figure{Name: fmt.Sprintf("trace-%d", k+1), Title: "Trace of " + p.Name + " by chain", Width: figureWidth}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range slices.Concat(p.Trace...) {
		if v.IsKnown() {
			lo, hi = min(lo, float64(v)), max(hi, float64(v))
		}
	}
	if math.IsInf(lo, 1) {
		return nil
	}
	f.Text = fmt.Sprintf("Trace of %s: one draw in %s, from the first to the last, between %s and %s.", number.CountWithNoun(len(p.Trace), "chain"), number.Thousands(p.Every), number.Axis(lo, 2), number.Axis(hi, 2))
	for c, chain := range p.Trace {
		x, y := drawStrip(f, c, c, 8, 2, float64(len(chain)-1), lo, hi)
		points := make([]float64, 0, 2*len(chain))
		for q, v := range chain {
			if v.IsKnown() {
				points = append(points, x.At(float64(q)), y.At(float64(v)))
			}
		}
		f.Path(points, 1, figure.Accent)
	}
	_, digits := figure.Ticks(lo, hi, 4)
	writeBelowStrips(f, "draw; each strip from %s to %s", number.Axis(lo, digits+1), number.Axis(hi, digits+1))
	return f
}
