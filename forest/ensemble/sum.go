package ensemble

import "slices"

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
	trees  []int32  // those whose leaf may change
	first  []change // where the line begins, of the trees that may have another leaf than the current one
	later  []change // further on, by piece
	pieces int
}

// A change gives a tree another leaf from a piece on.
type change struct{ tree, leaf, piece int32 }

// A share is what a tree adds to a target: the values at leaf+at, as the term-th term.
type share struct{ target, term, at int32 }

// lanes is how many pieces are added at once: about as many as hide the time that an
// addition waits for the one before it.
const lanes = 16

// A row has a number for each piece of a block.
type row[T float32 | float64] [lanes]T

// fill sets the row.
func (r *row[T]) fill(v T) { *r = row[T]{v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v} }

// spread sets the row from a lane on.
func (r *row[T]) spread(from int, v T) {
	for q := from; q < lanes; q++ {
		r[q] = v
	}
}

// tables is the [summer] of one precision.
type tables[T float32 | float64] struct {
	fold   Fold
	start  []T
	values []T
	shares []share  // by tree
	from   []int32  // by tree, where its shares begin; one more
	added  [][]Term // by target
	add    func(sums *row[T], terms []row[T])

	// By target and term. Between lines all of a row is the current value.
	current [][]T
	rows    [][]row[T]
}

func newTables[T float32 | float64](m *Model, add func(sums *row[T], terms []row[T])) *tables[T] {
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
	return a
}

func (a *tables[T]) fresh() summer {
	c := *a
	for _, terms := range a.added {
		c.current = append(c.current, make([]T, len(terms)))
		c.rows = append(c.rows, make([]row[T], len(terms)))
	}
	return &c
}

// of returns the shares of a tree.
func (a *tables[T]) of(tree int32) []share { return a.shares[a.from[tree]:a.from[tree+1]] }

func (a *tables[T]) set(tree, leaf int32) {
	for _, s := range a.of(tree) {
		v := a.values[leaf+s.at]
		a.current[s.target][s.term] = v
		a.rows[s.target][s.term].fill(v)
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
	rows := a.rows[target]
	for _, c := range l.first {
		for _, s := range a.of(c.tree) {
			if int(s.target) == target {
				rows[s.term].fill(a.values[c.leaf+s.at])
			}
		}
	}
	later := l.later
	var sums row[T]
	for p := 0; p < l.pieces; p += lanes {
		in := later
		for len(later) > 0 && int(later[0].piece) < p+lanes {
			a.change(target, later[0], int(later[0].piece)-p)
			later = later[1:]
		}
		sums.fill(a.start[target])
		if a.fold == Sum {
			a.add(&sums, rows)
		} else if len(rows) > 0 {
			a.extremes(&sums, rows)
		}
		for _, v := range sums[:min(lanes, l.pieces-p)] {
			out = append(out, float64(v))
		}
		if p+lanes < l.pieces {
			for _, c := range in[:len(in)-len(later)] {
				a.end(target, c)
			}
		}
	}
	// Back to where the line was asked for.
	for _, tree := range l.trees {
		for _, s := range a.of(tree) {
			if int(s.target) == target {
				rows[s.term].fill(a.current[target][s.term])
			}
		}
	}
	return out
}

// change gives the rows of a tree another leaf from a lane on.
func (a *tables[T]) change(target int, c change, lane int) {
	for _, s := range a.of(c.tree) {
		if int(s.target) == target {
			a.rows[target][s.term].spread(lane, a.values[c.leaf+s.at])
		}
	}
}

// end goes on with the last lane of a tree's rows.
func (a *tables[T]) end(target int, c change) {
	for _, s := range a.of(c.tree) {
		if int(s.target) == target {
			r := &a.rows[target][s.term]
			r.fill(r[lanes-1])
		}
	}
}

// extremes sets each lane of the result to the least or the greatest term.
func (a *tables[T]) extremes(result *row[T], terms []row[T]) {
	*result = terms[0]
	for k := range terms {
		for q, v := range terms[k] {
			if a.fold == Min {
				result[q] = min(result[q], v)
			} else {
				result[q] = max(result[q], v)
			}
		}
	}
}

// addPlain adds terms to each of the sums, one after another. It is what the machine's
// own way to do it must agree with.
func addPlain[T float32 | float64](sums *row[T], terms []row[T]) {
	for k := range terms {
		for q, v := range terms[k] {
			sums[q] += v
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
