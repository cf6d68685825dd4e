package ensemble

import "slices"

// A sumComputer computes the sums of targets, in the floating-point precision of the model. It
// remembers the current leaf of each tree.
type sumComputer interface {
	// newCopy returns a sumComputer for another scorer. The copy shares the leaf values but has its
	// own current leaves.
	newCopy() sumComputer
	// setLeaf makes a leaf the current leaf of its tree.
	setLeaf(tree, leaf int32)
	// currentSum returns the sum of a target over the current leaves of all trees.
	currentSum(target int) float64
	// sumOfLeaves returns the sum of a target if leaves[t] is the leaf of tree t.
	sumOfLeaves(target int, leaves []int32) float64
	// appendLine appends to out the sum of a target in each piece of a line. The parameter changes
	// lists the changes of a tree's leaf along the line, sorted by tree and then by piece. The
	// parameter pieces is the number of pieces.
	appendLine(target int, changes []leafChange, pieces int, out []float64) []float64
	// sumBounds returns a lower and an upper bound of the sum of a target. The element leaves[t]
	// lists the leaves that tree t can reach.
	sumBounds(target int, leaves [][]int32) (least, greatest float64)
}

// A leafChange says that a tree changes to another leaf at the start of a piece of a line. The
// field piece is the index of that piece. Until [pieceStarts.setPieceIndices] is called, it is the
// position on the line at which the piece begins.
type leafChange struct{ tree, leaf, piece int32 }

// A contribution says which value of a tree's leaves belongs to which target. The term with index
// term of the target is the value with index value in the current leaf of the tree.
type contribution struct{ target, term, value int32 }

// A typedSumComputer implements [sumComputer] in float32 or float64.
type typedSumComputer[T float32 | float64] struct {
	termFold           TermFold
	startValues        []T            // startValues[g] is the number to which the terms of target g are added
	leafValues         []T            // the values of all leaves
	contributions      []contribution // contributions of all trees, tree by tree
	firstContributions []int32        // index of the first contribution of each tree; one more element holds the end
	targetTerms        [][]Term       // targetTerms[g] lists the terms of target g, in the order of addition
	oneTermPerTree     bool           // whether there is only one target, and its term t belongs to tree t
	currentTerms       [][]T          // currentTerms[g][k] is the current value of term k of target g
	addTerms           termAdder[T]   // adds the terms of a target to the sums of a block of pieces

	laneChanges []laneChange[T] // scratch memory: changes of terms within the current block of pieces
	laneSums    [laneCount]T    // scratch memory: sums in the current block of pieces
}

// Sums are computed for a block of consecutive pieces of a line at once. Each piece of the block is
// a lane. The additions of different lanes are independent of each other, which hides the latency
// of an addition.
const (
	laneCount      = 32            // greatest number of lanes of a block
	shortLaneCount = laneCount / 2 // number of lanes of a block with few pieces
)

// A laneChange says that a term of a sum changes within a block of pieces. The term has the value
// before in the lanes below the given lane, and the value after in that lane and in all lanes
// above. Several changes of one term are sorted by lane.
type laneChange[T float32 | float64] struct {
	term, lane    int32
	before, after T
}

// A termAdder adds terms to the sums of all lanes, one term after another. The element sums[q] is
// the sum in lane q. The parameter places holds the changes of terms within the block, sorted by
// term. A term without changes has its value in terms in all lanes.
type termAdder[T float32 | float64] func(sums []T, terms []T, places []laneChange[T])

// newTypedSumComputer returns a [sumComputer] for the targets of model m. The parameter add is the
// function that adds terms to sums.
func newTypedSumComputer[T float32 | float64](m *Model, add termAdder[T]) *typedSumComputer[T] {
	a := &typedSumComputer[T]{addTerms: add, termFold: m.Fold, targetTerms: m.Terms, startValues: make([]T, len(m.Terms))}
	for g, v := range m.Start {
		a.startValues[g] = T(v)
	}
	for _, v := range m.leafValues {
		a.leafValues = append(a.leafValues, T(v))
	}
	shares := make([][]contribution, m.Trees())
	for g, terms := range m.Terms {
		for k, t := range terms {
			shares[t.Tree] = append(shares[t.Tree], contribution{int32(g), int32(k), t.ValueIndex})
		}
	}
	for _, all := range shares {
		a.firstContributions = append(a.firstContributions, int32(len(a.contributions)))
		a.contributions = append(a.contributions, all...)
	}
	a.firstContributions = append(a.firstContributions, int32(len(a.contributions)))
	a.oneTermPerTree = len(m.Terms) == 1
	for t := range a.firstContributions[1:] {
		all := a.contributionsOf(int32(t))
		a.oneTermPerTree = a.oneTermPerTree && len(all) == 1 && all[0] == contribution{term: int32(t)}
	}
	return a
}

func (a *typedSumComputer[T]) newCopy() sumComputer {
	c := *a
	c.currentTerms = make([][]T, len(a.targetTerms))
	for g, terms := range a.targetTerms {
		c.currentTerms[g] = make([]T, len(terms))
	}
	return &c
}

// contributionsOf returns the contributions of a tree.
func (a *typedSumComputer[T]) contributionsOf(tree int32) []contribution {
	return a.contributions[a.firstContributions[tree]:a.firstContributions[tree+1]]
}

func (a *typedSumComputer[T]) setLeaf(tree, leaf int32) {
	for _, s := range a.contributionsOf(tree) {
		a.currentTerms[s.target][s.term] = a.leafValues[leaf+s.value]
	}
}

func (a *typedSumComputer[T]) currentSum(target int) float64 {
	return float64(a.foldTerms(target, a.currentTerms[target]))
}

// foldTerms returns the sum, minimum or maximum of the terms of a target, as the model's [TermFold]
// selects.
func (a *typedSumComputer[T]) foldTerms(target int, terms []T) T {
	v := a.startValues[target]
	switch {
	case len(terms) == 0:
	case a.termFold == Sum:
		for _, t := range terms {
			v += t
		}
	case a.termFold == Min:
		v = slices.Min(terms)
	case a.termFold == Max:
		v = slices.Max(terms)
	}
	return v
}

func (a *typedSumComputer[T]) appendLine(target int, changes []leafChange, pieces int, out []float64) []float64 {
	terms := a.currentTerms[target]
	for p := 0; p < pieces; p += laneCount {
		a.fillLaneChanges(target, changes, int32(p))
		sums := a.laneSums[:]
		if pieces-p <= shortLaneCount {
			sums = sums[:shortLaneCount]
		}
		for q := range sums {
			sums[q] = a.startValues[target]
		}
		if a.termFold == Sum {
			a.addTerms(sums, terms, a.laneChanges)
		} else {
			a.foldExtremes(sums, terms)
		}
		for _, v := range sums[:min(laneCount, pieces-p)] {
			out = append(out, float64(v))
		}
	}
	return out
}

// fillLaneChanges sets laneChanges to the changes of a target's terms in the block of pieces that
// begins with piece p. A change before the block gets lane 0. A change after the block gets lane
// laneCount, where it has no effect.
func (a *typedSumComputer[T]) fillLaneChanges(target int, changes []leafChange, p int32) {
	current, values := a.currentTerms[target], a.leafValues
	if cap(a.laneChanges) < len(changes) {
		a.laneChanges = make([]laneChange[T], 2*len(changes))
	}
	places := a.laneChanges[:len(changes)]
	if a.oneTermPerTree {
		for k, c := range changes {
			places[k] = laneChange[T]{c.tree, min(max(c.piece-p, 0), laneCount), current[c.tree], values[c.leaf]}
		}
		a.laneChanges = places
		return
	}
	n := 0
	for _, c := range changes {
		for _, s := range a.contributionsOf(c.tree) {
			if int(s.target) == target {
				q := &places[n]
				q.term, q.lane = s.term, min(max(c.piece-p, 0), laneCount)
				q.before, q.after = current[s.term], values[c.leaf+s.value]
				n++
			}
		}
	}
	a.laneChanges = places[:n]
}

// applyLaneChanges handles the first term in places: it sets r[q] to the value of the term in lane
// q. It returns the changes of all other terms.
func applyLaneChanges[T float32 | float64](r []T, places []laneChange[T]) []laneChange[T] {
	for k, q := range places {
		if k > 0 && q.term != places[0].term {
			return places[k:]
		}
		for lane := range r {
			switch {
			case lane >= int(q.lane):
				r[lane] = q.after
			case k == 0:
				r[lane] = q.before
			}
		}
	}
	return nil
}

// forEachTerm calls f once for each term, with the index k of the term. The slice r holds the value
// of the term in each lane.
func forEachTerm[T float32 | float64](lanes int, terms []T, places []laneChange[T], f func(k int, r []T)) {
	r := make([]T, lanes)
	for k, t := range terms {
		if len(places) > 0 && int(places[0].term) == k {
			places = applyLaneChanges(r, places)
		} else {
			for q := range r {
				r[q] = t
			}
		}
		f(k, r)
	}
}

// foldExtremes sets result[q] to the minimum or maximum of the terms in lane q, as the model's
// [TermFold] selects.
func (a *typedSumComputer[T]) foldExtremes(result, terms []T) {
	forEachTerm(len(result), terms, a.laneChanges, func(k int, r []T) {
		for q, v := range r {
			switch {
			case k == 0:
				result[q] = v
			case a.termFold == Min:
				result[q] = min(result[q], v)
			default:
				result[q] = max(result[q], v)
			}
		}
	})
}

// addPortable is a [termAdder] in portable Go. Tests compare the assembly code with it.
func addPortable[T float32 | float64](sums, terms []T, places []laneChange[T]) {
	forEachTerm(len(sums), terms, places, func(_ int, r []T) {
		for q, v := range r {
			sums[q] += v
		}
	})
}

func (a *typedSumComputer[T]) sumOfLeaves(target int, leaves []int32) float64 {
	if a.termFold == Sum {
		v := a.startValues[target]
		for _, t := range a.targetTerms[target] {
			v += a.leafValues[leaves[t.Tree]+t.ValueIndex]
		}
		return float64(v)
	}
	var terms []T
	for _, t := range a.targetTerms[target] {
		terms = append(terms, a.leafValues[leaves[t.Tree]+t.ValueIndex])
	}
	return float64(a.foldTerms(target, terms))
}

func (a *typedSumComputer[T]) sumBounds(target int, leaves [][]int32) (least, greatest float64) {
	var low, high []T
	for _, t := range a.targetTerms[target] {
		from := a.leafValues[leaves[t.Tree][0]+t.ValueIndex]
		to := from
		for _, leaf := range leaves[t.Tree] {
			from, to = min(from, a.leafValues[leaf+t.ValueIndex]), max(to, a.leafValues[leaf+t.ValueIndex])
		}
		low, high = append(low, from), append(high, to)
	}
	// Rounding is monotonic, so sums of ordered terms keep their order.
	return float64(a.foldTerms(target, low)), float64(a.foldTerms(target, high))
}
