package model

import (
	"math"
	"slices"
)

// A Bin of a reliability table summarises the events whose predicted probability is in [Low, Low +
// 1/10), or up to 1 for the last bin: their number, the mean of their probabilities, and the share
// that occurred. Empty bins are left out. The forest is calibrated if Predicted and Observed agree.
type Bin struct {
	Low       float64 `json:"low"`
	Events    int     `json:"events"`
	Predicted float64 `json:"predicted"`
	Observed  float64 `json:"observed"`
}

const bins = 10

// A reliability collects the events of a reliability table.
type reliability [bins]struct {
	events, occurred int
	predicted        float64
}

func (r *reliability) add(p float64, occurred bool) {
	b := &r[min(max(int(p*bins), 0), bins-1)]
	b.events++
	b.predicted += p
	if occurred {
		b.occurred++
	}
}

func (r *reliability) table() []Bin {
	var table []Bin
	for k, b := range r {
		if b.events > 0 {
			n := float64(b.events)
			table = append(table, Bin{float64(k) / bins, b.events, b.predicted / n, float64(b.occurred) / n})
		}
	}
	return table
}

// A moment accumulates a mean and its standard error.
type moment struct{ n, sum, squares float64 }

func (m *moment) add(v float64) {
	m.n++
	m.sum += v
	m.squares += float64(v * v)
}

func (m *moment) mean() float64 { return m.sum / m.n }

func (m *moment) standardError() float64 {
	if m.n < 2 {
		return 0
	}
	left := m.squares - m.sum*m.sum/m.n
	if left <= float64(m.n*0x1p-52*m.squares) {
		return 0 // equal numbers leave a rounding error only: the variance is 0
	}
	return math.Sqrt(left / (m.n - 1) / m.n)
}

// crps returns ∫ (F(z) − 1{z ≥ y})² dz. F is the distribution of the ascending values with their
// weights, and y the value with index label.
func crps(values, weights []float64, label int) float64 {
	sum, score := 0.0, 0.0
	for l := 0; l+1 < len(values); l++ {
		sum += weights[l]
		gap := sum - indicator(l >= label)
		score += float64(gap * gap * (values[l+1] - values[l]))
	}
	return score
}

// quantileIndex returns the index of the first weight with which the cumulative
// weight reaches p.
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

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// explained accumulates the share of a variance that predictions explain. For each row it keeps the
// squared errors of the prediction and of the prior.
type explained struct {
	modelErrors, priorErrors       []float64
	sumModelErrors, sumPriorErrors float64
}

func (e *explained) add(left, all float64) {
	e.modelErrors, e.priorErrors = append(e.modelErrors, left), append(e.priorErrors, all)
	e.sumModelErrors += left
	e.sumPriorErrors += all
}

// share returns 1 − Σ left / Σ all and its standard error, to first order: that of the mean of left
// − (1−share)·all, over the mean of all. Both are 0 if there is no variance.
func (e *explained) share() (share, standardError float64) {
	if e.sumPriorErrors == 0 {
		return 0, 0
	}
	rest := e.sumModelErrors / e.sumPriorErrors
	n := float64(len(e.priorErrors))
	var m moment
	for r, all := range e.priorErrors {
		m.add((e.modelErrors[r] - float64(rest*all)) / (e.sumPriorErrors / n))
	}
	return 1 - rest, m.standardError()
}

// coverageQuantile returns the k-th smallest of n numbers, k = ⌈(n+1)·coverage⌉, or the
// largest if there are fewer.
func coverageQuantile(outside []float64, coverage float64) float64 {
	sorted := slices.Sorted(slices.Values(outside))
	k := int(math.Ceil(float64(len(sorted)+1) * coverage))
	return sorted[min(k, len(sorted))-1]
}
