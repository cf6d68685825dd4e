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
	var bestKnown report.BestKnown
	if m.BestKnown != nil {
		bestKnown = *m.BestKnown
	}
	add(heatMapFigure(m, bestKnown.Name, bestKnown.Recipe))
	add(parallelFigure(m))
	add(mapFigure(m, bestKnown.Name))
	add(ternaryFigure(m, bestKnown.Name))
	for _, f := range TradeFigures(m.Tradeoff) {
		add(f)
	}
	add(inclusionFigure(m))
	add(amountsFigure(m))
	add(pairsFigure(m))
	add(networkFigure(m.Pairs))
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
		add(propertyHeldOutFigure(m, k))
		for _, f := range propertyResponseFigures(m, k) {
			add(f)
		}
	}
	return all
}

// ResponseFigures returns the figures that show how predictions change with amounts and conditions.
func ResponseFigures(m *report.Model) (all []*figure.Figure) {
	for k := range m.Properties {
		all = append(all, propertyResponseFigures(m, k)...)
	}
	return all
}

// propertyResponseFigures returns the figures that show how the prediction for property k changes
// with amounts and conditions. There are none if that is unknown.
func propertyResponseFigures(m *report.Model, k int) []*figure.Figure {
	w := &m.Properties[k]
	if w.Forest == nil {
		return nil
	}
	return responseFigures(w.Forest, fmt.Sprintf("response-%d", k+1), w.Name)
}

// propertyHeldOutFigure returns the figure of predicted against measured values of property k, or
// nil if there are none.
func propertyHeldOutFigure(m *report.Model, k int) *figure.Figure {
	w := &m.Properties[k]
	if w.Forest == nil {
		return nil
	}
	return heldOutFigure(w.Forest, fmt.Sprintf("held-out-%d", k+1), w.Forest.Label)
}

// maxPageEntries is the largest number of entries of the shortlist on the page of a report.
const maxPageEntries = 20
