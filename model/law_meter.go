package model

import (
	"math"
	"slices"
)

// A distributionMeter measures how well predicted distributions agree with the numbers that were
// observed. Rows are added one by one.
type distributionMeter struct {
	prior        Distribution // distribution of the labels of all rows; it is the prediction to beat
	priorMean    float64      // mean of the labels of all rows
	priorDeciles []float64    // the nine deciles of the labels of all rows

	explainedVariance explainedVariance // squared errors of the predicted means and of the mean of prior
	// reliability compares predicted probabilities with observed frequencies. The events are that
	// the number is at most a decile of prior.
	reliability      reliabilityCollector
	rowCRPS          []float64       // CRPS of the predicted distribution for each row: see [Distribution.CRPS]
	priorCRPS        meanAccumulator // CRPS of prior: see [Distribution.CRPS]
	outsideDistances []float64       // how far each row's number lies outside its predicted 90 % interval; negative inside
	covered50Rows    int             // number of rows whose number lies in its predicted 50 % interval
	covered90Rows    int             // number of rows whose number lies in its predicted 90 % interval
}

// newDistributionMeter returns a meter for rows with the given numbers as labels.
func newDistributionMeter(numbers []float64) *distributionMeter {
	sorted := slices.Sorted(slices.Values(numbers))
	m := &distributionMeter{prior: Distribution{sorted, make([]float64, len(sorted))}}
	for k := range sorted {
		m.prior.Weights[k] = 1 / float64(len(sorted))
	}
	m.priorMean = m.prior.Mean()
	for k := 1; k <= 9; k++ {
		m.priorDeciles = append(m.priorDeciles, m.prior.Quantile(float64(k)/10))
	}
	return m
}

// addRow adds a row whose number is y and whose predicted distribution is l.
func (m *distributionMeter) addRow(y float64, l Distribution) {
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

// quality returns the quality of the predictions of all added rows. The result widen says by how
// much each end of the 90 % intervals must move outwards so that 90 % of the numbers lie in their
// intervals.
func (m *distributionMeter) quality() (q Quality, widen float64) {
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
