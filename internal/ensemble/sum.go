package ensemble

import "slices"

// A summer adds leaves in the precision of the model and remembers the current leaf of each tree.
type summer interface {
	// newCopy returns a summer that shares the leaves' values but has current leaves of its own, for another scorer.
	newCopy() summer
	// set makes a leaf the current leaf of its tree.
	set(tree, leaf int32)
	// currentSum returns the sum of a target over the trees' current leaves.
	currentSum(target int) float64
	// sumOfLeaves returns the sum of a target, given the leaf of each tree.
	sumOfLeaves(target int, leaves []int32) float64
	// appendLine appends to out the sum of a target in each piece of a line. changes lists the trees whose leaf
	// changes on the line, ascending by tree and then by piece.
	appendLine(target int, changes []change, pieces int, out []float64) []float64
	// bounds returns bounds of the sum of a target, given the leaves that each tree can reach.
	bounds(target int, leaves [][]int32) (least, greatest float64)
}

// A change states that a tree has another leaf from a piece of the line on. Until [splits.place], piece holds the
// split where that piece begins.
type change struct{ tree, leaf, piece int32 }

// A share is one contribution of a tree to a target: value number at of the leaf, which is term number term of the
// target.
type share struct{ target, term, value int32 }

// tables implements [summer] for one precision.
type tables[T float32 | float64] struct {
	fold    Fold
	start   []T
	values  []T
	shares  []share  // contributions of all trees, tree by tree
	from    []int32  // index in shares where each tree's contributions begin, and their number at the end
	added   [][]Term // terms of each target, in the order of addition
	single  bool     // whether there is just one target, with tree t as its term t
	current [][]T    // current value of each term, by target
	add     adder[T]

	places []place[T] // scratch: changes of terms within the current block of pieces
	lanes  [lanes]T   // scratch: sums of the current block of pieces
}

// lanes is the number of pieces of a line whose sums are computed together, half that for short blocks. Independent
// additions hide the latency of each.
const (
	lanes = 32
	half  = lanes / 2
)

// A place states that a term changes between the pieces of a block. The lanes below lane have the value before, the
// others the value after. Several places of one term are in the order of their lanes.
type place[T float32 | float64] struct {
	term, lane    int32
	before, after T
}

// An adder adds terms to half or all of the lanes, one term after another. A term listed in places has the values of
// its places instead. places is in the order of the terms.
type adder[T float32 | float64] func(sums []T, terms []T, places []place[T])

func newTables[T float32 | float64](m *Model, add adder[T]) *tables[T] {
	a := &tables[T]{add: add, fold: m.Fold, added: m.Terms, start: make([]T, len(m.Terms))}
	for g, v := range m.Start {
		a.start[g] = T(v)
	}
	for _, v := range m.values {
		a.values = append(a.values, T(v))
	}
	shares := make([][]share, m.Trees())
	for g, terms := range m.Terms {
		for k, t := range terms {
			shares[t.Tree] = append(shares[t.Tree], share{int32(g), int32(k), t.At})
		}
	}
	for _, all := range shares {
		a.from = append(a.from, int32(len(a.shares)))
		a.shares = append(a.shares, all...)
	}
	a.from = append(a.from, int32(len(a.shares)))
	a.single = len(m.Terms) == 1
	for t := range a.from[1:] {
		all := a.sharesOf(int32(t))
		a.single = a.single && len(all) == 1 && all[0] == share{term: int32(t)}
	}
	return a
}

func (a *tables[T]) newCopy() summer {
	c := *a
	c.current = make([][]T, len(a.added))
	for g, terms := range a.added {
		c.current[g] = make([]T, len(terms))
	}
	return &c
}

// sharesOf returns the contributions of a tree.
func (a *tables[T]) sharesOf(tree int32) []share { return a.shares[a.from[tree]:a.from[tree+1]] }

func (a *tables[T]) set(tree, leaf int32) {
	for _, s := range a.sharesOf(tree) {
		a.current[s.target][s.term] = a.values[leaf+s.value]
	}
}

func (a *tables[T]) currentSum(target int) float64 {
	return float64(a.foldTerms(target, a.current[target]))
}

// foldTerms returns the sum, minimum or maximum of a target's terms, by the model's [Fold].
func (a *tables[T]) foldTerms(target int, terms []T) T {
	v := a.start[target]
	switch {
	case len(terms) == 0:
	case a.fold == Sum:
		for _, t := range terms {
			v += t
		}
	case a.fold == Min:
		v = slices.Min(terms)
	case a.fold == Max:
		v = slices.Max(terms)
	}
	return v
}

func (a *tables[T]) appendLine(target int, changes []change, pieces int, out []float64) []float64 {
	terms := a.current[target]
	for p := 0; p < pieces; p += lanes {
		a.fillPlaces(target, changes, int32(p))
		sums := a.lanes[:]
		if pieces-p <= half {
			sums = sums[:half]
		}
		for q := range sums {
			sums[q] = a.start[target]
		}
		if a.fold == Sum {
			a.add(sums, terms, a.places)
		} else {
			a.extremes(sums, terms)
		}
		for _, v := range sums[:min(lanes, pieces-p)] {
			out = append(out, float64(v))
		}
	}
	return out
}

// fillPlaces converts the changes on a line to places for the block of pieces that begins with piece p. Changes
// before the block apply from its first lane. Changes after it are placed beyond its last lane, without effect.
func (a *tables[T]) fillPlaces(target int, changes []change, p int32) {
	current, values := a.current[target], a.values
	if cap(a.places) < len(changes) {
		a.places = make([]place[T], 2*len(changes))
	}
	places := a.places[:len(changes)]
	if a.single {
		for k, c := range changes {
			places[k] = place[T]{c.tree, min(max(c.piece-p, 0), lanes), current[c.tree], values[c.leaf]}
		}
		a.places = places
		return
	}
	n := 0
	for _, c := range changes {
		for _, s := range a.sharesOf(c.tree) {
			if int(s.target) == target {
				q := &places[n]
				q.term, q.lane = s.term, min(max(c.piece-p, 0), lanes)
				q.before, q.after = current[s.term], values[c.leaf+s.value]
				n++
			}
		}
	}
	a.places = places[:n]
}

// applyPlaces sets each lane of r by the places of the first term, and returns the places of the other terms.
func applyPlaces[T float32 | float64](r []T, places []place[T]) []place[T] {
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

// forEachTerm calls f with the index of each term and its values in all lanes.
func forEachTerm[T float32 | float64](lanes int, terms []T, places []place[T], f func(k int, r []T)) {
	r := make([]T, lanes)
	for k, t := range terms {
		if len(places) > 0 && int(places[0].term) == k {
			places = applyPlaces(r, places)
		} else {
			for q := range r {
				r[q] = t
			}
		}
		f(k, r)
	}
}

// extremes sets each lane of result to the least or the greatest of its terms.
func (a *tables[T]) extremes(result, terms []T) {
	forEachTerm(len(result), terms, a.places, func(k int, r []T) {
		for q, v := range r {
			switch {
			case k == 0:
				result[q] = v
			case a.fold == Min:
				result[q] = min(result[q], v)
			default:
				result[q] = max(result[q], v)
			}
		}
	})
}

// addPlain is an [adder] in Go. Tests compare the assembly with it.
func addPlain[T float32 | float64](sums, terms []T, places []place[T]) {
	forEachTerm(len(sums), terms, places, func(_ int, r []T) {
		for q, v := range r {
			sums[q] += v
		}
	})
}

func (a *tables[T]) sumOfLeaves(target int, leaves []int32) float64 {
	if a.fold == Sum {
		v := a.start[target]
		for _, t := range a.added[target] {
			v += a.values[leaves[t.Tree]+t.At]
		}
		return float64(v)
	}
	var terms []T
	for _, t := range a.added[target] {
		terms = append(terms, a.values[leaves[t.Tree]+t.At])
	}
	return float64(a.foldTerms(target, terms))
}

func (a *tables[T]) bounds(target int, leaves [][]int32) (least, greatest float64) {
	var low, high []T
	for _, t := range a.added[target] {
		from := a.values[leaves[t.Tree][0]+t.At]
		to := from
		for _, leaf := range leaves[t.Tree] {
			from, to = min(from, a.values[leaf+t.At]), max(to, a.values[leaf+t.At])
		}
		low, high = append(low, from), append(high, to)
	}
	// Rounding is monotonic, so sums of ordered terms keep their order.
	return float64(a.foldTerms(target, low)), float64(a.foldTerms(target, high))
}
