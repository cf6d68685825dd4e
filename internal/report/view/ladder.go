package view

import (
	"fmt"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/run"
	"kir/internal/terminal"
)

// maxTextRungs is the largest number of inverse temperatures of a tempered chain that the text
// report lists.
const maxTextRungs = 41

// writeLadders writes the section on tempered chains: how well they move between inverse
// temperatures. The parameter dir is the location of the run; it may be empty.
func writeLadders(m *report.Model, p *terminal.Printer, dir string) {
	worst := m.WorstLadder()
	if worst == nil {
		return
	}
	p.Heading("%s", p.Bold("Tempering: recipes climb a ladder from random (β = 0) to good ones (β = 1)"))
	learnt := ""
	t := terminal.NewTable(0, "chain", "steps", "restarts", "round trips", "rejected", "Λ", "log Z", "±")
	for _, l := range m.Ladders[:min(len(m.Ladders), maxTextLadders)] {
		t.Row(l.Chain, l.Steps(), number.Thousands(l.Restarts), number.Thousands(l.RoundTrips), number.Rate(l.MostRejected()),
			number.Fixed(l.Barrier, 2), number.Fixed(l.LogZ.Value, 3), number.Error(l.LogZ.SE))
		if leg := l.Learnt; leg != nil {
			learnt = " Learnt: a second ladder of the chain above, which starts from recipes like those of the warm-up."
			t.Row("learnt", leg.Steps, number.Thousands(leg.Restarts), number.Thousands(leg.RoundTrips), number.Rate(leg.Rejected),
				number.Fixed(leg.Barrier, 2), number.Fixed(leg.LogZ.Value, 3), number.Error(leg.LogZ.SE))
		}
	}
	p.Table(t)
	if more := len(m.Ladders) - maxTextLadders; more > 0 {
		p.Line("%s", moreText(more, dir))
	}
	p.Wrapped(0, fmt.Sprintf("In %s scans a chain. Restarts: recipes that climbed from β = 0 to β = 1; round trips: those that had been at β = 1 before; 0 is bad. Rejected: exchanges that failed at the worst step; Λ: the sum over the steps.%s log Z, the log of the mean score of random recipes, is %s ± %s (standard error); all chains should agree on it.",
		number.Thousands(worst.Scans), learnt, number.Fixed(m.LogZ.Value, 3), number.Error(m.LogZ.SE)))
	if worst.Steps() == 0 {
		p.Wrapped(0, "There are no objectives, so the ladder has one rung.")
		return
	}
	p.Line("")
	p.Wrapped(0, fmt.Sprintf("The ladder of chain %d, which made the fewest round trips. Rejected: failed exchanges with the next β; Λ(β): their sum so far; forbidden: scans with a score of 0.", worst.Chain))
	rungs := terminal.NewTable(0, "β", "rejected", "Λ(β)", "mean log score", "forbidden")
	for k, g := range worst.Rungs {
		if k == maxTextRungs && len(worst.Rungs) > maxTextRungs+1 {
			p.Table(rungs)
			p.Line("%s", moreText(len(worst.Rungs)-k, dir))
			return
		}
		rejected := ""
		if g.Rejected.IsKnown() {
			rejected = number.Rate(g.Rejected)
		}
		rungs.Row(number.FourFigures(g.Beta), rejected, number.Fixed(g.Barrier, 2), number.FourFigures(g.MeanLogScore), number.Rate(g.Forbidden))
	}
	p.Table(rungs)
}

// maxTextLadders is the largest number of tempered chains that the text report lists.
const maxTextLadders = 16

// laddersForFigures returns the ladders (statistics of tempered chains) that figures show: those of
// the first chains that have at least two inverse temperatures.
func laddersForFigures(m *report.Model) []run.Ladder {
	var shown []run.Ladder
	for _, l := range m.Ladders[:min(len(m.Ladders), maxFigureChains)] {
		if l.Steps() > 0 {
			shown = append(shown, l)
		}
	}
	return shown
}

// barrierFigure shows, for tempered chains, the sum of the rejection rates up to each inverse
// temperature.
func barrierFigure(m *report.Model) *figure.Figure {
	ladders := laddersForFigures(m)
	if len(ladders) == 0 {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 10, 10.0, 180.0
	f := &figure.Figure{Name: "barrier", Title: "Failed exchanges up to each β (Λ)", Width: figureWidth, Height: bottom + 38}
	highest := 0.0
	var said []string
	for _, l := range ladders {
		highest = max(highest, float64(l.Barrier))
		said = append(said, fmt.Sprintf("chain %d %s in %s", l.Chain, number.Fixed(l.Barrier, 2), number.CountWithNoun(l.Steps(), "step")))
	}
	f.Text = fmt.Sprintf("Lines: the sum of the shares of failed exchanges from β = 0 up to β, for each of %s. It ends at β = 1: %s.", number.CountWithNoun(len(ladders), "chain"), strings.Join(said, "; "))
	if highest == 0 {
		highest = 1 // no swap was rejected
	}
	y := f.Frame(left, top, right, bottom, float64(1.05*highest), 1, "β; Λ(β) upwards")
	x := figure.Scale{Lo: 0, Hi: 1, From: left, To: right}
	for _, t := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
		f.Write(x.At(t), bottom+17, figure.SmallSize, figure.Middle, figure.Soft, number.Axis(t, 1))
	}
	for _, l := range ladders {
		var points []float64
		for _, g := range l.Rungs {
			points = append(points, x.At(float64(g.Beta)), y.At(float64(g.Barrier)))
		}
		f.Path(points, 1.2, figure.Accent)
		for k := 0; k < len(points); k += 2 {
			f.Dot(points[k], points[k+1], 2.2, figure.Accent)
		}
	}
	f.Key("a chain, with a dot for each β of its ladder", func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 1.2, figure.Accent)
		f.Dot(x+10, y+5, 2.2, figure.Accent)
	})
	f.PlaceKeys()
	return f
}

// rejectionsFigure shows, for tempered chains, the rejection rate of swaps between neighbouring
// inverse temperatures.
func rejectionsFigure(m *report.Model) *figure.Figure {
	ladders := laddersForFigures(m)
	if len(ladders) == 0 {
		return nil
	}
	f := &figure.Figure{Name: "rejections", Title: "Failed exchanges by step of the ladder", Width: figureWidth}
	var said []string
	for c, l := range ladders {
		x, y := drawStrip(f, c, l.Chain, 4, 0, float64(l.Steps()), 0, 1)
		least := report.Number(1)
		for k, g := range l.Rungs[:l.Steps()] {
			from, to, at := x.At(float64(k)), x.At(float64(k+1)), y.ClampedAt(float64(g.Rejected))
			f.FillTranslucent(from, at, x.At(1)-x.At(0), y.From-at, figure.Accent)
			f.Line(from, at, to, at, 2, figure.Accent)
			least = min(least, g.Rejected)
		}
		said = append(said, fmt.Sprintf("chain %d from %s to %s", l.Chain, number.Percent(least), number.Percent(l.MostRejected())))
	}
	f.Text = fmt.Sprintf("Bars: for each chain, the share of exchanges that fail at each step from β = 0 to β = 1; a well-spaced ladder has even bars. %s.", strings.Join(said, "; "))
	writeBelowStrips(f, "step, from β = 0 to β = 1; each strip from 0 to 100 %%")
	return f
}
