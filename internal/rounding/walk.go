package rounding

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

const (
	// maxRoundingDistance is the maximum distance between a rounded amount and the ideal amount, in steps of the
	// scale.
	maxRoundingDistance = 16
	// defaultMaxPartialRoundings is the maximum number of partial roundings that a search looks at. A partial rounding fixes
	// the steps of some of the parts.
	defaultMaxPartialRoundings = 400_000
)

// findNearestRounding returns the rounding nearest to the ideal numbers of steps that satisfies the bounds. The
// method first tries numbers of steps next to the ideal numbers, and then, until a rounding is found, numbers
// further away.
func (r *roundingProblem) findNearestRounding(bounds []roundingBound) (steps []int64, found bool) {
	for far := 2; far <= r.maxDistance; far *= 2 {
		w := newRoundingSearch(r, bounds, far)
		if w.hasNoChoice {
			continue
		}
		if w.searchFrom(0, 0, 0, 0); w.bestSteps != nil {
			return w.bestSteps, true
		}
	}
	return nil, false
}

// failureReason explains a failed search: the reason names a rule that no rounding satisfies alone, or blames
// all rules together.
func (r *roundingProblem) failureReason() string {
	for k := 0; k < len(r.bounds); {
		end := k
		for end < len(r.bounds) && r.bounds[end].ruleIndex == r.bounds[k].ruleIndex {
			end++
		}
		if _, ok := r.findNearestRounding(r.bounds[k:end]); !ok {
			return fmt.Sprintf("no rounding to this scale keeps the rule %s", r.ruleName(r.bounds[k].ruleIndex))
		}
		k = end
	}
	return fmt.Sprintf("no rounding within %d steps of this scale was found that keeps all rules at once", maxRoundingDistance)
}

// ruleName returns the text of the rule with index k, or its number if there is no text.
func (r *roundingProblem) ruleName(k int) string {
	if r.ruleText == nil {
		return fmt.Sprintf("number %d", k+1)
	}
	return r.ruleText(k)
}

// A roundingSearch searches roundings by branch and bound. A partial rounding fixes the steps of the first k
// parts. Its cost, the sum of the squared deviations from the ideal numbers of steps, becomes at least
//
//	Σ_{i<k} d_i² + Σ_{i≥k} min_x (d_i² − λ·d_i) + λ·(D − Σ_{i<k} d_i), d_i = x_i − q_i,
//
// for any Lagrange multiplier λ, since Σ d_i = D = S − Σ q_i. Here x_i is the number of steps of part i, q_i is
// the ideal number, and S is the number of steps of the batch. The field lambda holds λ, chosen as the marginal
// cost of the last step that the method of the largest remainder hands out. With this λ, and without rules, the
// bound at the start of the search equals the cost of the best rounding.
type roundingSearch struct {
	*roundingProblem
	bounds      []roundingBound // bounds to satisfy
	partOrder   []int           // indices of the parts in the order of the search; parts with the fewest choices come first
	choices     [][]int64       // item k lists the numbers of steps to try for the part at place k of partOrder; the number nearest to the ideal comes first
	hasNoChoice bool            // whether some part has no number of steps to try, so that no rounding exists

	lambda, totalDeviation float64       // the Lagrange multiplier λ, and the total deviation D of the steps from the ideal
	restCosts              []float64     // item k is the sum, over the parts from place k of partOrder on, of the least cost d² − λ·d of a choice
	leastSums, mostSums    []int64       // items k are the sums, over the parts from place k of partOrder on, of the least and of the greatest number of steps to try
	contributions          [][][]float64 // contributions[b][k][c] is what choice c for the part at place k of partOrder contributes to bound b; contributions[b] is nil if bound b is checked only at the end
	maxContributions       [][]float64   // maxContributions[b][k] is the greatest possible contribution to bound b of the parts from place k of partOrder on
	steps                  []int64       // item i is the number of steps of part i in the present partial rounding
	partialSums            []float64     // item b is the constant of bound b plus the contributions of the parts in the present partial rounding
	bestSteps              []int64       // item i is the number of steps of part i in the best rounding so far; nil if no rounding was found
	bestCost               float64       // cost Σ d_i² of bestSteps
	visitedCount           int           // number of partial roundings looked at
}

func newRoundingSearch(r *roundingProblem, bounds []roundingBound, far int) *roundingSearch {
	n := len(r.recipeParts)
	w := &roundingSearch{roundingProblem: r, bounds: bounds, steps: make([]int64, n), partialSums: make([]float64, len(bounds)), bestCost: math.Inf(1)}
	choices := make([][]int64, n)
	for i, q := range r.idealSteps {
		from := max(1, int64(math.Floor(q))-int64(far)+1)
		for x := from; x <= max(from, int64(math.Floor(q))+int64(far)); x++ {
			if r.isFeasibleAlone(bounds, i, x) {
				choices[i] = append(choices[i], x)
			}
		}
		slices.SortStableFunc(choices[i], func(a, b int64) int {
			return cmp.Compare(math.Abs(float64(a)-q), math.Abs(float64(b)-q))
		})
		w.hasNoChoice = w.hasNoChoice || len(choices[i]) == 0
		w.partOrder = append(w.partOrder, i)
		w.totalDeviation -= q
	}
	if w.hasNoChoice {
		return w
	}
	w.totalDeviation += float64(r.batchSteps)
	slices.SortStableFunc(w.partOrder, func(a, b int) int { return cmp.Compare(len(choices[a]), len(choices[b])) })
	for _, i := range w.partOrder {
		w.choices = append(w.choices, choices[i])
	}
	w.computeMultiplier()
	w.computeSuffixBounds()
	return w
}

// hasUniformWeights reports whether one step is the same fraction of the batch for every part. If so, the units
// of a part depend only on the steps of the part.
func (r *roundingProblem) hasUniformWeights() bool {
	return r.densities == nil || !slices.ContainsFunc(r.weights, func(w *big.Rat) bool { return w.Cmp(r.weights[0]) != 0 })
}

// isFeasibleAlone reports whether a part with x steps satisfies the grid bounds on that part. If the weights of
// the parts differ, the units of the part are not yet known, so the answer is true.
func (r *roundingProblem) isFeasibleAlone(bounds []roundingBound, part int, x int64) bool {
	if !r.hasUniformWeights() {
		return true
	}
	for k := range bounds {
		b := &bounds[k]
		if b.gridPeriod == 0 || b.gridPart != part {
			continue
		}
		if !isOnGrid(new(big.Rat).SetFrac64(r.total*x, r.batchSteps), b.gridFirst, b.gridPeriod) {
			return false
		}
	}
	return true
}

// computeMultiplier sets the Lagrange multiplier λ in the lower bound of the cost; see [roundingSearch].
func (w *roundingSearch) computeMultiplier() {
	var prices []float64
	left := w.batchSteps
	for _, q := range w.idealSteps {
		left -= int64(math.Floor(q))
		prices = append(prices, 1-float64(2*(q-math.Floor(q))))
	}
	slices.Sort(prices)
	at := min(max(int(left), 0), len(prices))
	w.lambda = float64((prices[max(at-1, 0)] + prices[min(at, len(prices)-1)]) / 2)
}

// computeSuffixBounds computes restCosts, leastSums, mostSums, contributions and maxContributions. From these
// tables searchFrom bounds what the parts that are not yet rounded can cost and contribute.
func (w *roundingSearch) computeSuffixBounds() {
	n := len(w.partOrder)
	w.restCosts, w.leastSums, w.mostSums = make([]float64, n+1), make([]int64, n+1), make([]int64, n+1)
	for k := n - 1; k >= 0; k-- {
		cheapest := math.Inf(1)
		for _, x := range w.choices[k] {
			d := float64(x) - w.idealSteps[w.partOrder[k]]
			cheapest = min(cheapest, float64(d*d)-float64(w.lambda*d))
		}
		w.restCosts[k] = w.restCosts[k+1] + cheapest
		w.leastSums[k] = w.leastSums[k+1] + slices.Min(w.choices[k])
		w.mostSums[k] = w.mostSums[k+1] + slices.Max(w.choices[k])
	}
	same := w.hasUniformWeights()
	for b := range w.bounds {
		w.computeContributions(b, same)
		reach := make([]float64, n+1)
		for k := n - 1; k >= 0 && w.contributions[b] != nil; k-- {
			reach[k] = reach[k+1] + slices.Max(w.contributions[b][k])
		}
		w.maxContributions = append(w.maxContributions, reach)
	}
}

// computeContributions computes the contribution of each choice of each part to the bound with the given index.
// The parameter uniformWeights tells whether all parts have the same weight, as reported by hasUniformWeights.
func (w *roundingSearch) computeContributions(boundIndex int, uniformWeights bool) {
	bound := &w.bounds[boundIndex]
	w.contributions = append(w.contributions, nil)
	if bound.gridPeriod > 0 || bound.nonlinearSum != nil && !uniformWeights {
		return
	}
	rows := make([][]float64, len(w.partOrder))
	start, largest := 0.0, 1.0
	for k, i := range w.partOrder {
		for _, x := range w.choices[k] {
			v := 0.0
			if bound.isLinear() {
				v = float64(bound.scaledFactors[i] * float64(x))
			} else {
				v, _ = w.nonlinearTerm(bound, i, new(big.Rat).SetFrac64(w.total*x, w.batchSteps)).Float64()
				largest = max(largest, math.Abs(v))
			}
			rows[k] = append(rows[k], v)
		}
	}
	if bound.nonlinearSum != nil { // scaled to the size of the sum of the steps, like linear bounds
		start, _ = bound.signedLimit().Float64()
		factor := float64(w.batchSteps) / max(largest, math.Abs(start))
		for k := range rows {
			for c := range rows[k] {
				rows[k][c] = float64(rows[k][c] * factor)
			}
		}
		start = float64(start * factor)
	}
	if !uniformWeights {
		for _, f := range bound.scaledFactors {
			start += float64(math.Abs(f) / 2)
		}
	}
	w.contributions[boundIndex], w.partialSums[boundIndex] = rows, start
}

// searchFrom tries each choice for the part at the given place of partOrder and, recursively, each choice for all
// later parts. The steps of the earlier parts are fixed: stepsSoFar is the sum of these steps, deviationSoFar the
// sum of their deviations from the ideal, and costSoFar the sum of the squared deviations.
func (w *roundingSearch) searchFrom(place int, stepsSoFar int64, deviationSoFar, costSoFar float64) {
	if w.visitedCount++; w.visitedCount > w.maxPartialRoundings {
		return
	}
	if least := costSoFar + w.restCosts[place] + float64(w.lambda*(w.totalDeviation-deviationSoFar)); least >= w.bestCost-sumTolerance {
		return
	}
	if stepsSoFar+w.leastSums[place] > w.batchSteps || stepsSoFar+w.mostSums[place] < w.batchSteps {
		return
	}
	for b := range w.bounds {
		if w.contributions[b] != nil && !isNonNegative(w.partialSums[b]+w.maxContributions[b][place], float64(w.batchSteps)) {
			return
		}
	}
	if place == len(w.partOrder) {
		for b := range w.bounds {
			if !w.satisfiesBound(&w.bounds[b], w.steps) {
				return
			}
		}
		w.bestSteps, w.bestCost = slices.Clone(w.steps), costSoFar
		return
	}
	i := w.partOrder[place]
	before := slices.Clone(w.partialSums)
	for c, x := range w.choices[place] {
		w.steps[i] = x
		for b := range w.bounds {
			if w.contributions[b] != nil {
				w.partialSums[b] = before[b] + w.contributions[b][place][c]
			}
		}
		d := float64(x) - w.idealSteps[i]
		w.searchFrom(place+1, stepsSoFar+x, deviationSoFar+d, costSoFar+float64(d*d))
	}
	copy(w.partialSums, before)
}
