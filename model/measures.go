package model

import (
	"math"
	"slices"
)

// A Bin is one row of a reliability table, which compares predicted probabilities with observed
// frequencies. It summarises the events whose predicted probability is in [Low, Low + 1/10), or in
// [9/10, 1] for the last bin. Tables have no empty bins. The predictions are calibrated if
// Predicted and Observed agree.
type Bin struct {
	Low       float64 `json:"low"`       // least predicted probability of the bin
	Events    int     `json:"events"`    // number of events
	Predicted float64 `json:"predicted"` // mean of the predicted probabilities
	Observed  float64 `json:"observed"`  // share of the events that occurred
}

// binCount is the number of bins of a reliability table.
const binCount = 10

// A reliabilityCollector collects the events of a reliability table, which compares predicted
// probabilities with observed frequencies: see [Bin].
type reliabilityCollector [binCount]struct {
	events    int     // number of events in each bin
	occurred  int     // number of events in each bin that occurred
	predicted float64 // sum of the predicted probabilities in each bin
}

// addEvent adds an event that was predicted with probability p.
func (r *reliabilityCollector) addEvent(p float64, occurred bool) {
	b := &r[min(max(int(p*binCount), 0), binCount-1)]
	b.events++
	b.predicted += p
	if occurred {
		b.occurred++
	}
}

// table returns the rows of the reliability table. Bins without events are left out.
func (r *reliabilityCollector) table() []Bin {
	var table []Bin
	for k, b := range r {
		if b.events > 0 {
			n := float64(b.events)
			table = append(table, Bin{float64(k) / binCount, b.events, b.predicted / n, float64(b.occurred) / n})
		}
	}
	return table
}

// A meanAccumulator accumulates numbers to compute their mean and the standard error of the mean.
type meanAccumulator struct{ n, sum, sumSquares float64 }

func (m *meanAccumulator) add(v float64) {
	m.n++
	m.sum += v
	m.sumSquares += float64(v * v)
}

func (m *meanAccumulator) mean() float64 { return m.sum / m.n }

// standardError returns the standard error of the mean.
func (m *meanAccumulator) standardError() float64 {
	if m.n < 2 {
		return 0
	}
	left := m.sumSquares - m.sum*m.sum/m.n
	if left <= float64(m.n*0x1p-52*m.sumSquares) {
		return 0 // equal numbers leave a rounding error only: the variance is 0
	}
	return math.Sqrt(left / (m.n - 1) / m.n)
}

// crps returns the continuous ranked probability score ∫ (F(z) − 1{z ≥ y})² dz of a distribution F.
// The distribution has the given values, ascending, with the given weights. The observed number y
// is values[label].
func crps(values, weights []float64, label int) float64 {
	sum, score := 0.0, 0.0
	for l := 0; l+1 < len(values); l++ {
		sum += weights[l]
		gap := sum - indicator(l >= label)
		score += float64(gap * gap * (values[l+1] - values[l]))
	}
	return score
}

// quantileIndex returns the least index at which the cumulative weight is at least p. An index with
// weight 0 is never returned.
func quantileIndex(weights []float64, p float64) int {
	sum, last := 0.0, 0
	for l, w := range weights {
		if w <= 0 {
			continue
		}
		sum += w
		last = l
		if sum >= p-1e-12 { // the weights sum to 1 up to rounding
			break
		}
	}
	return last
}

// indicator returns 1 if b is true and 0 otherwise.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// An explainedVariance accumulates the squared errors of predictions and the squared errors of the
// prior, which predicts the same number for every row. It computes the share of the variance that
// the predictions explain.
type explainedVariance struct {
	modelErrors    []float64 // squared error of the model's prediction of each row
	priorErrors    []float64 // squared error of a constant prediction for each row
	sumModelErrors float64   // sum of modelErrors
	sumPriorErrors float64   // sum of priorErrors
}

// addRow adds a row with the squared error of the prediction and the squared error of the prior.
func (e *explainedVariance) addRow(modelError, priorError float64) {
	e.modelErrors, e.priorErrors = append(e.modelErrors, modelError), append(e.priorErrors, priorError)
	e.sumModelErrors += modelError
	e.sumPriorErrors += priorError
}

// explainedShare returns the explained share of the variance, 1 − Σ modelErrors / Σ priorErrors,
// and its standard error to first order. The standard error is computed from the mean of
// modelErrors − (1−share)·priorErrors: it is the standard error of this mean, divided by the mean
// of priorErrors. Both results are 0 if all prior errors are 0.
func (e *explainedVariance) explainedShare() (share, standardError float64) {
	if e.sumPriorErrors == 0 {
		return 0, 0
	}
	rest := e.sumModelErrors / e.sumPriorErrors
	n := float64(len(e.priorErrors))
	var m meanAccumulator
	for r, all := range e.priorErrors {
		m.add((e.modelErrors[r] - float64(rest*all)) / (e.sumPriorErrors / n))
	}
	return 1 - rest, m.standardError()
}

// coverageQuantile returns the k-th smallest of n numbers, k = ⌈(n+1)·coverage⌉. If k exceeds n, it
// returns the largest number.
func coverageQuantile(outside []float64, coverage float64) float64 {
	sorted := slices.Sorted(slices.Values(outside))
	k := int(math.Ceil(float64(len(sorted)+1) * coverage))
	return sorted[min(k, len(sorted))-1]
}
