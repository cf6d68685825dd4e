package view

import (
	"fmt"

	"kir/report"
	"kir/report/figure"
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
	best, various := m.Shortlists(pageBest, pageDiverse)
	colours := coloursOf(best, various)
	for _, b := range best {
		add(compositionFigure(m, fmt.Sprintf("best-%d", b.Place+1), fmt.Sprintf("Best composition %d", b.Place+1), &b.Best, colours))
	}
	for _, b := range various {
		add(compositionFigure(m, fmt.Sprintf("diverse-%d", b.Place+1), fmt.Sprintf("Diverse composition %d", b.Place+1), &b.Best, colours))
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
	}
	return all
}

const (
	// pageBest and pageDiverse are how many compositions the page shows.
	pageBest    = 6
	pageDiverse = 6
)
