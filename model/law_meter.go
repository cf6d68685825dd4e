package model

import (
	"math"
	"slices"
)

// A lawMeter measures the quality of laws of numbers.
type lawMeter struct {
	prior   Law
	mean    float64 // mean of the prior law
	deciles []float64

	explained explained
	table     reliability
	crps      []float64 // by row: its continuous ranked probability score
	priorCRPS moment
	outside   []float64 // by row: how far the number lies outside its 90 % interval
	covered50 int
	covered90 int
}

// newLawMeter returns a meter for rows with these numbers.
func newLawMeter(numbers []float64) *lawMeter {
	sorted := slices.Sorted(slices.Values(numbers))
	m := &lawMeter{prior: Law{sorted, make([]float64, len(sorted))}}
	for k := range sorted {
		m.prior.Weights[k] = 1 / float64(len(sorted))
	}
	m.mean = m.prior.Mean()
	for k := 1; k <= 9; k++ {
		m.deciles = append(m.deciles, m.prior.Quantile(float64(k)/10))
	}
	return m
}

// add counts the law of a row whose number is y.
func (m *lawMeter) add(y float64, l Law) {
	gap, all := l.Mean()-y, m.mean-y
	m.explained.add(float64(gap*gap), float64(all*all))
	m.crps = append(m.crps, l.CRPS(y))
	m.priorCRPS.add(m.prior.CRPS(y))
	if l.Quantile(0.25) <= y && y <= l.Quantile(0.75) {
		m.covered50++
	}
	low, high := l.Quantile(0.05), l.Quantile(0.95)
	if low <= y && y <= high {
		m.covered90++
	}
	m.outside = append(m.outside, max(low-y, y-high))
	for _, d := range m.deciles {
		m.table.add(l.Share(math.Inf(-1), d), y <= d)
	}
}

// quality returns the quality of the added laws, and by how much 90 % intervals must be widened.
func (m *lawMeter) quality() (q Quality, widen float64) {
	n := float64(len(m.crps))
	if n == 0 {
		return q, 0
	}
	loss := differenceMoments(m.crps, nil)
	widen = coverageQuantile(m.outside, 0.9)
	q = Quality{Rows: len(m.crps), Numbers: &NumberQuality{
		RMSE:        math.Sqrt(m.explained.sumModelErrors / n),
		PriorRMSE:   math.Sqrt(m.explained.sumPriorErrors / n),
		Widen90:     widen,
		CRPS:        loss.mean(),
		CRPSSE:      loss.standardError(),
		PriorCRPS:   m.priorCRPS.mean(),
		Coverage50:  float64(m.covered50) / n,
		Coverage90:  float64(m.covered90) / n,
		Reliability: m.table.table(),
	}}
	q.Numbers.R2, q.Numbers.R2SE = m.explained.share()
	return q, widen
}
