package ensemble

import (
	"math/bits"
	"slices"
)

// A summer adds the leaves of the trees in the precision of the model. A table of it
// is shared by scorers, each of which has a copy by fresh.
type summer interface {
	fresh() summer
	// set makes a leaf the current one of its tree.
	set(tree, leaf int32)
	// point returns the sum of a target.
	point(target int) float64
	// at returns the sum of a target given the leaf of each tree.
	at(target int, leaves []int32) float64
	// line adds the sums of a target over the pieces of a line to out.
	line(target int, l *changes, out []float64) []float64
	// bounds returns the least and the greatest sum that there can be, given which
	// leaves each tree has.
	bounds(target int, leaves [][]int32) (least, greatest float64)
}

// changes says how leaves change along a line.
type changes struct {
	first  []change // where the line begins, of the trees that may have another leaf than the current one
	later  []change // further on, by piece
	pieces int
}

// A change gives a tree another leaf from a piece on.
type change struct{ tree, leaf, piece int32 }

// A share is what a tree adds to a target: the values at leaf+at, as the term-th term.
type share struct{ target, term, at int32 }

// tables is the [summer] of one precision.
type tables[T float32 | float64] struct {
	fold    Fold
	start   []T
	values  []T
	shares  []share  // by tree
	from    []int32  // by tree, where its shares begin; one more
	added   [][]Term // by target
	current [][]T    // by target and term
	adder[T]

	// Of a line, scratch.
	terms  []T
	rows   []row[T]
	rowOf  []int32 // by term, where it is in rows, if it differs
	places []place
	differ []uint64 // the bit set of the terms that differ
}

// lanes is how many pieces are added at once: as many as hide the time that one
// addition waits for the last.
const lanes = 16

// A row has a number for each piece of a block.
type row[T float32 | float64] [lanes]T

// A place is a term that differs between the pieces of a block, and its row.
type place struct{ term, row int32 }

// An adder is how a machine works on rows.
type adder[T float32 | float64] struct {
	// add adds terms to each of the sums, one after another, but at the places, which
	// ascend, their rows.
	add func(sums *row[T], terms []T, places []place, rows []row[T])
	// spread sets a row from a lane on.
	spread func(r *row[T], lane int, v T)
}

func newTables[T float32 | float64](m *Model, add adder[T]) *tables[T] {
	a := &tables[T]{adder: add, fold: m.Fold, added: m.Terms, start: make([]T, len(m.Terms))}
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
		a.current = append(a.current, make([]T, len(terms)))
	}
	for _, all := range shares {
		a.from = append(a.from, int32(len(a.shares)))
		a.shares = append(a.shares, all...)
	}
	a.from = append(a.from, int32(len(a.shares)))
	return a
}

func (a *tables[T]) fresh() summer {
	c := *a
	c.current = make([][]T, len(a.current))
	most := 0
	for g := range c.current {
		c.current[g] = slices.Clone(a.current[g])
		most = max(most, len(c.current[g]))
	}
	c.terms = make([]T, most)
	c.rowOf = make([]int32, most)
	c.rows = make([]row[T], 0, most)
	c.differ = make([]uint64, (most+63)/64)
	return &c
}

// of returns the shares of a tree.
func (a *tables[T]) of(tree int32) []share { return a.shares[a.from[tree]:a.from[tree+1]] }

func (a *tables[T]) set(tree, leaf int32) {
	for _, s := range a.of(tree) {
		a.current[s.target][s.term] = a.values[leaf+s.at]
	}
}

func (a *tables[T]) point(target int) float64 { return float64(a.folded(target, a.current[target])) }

// folded is the sum, or what else the model makes, of a target's terms.
func (a *tables[T]) folded(target int, terms []T) T {
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

func (a *tables[T]) line(target int, l *changes, out []float64) []float64 {
	terms := a.terms[:len(a.current[target])]
	copy(terms, a.current[target])
	for _, c := range l.first {
		a.change(terms, target, c)
	}
	later := l.later
	for p := 0; p < l.pieces; p += lanes {
		for len(later) > 0 && int(later[0].piece) == p {
			a.change(terms, target, later[0])
			later = later[1:]
		}
		if a.fold != Sum {
			for q := p; q < min(p+lanes, l.pieces); q++ {
				for len(later) > 0 && int(later[0].piece) == q {
					a.change(terms, target, later[0])
					later = later[1:]
				}
				out = append(out, float64(a.folded(target, terms)))
			}
			continue
		}
		a.rows = a.rows[:0]
		for len(later) > 0 && int(later[0].piece) < p+lanes {
			a.part(terms, target, later[0], p)
			later = later[1:]
		}
		sums := a.block(target, terms)
		for _, v := range sums[:min(lanes, l.pieces-p)] {
			out = append(out, float64(v))
		}
	}
	return out
}

// change gives terms the leaf of a change.
func (a *tables[T]) change(terms []T, target int, c change) {
	for _, s := range a.of(c.tree) {
		if int(s.target) == target {
			terms[s.term] = a.values[c.leaf+s.at]
		}
	}
}

// part notes a change within the block that begins with piece p.
func (a *tables[T]) part(terms []T, target int, c change, p int) {
	for _, s := range a.of(c.tree) {
		if int(s.target) != target {
			continue
		}
		if w, bit := s.term>>6, uint64(1)<<(s.term&63); a.differ[w]&bit == 0 {
			a.differ[w] |= bit
			a.rowOf[s.term] = int32(len(a.rows))
			a.rows = a.rows[:len(a.rows)+1]
			a.spread(&a.rows[len(a.rows)-1], 0, terms[s.term])
		}
		a.spread(&a.rows[a.rowOf[s.term]], int(c.piece)-p, a.values[c.leaf+s.at])
	}
}

// block returns the sums of a block's pieces, and leaves terms as they are at its end.
func (a *tables[T]) block(target int, terms []T) (sums row[T]) {
	a.spread(&sums, 0, a.start[target])
	a.places = a.places[:0]
	for w, set := range a.differ {
		for a.differ[w] = 0; set != 0; set &= set - 1 {
			k := int32(w<<6 | bits.TrailingZeros64(set))
			a.places = append(a.places, place{k, a.rowOf[k]})
		}
	}
	a.add(&sums, terms, a.places, a.rows)
	for _, p := range a.places {
		terms[p.term] = a.rows[p.row][lanes-1]
	}
	return sums
}

// spreadPlain and addPlain are an [adder] in plain Go. They are what the machine's own
// way must agree with.
func spreadPlain[T float32 | float64](r *row[T], lane int, v T) {
	for q := lane; q < lanes; q++ {
		r[q] = v
	}
}

func addPlain[T float32 | float64](sums *row[T], terms []T, places []place, rows []row[T]) {
	for k, t := range terms {
		if len(places) > 0 && int(places[0].term) == k {
			for q, v := range rows[places[0].row] {
				sums[q] += v
			}
			places = places[1:]
			continue
		}
		for q := range sums {
			sums[q] += t
		}
	}
}

func (a *tables[T]) at(target int, leaves []int32) float64 {
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
	return float64(a.folded(target, terms))
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
	// Rounding keeps the order of sums whose terms are in order.
	return float64(a.folded(target, low)), float64(a.folded(target, high))
}
