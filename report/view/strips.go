package view

import (
	"fmt"
	"math"

	"kir/report"
	"kir/report/figure"
	"kir/report/number"
)

// figureChains is how many chains figures and tables of chains show: the first.
const figureChains = 8

// stripLeft is where the strips of chains begin.
const stripLeft = 52.0

func ranksFigure(m *report.Model, k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Ranks) < 2 || !p.RankSE.Known() {
		return nil // ranks are compared between chains
	}
	const height, gap, top, right = 34.0, 6.0, 4.0, figureWidth - 4
	f := &figure.Figure{Name: fmt.Sprintf("ranks-%d", k+1), Title: "Ranks of " + p.Name + " by chain", Width: figureWidth}
	even := 1 / float64(len(p.Ranks[0]))
	se := float64(p.RankSE)
	farthest, beyond, bins := 3*se, 0, 0
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
	lo, hi := max(0, even-1.1*farthest), even+1.1*farthest
	f.Text = fmt.Sprintf("Rank plot: for each of %d chains, the share of its draws in each of %d bins of rank among all draws. Even shares mean that the chains follow one law. %d of %d shares lie outside two standard errors of the even one.",
		len(p.Ranks), len(p.Ranks[0]), beyond, bins)
	for c, chain := range p.Ranks {
		y0 := top + float64(c)*(height+gap)
		scale := figure.Scale{Lo: lo, Hi: hi, From: y0 + height, To: y0}
		x := figure.Scale{Lo: 0, Hi: float64(len(chain)), From: stripLeft, To: right}
		f.Write(stripLeft-6, y0+height/2+4, figure.SmallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", c))
		f.Rect(stripLeft, y0, right-stripLeft, height, figure.Shade)
		f.Wash(stripLeft, scale.Within(even+2*se), right-stripLeft, scale.Within(even-2*se)-scale.Within(even+2*se), figure.Soft)
		f.Line(stripLeft, scale.At(even), right, scale.At(even), 1, figure.Ink)
		var steps []float64
		for b, share := range chain {
			y := scale.At(float64(share))
			steps = append(steps, x.At(float64(b)), y, x.At(float64(b+1)), y)
		}
		f.Path(steps, 2, figure.Accent)
	}
	f.Height = top + float64(len(p.Ranks))*(height+gap)
	_, digits := figure.Ticks(100*lo, 100*hi, 3)
	f.Write((stripLeft+right)/2, f.Height+10, figure.SmallSize, figure.Middle, figure.Soft,
		fmt.Sprintf("rank among all draws; each strip from %s to %s %%", figure.Number(100*lo, digits+1), figure.Number(100*hi, digits+1)))
	f.Height += 16
	f.Key("share of the chain's draws", func(f *figure.Figure, x, y float64) {
		f.Path([]float64{x, y + 7, x + 10, y + 7, x + 10, y + 3, x + 20, y + 3}, 2, figure.Accent)
	})
	f.Key("even, ± 2 standard errors", func(f *figure.Figure, x, y float64) {
		f.Wash(x, y, 20, 10, figure.Soft)
		f.Line(x, y+5, x+20, y+5, 1, figure.Ink)
	})
	f.PlaceKeys()
	return f
}

func traceFigure(m *report.Model, k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Trace) == 0 || len(p.Trace[0]) < 2 {
		return nil
	}
	const height, gap, top = 34.0, 6.0, 8.0
	f := &figure.Figure{Name: fmt.Sprintf("trace-%d", k+1), Title: "Trace of " + p.Name + " by chain", Width: figureWidth}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, chain := range p.Trace {
		for _, v := range chain {
			if v.Known() {
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			}
		}
	}
	if math.IsInf(lo, 1) {
		return nil
	}
	f.Text = fmt.Sprintf("Trace of %d chains: one draw in %s, from the first to the last, between %s and %s.", len(p.Trace), number.Thousands(p.Every), figure.Number(lo, 2), figure.Number(hi, 2))
	for c, chain := range p.Trace {
		y0 := top + float64(c)*(height+gap)
		scale := figure.Scale{Lo: lo, Hi: hi, From: y0 + height, To: y0}
		x := figure.Scale{Lo: 0, Hi: float64(len(chain) - 1), From: stripLeft, To: figureWidth - 4}
		f.Rect(stripLeft, y0-2, figureWidth-4-stripLeft, height+4, figure.Shade)
		f.Write(stripLeft-6, y0+height/2+4, figure.SmallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", c))
		points := make([]float64, 0, 2*len(chain))
		for q, v := range chain {
			if v.Known() {
				points = append(points, x.At(float64(q)), scale.At(float64(v)))
			}
		}
		f.Path(points, 1, figure.Accent)
	}
	f.Height = top + float64(len(p.Trace))*(height+gap)
	_, digits := figure.Ticks(lo, hi, 4)
	f.Write((stripLeft+figureWidth-4)/2, f.Height+10, figure.SmallSize, figure.Middle, figure.Soft,
		fmt.Sprintf("draw; each strip from %s to %s", figure.Number(lo, digits+1), figure.Number(hi, digits+1)))
	f.Height += 16
	return f
}
