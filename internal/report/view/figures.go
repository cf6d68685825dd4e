package view

import (
	"fmt"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// Figures returns every figure of the report, in its order. Which there are
// depends on the run: without properties there are no scores.
func Figures(m *report.Model) []*figure.Figure {
	var all []*figure.Figure
	add := func(f *figure.Figure) {
		if f != nil {
			all = append(all, f)
		}
	}
	list := m.Best[:min(len(m.Best), pageBest)]
	colours := coloursOf(list)
	for k := range list {
		add(compositionFigure(m, fmt.Sprintf("best-%d", k+1), fmt.Sprintf("Entry %d of the shortlist", k+1), &list[k], colours))
	}
	for _, f := range TradeFigures(m.Tradeoff) {
		add(f)
	}
	add(inclusionFigure(m))
	add(amountsFigure(m))
	add(pairsFigure(m))
	add(sizesFigure(m))
	add(scoreFigure(m))
	for k := range m.Plots {
		add(ranksFigure(m, k))
		add(traceFigure(m, k))
	}
	add(barrierFigure(m))
	add(rejectionsFigure(m))
	for k := range m.Properties {
		add(importanceFigure(m, k))
		if w := &m.Properties[k]; w.Forest != nil {
			add(responseFigure(w.Forest, fmt.Sprintf("response-%d", k+1), w.Name))
		}
	}
	return all
}

// pageBest is how many entries of the shortlist the page shows.
const pageBest = 20
