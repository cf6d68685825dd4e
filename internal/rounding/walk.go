package rounding

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

const (
	// farthest is the greatest distance of an amount from its ideal, in steps of the scale.
	farthest = 16
	// mostNodes is the greatest number of partial roundings visited.
	mostNodes = 400_000
)

// search returns the rounding nearest to the ideal that satisfies the bounds. It looks near the ideal amounts first,
// and further away as long as it finds none.
func (r *roundingProblem) search(bounds []bound) (steps []int64, found bool) {
	for far := 2; far <= r.maxDistance; far *= 2 {
		w := newBranchAndBound(r, bounds, far)
		if w.empty {
			continue
		}
		if w.descend(0, 0, 0, 0); w.best != nil {
			return w.best, true
		}
	}
	return nil, false
}

// reason explains a failed search: it names a rule that no rounding satisfies alone, or blames
// all rules together.
func (r *roundingProblem) reason() string {
	for k := 0; k < len(r.bounds); {
		end := k
		for end < len(r.bounds) && r.bounds[end].rule == r.bounds[k].rule {
			end++
		}
		if _, ok := r.search(r.bounds[k:end]); !ok {
			return fmt.Sprintf("no rounding to this scale keeps the rule %s", r.name(r.bounds[k].rule))
		}
		k = end
	}
	return fmt.Sprintf("no rounding within %d steps of this scale was found that keeps all rules at once", farthest)
}

func (r *roundingProblem) name(k int) string {
	if r.ruleText == nil {
		return fmt.Sprintf("number %d", k+1)
	}
	return r.ruleText(k)
}

// A branchAndBound searches roundings by branch and bound. A partial rounding of the first k
// parts costs at least
//
//	Σ_{i<k} d_i² + Σ_{i≥k} min_x (d_i² − λ·d_i) + λ·(D − Σ_{i<k} d_i), d_i = x_i − q_i,
//
// for any λ, since Σ d_i = D = S − Σ q_i. λ is the marginal cost of the last step that the
// method of the largest remainder hands out. With this λ the bound is tight at the root if
// there are no rules.
type branchAndBound struct {
	*roundingProblem
	bounds []bound
	order  []int     // indices of parts, those with the fewest choices first
	choice [][]int64 // for each place in order: numbers of steps to try, nearest to the ideal first
	empty  bool      // whether some part has no choice, so that no rounding exists

	lambda, deviation float64
	rest              []float64     // for each place k in order: sum of the least costs from k on
	least, most       []int64       // for each place k in order: sums of the least and of the greatest choices from k on
	gain              [][][]float64 // contribution to each bound, by bound, place and choice; nil for bounds that are checked only at the end
	reach             [][]float64   // greatest contribution to each bound of the places from k on, by bound and k
	steps             []int64       // steps of each part in the present partial rounding
	partial           []float64     // sum of contributions to each bound in the present partial rounding
	best              []int64
	bestCost          float64
	seen              int
}

func newBranchAndBound(r *roundingProblem, bounds []bound, far int) *branchAndBound {
	n := len(r.parts)
	w := &branchAndBound{roundingProblem: r, bounds: bounds, steps: make([]int64, n), partial: make([]float64, len(bounds)), bestCost: math.Inf(1)}
	choices := make([][]int64, n)
	for i, q := range r.ideal {
		from := max(1, int64(math.Floor(q))-int64(far)+1)
		for x := from; x <= max(from, int64(math.Floor(q))+int64(far)); x++ {
			if r.isFeasibleAlone(bounds, i, x) {
				choices[i] = append(choices[i], x)
			}
		}
		slices.SortStableFunc(choices[i], func(a, b int64) int {
			return cmp.Compare(math.Abs(float64(a)-q), math.Abs(float64(b)-q))
		})
		w.empty = w.empty || len(choices[i]) == 0
		w.order = append(w.order, i)
		w.deviation -= q
	}
	if w.empty {
		return w
	}
	w.deviation += float64(r.sum)
	slices.SortStableFunc(w.order, func(a, b int) int { return cmp.Compare(len(choices[a]), len(choices[b])) })
	for _, i := range w.order {
		w.choice = append(w.choice, choices[i])
	}
	w.computeMultiplier()
	w.computeSuffixBounds()
	return w
}

// hasUniformWeights reports whether one step is the same fraction of the batch for every part. The units of a part
// then depend on its steps alone.
func (r *roundingProblem) hasUniformWeights() bool {
	return r.density == nil || !slices.ContainsFunc(r.weights, func(w *big.Rat) bool { return w.Cmp(r.weights[0]) != 0 })
}

// isFeasibleAlone reports whether a part with x steps can satisfy the grid bounds on that
// part. With unequal weights its units are unknown, so the answer is true.
func (r *roundingProblem) isFeasibleAlone(bounds []bound, part int, x int64) bool {
	if !r.hasUniformWeights() {
		return true
	}
	for k := range bounds {
		b := &bounds[k]
		if b.period == 0 || b.part != part {
			continue
		}
		if !isOnGrid(new(big.Rat).SetFrac64(r.total*x, r.sum), b.first, b.period) {
			return false
		}
	}
	return true
}

// computeMultiplier sets λ, the marginal cost in the bound of [branchAndBound].
func (w *branchAndBound) computeMultiplier() {
	var prices []float64
	left := w.sum
	for _, q := range w.ideal {
		left -= int64(math.Floor(q))
		prices = append(prices, 1-float64(2*(q-math.Floor(q))))
	}
	slices.Sort(prices)
	at := min(max(int(left), 0), len(prices))
	w.lambda = float64((prices[max(at-1, 0)] + prices[min(at, len(prices)-1)]) / 2)
}

// computeSuffixBounds computes the tables rest, least, most, gain and reach, from which descend bounds incomplete
// roundings.
func (w *branchAndBound) computeSuffixBounds() {
	n := len(w.order)
	w.rest, w.least, w.most = make([]float64, n+1), make([]int64, n+1), make([]int64, n+1)
	for k := n - 1; k >= 0; k-- {
		cheapest := math.Inf(1)
		for _, x := range w.choice[k] {
			d := float64(x) - w.ideal[w.order[k]]
			cheapest = min(cheapest, float64(d*d)-float64(w.lambda*d))
		}
		w.rest[k] = w.rest[k+1] + cheapest
		w.least[k] = w.least[k+1] + slices.Min(w.choice[k])
		w.most[k] = w.most[k+1] + slices.Max(w.choice[k])
	}
	same := w.hasUniformWeights()
	for b := range w.bounds {
		w.gains(b, same)
		reach := make([]float64, n+1)
		for k := n - 1; k >= 0 && w.gain[b] != nil; k-- {
			reach[k] = reach[k+1] + slices.Max(w.gain[b][k])
		}
		w.reach = append(w.reach, reach)
	}
}

// gains computes the contribution of each choice of each part to bound b.
func (w *branchAndBound) gains(b int, same bool) {
	bound := &w.bounds[b]
	w.gain = append(w.gain, nil)
	if bound.period > 0 || bound.nonlinearSum != nil && !same {
		return
	}
	rows := make([][]float64, len(w.order))
	start, largest := 0.0, 1.0
	for k, i := range w.order {
		for _, x := range w.choice[k] {
			v := 0.0
			if bound.isLinear() {
				v = float64(bound.floats[i] * float64(x))
			} else {
				v, _ = w.nonlinearTerm(bound, i, new(big.Rat).SetFrac64(w.total*x, w.sum)).Float64()
				largest = max(largest, math.Abs(v))
			}
			rows[k] = append(rows[k], v)
		}
	}
	if bound.nonlinearSum != nil { // scaled to the size of the steps' sum, as linear bounds are
		start, _ = bound.signedLimit().Float64()
		factor := float64(w.sum) / max(largest, math.Abs(start))
		for k := range rows {
			for c := range rows[k] {
				rows[k][c] = float64(rows[k][c] * factor)
			}
		}
		start = float64(start * factor)
	}
	if !same {
		for _, f := range bound.floats {
			start += float64(math.Abs(f) / 2)
		}
	}
	w.gain[b], w.partial[b] = rows, start
}

// descend tries each choice for place k and, recursively, for all later places. sum, off and cost describe the
// choices made before.
func (w *branchAndBound) descend(k int, sum int64, off, cost float64) {
	if w.seen++; w.seen > w.maxNodes {
		return
	}
	if least := cost + w.rest[k] + float64(w.lambda*(w.deviation-off)); least >= w.bestCost-tolerance {
		return
	}
	if sum+w.least[k] > w.sum || sum+w.most[k] < w.sum {
		return
	}
	for b := range w.bounds {
		if w.gain[b] != nil && !isNonNegative(w.partial[b]+w.reach[b][k], float64(w.sum)) {
			return
		}
	}
	if k == len(w.order) {
		for b := range w.bounds {
			if !w.satisfies(&w.bounds[b], w.steps) {
				return
			}
		}
		w.best, w.bestCost = slices.Clone(w.steps), cost
		return
	}
	i := w.order[k]
	before := slices.Clone(w.partial)
	for c, x := range w.choice[k] {
		w.steps[i] = x
		for b := range w.bounds {
			if w.gain[b] != nil {
				w.partial[b] = before[b] + w.gain[b][k][c]
			}
		}
		d := float64(x) - w.ideal[i]
		w.descend(k+1, sum+x, off+d, cost+float64(d*d))
	}
	copy(w.partial, before)
}
