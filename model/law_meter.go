package model

import (
	"math"
	"slices"
)

// A lawMeter measures the quality of predicted distributions of numbers, one row after another.
type lawMeter struct {
	prior        Distribution // the distribution of the labels of all rows
	priorMean    float64      // the mean of the prior
	priorDeciles []float64    // the nine deciles of the prior

	explainedVariance explainedVariance // squared errors of the predictions and of the prior
	reliability       reliability       // compares predicted probabilities with frequencies, for the events that the number is at most a decile of the prior
	rowCRPS           []float64         // by row: the continuous ranked probability score of the predicted distribution
	priorCRPS         meanAccumulator   // the continuous ranked probability score of the prior
	outsideDistances  []float64         // by row: how far the number lies outside its 90 % interval; negative inside the interval
	covered50Rows     int               // number of rows whose number lies in its 50 % interval
	covered90Rows     int               // number of rows whose number lies in its 90 % interval
}

// newLawMeter returns a meter for rows with the given numbers as labels.
func newLawMeter(numbers []float64) *lawMeter {
	sorted := slices.Sorted(slices.Values(numbers))
	m := &lawMeter{prior: Distribution{sorted, make([]float64, len(sorted))}}
	for k := range sorted {
		m.prior.Weights[k] = 1 / float64(len(sorted))
	}
	m.priorMean = m.prior.Mean()
	for k := 1; k <= 9; k++ {
		m.priorDeciles = append(m.priorDeciles, m.prior.Quantile(float64(k)/10))
	}
	return m
}

// addRow adds a row with the number y and the predicted distribution l.
func (m *lawMeter) addRow(y float64, l Distribution) {
	gap, all := l.Mean()-y, m.priorMean-y
	m.explainedVariance.addRow(float64(gap*gap), float64(all*all))
	m.rowCRPS = append(m.rowCRPS, l.CRPS(y))
	m.priorCRPS.add(m.prior.CRPS(y))
	if l.Quantile(0.25) <= y && y <= l.Quantile(0.75) {
		m.covered50Rows++
	}
	low, high := l.Quantile(0.05), l.Quantile(0.95)
	if low <= y && y <= high {
		m.covered90Rows++
	}
	m.outsideDistances = append(m.outsideDistances, max(low-y, y-high))
	for _, d := range m.priorDeciles {
		m.reliability.addEvent(l.Share(math.Inf(-1), d), y <= d)
	}
}

// quality returns the quality of the predictions added so far. The second result is by how much
// each end of a 90 % interval must move outwards, so that 90 % of the rows lie in their intervals.
func (m *lawMeter) quality() (q Quality, widen float64) {
	n := float64(len(m.rowCRPS))
	if n == 0 {
		return q, 0
	}
	loss := differenceMoments(m.rowCRPS, nil)
	widen = coverageQuantile(m.outsideDistances, 0.9)
	q = Quality{Rows: len(m.rowCRPS), Numbers: &NumberQuality{
		RMSE:        math.Sqrt(m.explainedVariance.sumModelErrors / n),
		PriorRMSE:   math.Sqrt(m.explainedVariance.sumPriorErrors / n),
		Widen90:     widen,
		CRPS:        loss.mean(),
		CRPSSE:      loss.standardError(),
		PriorCRPS:   m.priorCRPS.mean(),
		Coverage50:  float64(m.covered50Rows) / n,
		Coverage90:  float64(m.covered90Rows) / n,
		Reliability: m.reliability.table(),
	}}
	q.Numbers.R2, q.Numbers.R2SE = m.explainedVariance.explainedShare()
	return q, widen
}
