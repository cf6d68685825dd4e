package view

import (
	"fmt"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// Figures returns all figures of the report on a run, in their order on the page. A run without
// properties has no figures of scores.
func Figures(m *report.Model) []*figure.Figure {
	var all []*figure.Figure
	add := func(f *figure.Figure) {
		if f != nil {
			all = append(all, f)
		}
	}
	list := m.Best[:min(len(m.Best), maxPageEntries)]
	colours := shortlistColours(m, list)
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
		for _, f := range propertyResponseFigures(m, k, PanelsAcross) {
			add(f)
		}
	}
	return all
}

// ResponseFigures returns the figures that show how predictions change with amounts and conditions.
// The parameter across is the number of panels side by side.
func ResponseFigures(m *report.Model, across int) []*figure.Figure {
	var all []*figure.Figure
	for k := range m.Properties {
		all = append(all, propertyResponseFigures(m, k, across)...)
	}
	return all
}

// propertyResponseFigures returns the figure that shows how the prediction for property k changes
// with amounts and conditions. It returns no figure if that is unknown.
func propertyResponseFigures(m *report.Model, k, across int) []*figure.Figure {
	w := &m.Properties[k]
	if w.Forest == nil {
		return nil
	}
	if f := responseFigure(w.Forest, fmt.Sprintf("response-%d", k+1), w.Name, across); f != nil {
		return []*figure.Figure{f}
	}
	return nil
}

// maxPageEntries is the largest number of entries of the shortlist on the page of a report.
const maxPageEntries = 20
