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
	// line adds the sums of a target over as many pieces of a line to out. Changes are
	// by tree, ascending, and then by piece.
	line(target int, changes []change, pieces int, out []float64) []float64
	// bounds returns the least and the greatest sum that there can be, given which
	// leaves each tree has.
	bounds(target int, leaves [][]int32) (least, greatest float64)
}

// A change gives a tree another leaf from a piece on; while a line is walked, from a
// split on.
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
	rows   []row[T]
	places []place[T]
}

// lanes is how many pieces are added at once: about as many as hide the time that an
// addition waits for the one before it.
const lanes = 16

// A row has a number for each piece of a block.
type row[T float32 | float64] [lanes]T

// A place is a term that differs between the pieces of a block: up to a lane it is one
// number, from there on another, or if lane is ^k it is as the k-th row has it.
type place[T float32 | float64] struct {
	term, lane int32
	before     T
	after      T
}

// An adder is how a machine works on rows.
type adder[T float32 | float64] struct {
	// add adds terms to each of the sums, one after another, but at the places, which
	// ascend, what they say.
	add func(sums *row[T], terms []T, places []place[T], rows []row[T])
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
	c.current = make([][]T, len(a.added))
	most := 0
	for g, terms := range a.added {
		c.current[g] = make([]T, len(terms))
		most = max(most, len(terms))
	}
	c.rows, c.places = make([]row[T], 0, most), make([]place[T], 0, most)
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

func (a *tables[T]) line(target int, changes []change, pieces int, out []float64) []float64 {
	terms := a.current[target]
	var sums row[T]
	for p := 0; p < pieces; p += lanes {
		a.part(target, changes, int32(p))
		a.spread(&sums, 0, a.start[target])
		if a.fold == Sum {
			a.add(&sums, terms, a.places, a.rows)
		} else {
			a.extremes(&sums, terms)
		}
		for _, v := range sums[:min(lanes, pieces-p)] {
			out = append(out, float64(v))
		}
	}
	return out
}

// part finds the terms that may differ between the pieces of the block that begins with
// piece p.
func (a *tables[T]) part(target int, changes []change, p int32) {
	current, values := a.current[target], a.values
	places, rows := a.places[:0], a.rows[:0]
	for k := 0; k < len(changes); {
		c := &changes[k]
		from := k
		for k++; k < len(changes) && changes[k].tree == c.tree; k++ {
		}
		for _, s := range a.of(c.tree) {
			if int(s.target) != target {
				continue
			}
			places = places[:len(places)+1]
			q := &places[len(places)-1]
			q.term, q.before = s.term, current[s.term]
			at := from // the first change within the block
			for ; at < k && changes[at].piece <= p; at++ {
				q.before = values[changes[at].leaf+s.at]
			}
			switch k - at {
			case 0:
				q.lane = lanes
				continue
			case 1:
				q.lane, q.after = min(changes[at].piece-p, lanes), values[changes[at].leaf+s.at]
				continue
			}
			q.lane = ^int32(len(rows))
			rows = rows[:len(rows)+1]
			r := &rows[len(rows)-1]
			a.spread(r, 0, q.before)
			for _, c := range changes[at:k] {
				if lane := c.piece - p; lane < lanes {
					a.spread(r, int(lane), values[c.leaf+s.at])
				}
			}
		}
	}
	a.places, a.rows = places, rows
}

// row returns what a place says.
func (q *place[T]) row(rows []row[T]) (r row[T]) {
	if q.lane < 0 {
		return rows[^q.lane]
	}
	spreadPlain(&r, 0, q.before)
	spreadPlain(&r, int(q.lane), q.after)
	return r
}

// extremes sets each lane of the result to the least or the greatest term.
func (a *tables[T]) extremes(result *row[T], terms []T) {
	places := a.places
	for k, t := range terms {
		var r row[T]
		if len(places) > 0 && int(places[0].term) == k {
			r = places[0].row(a.rows)
			places = places[1:]
		} else {
			a.spread(&r, 0, t)
		}
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
	}
}

// spreadPlain and addPlain are an [adder] in plain Go. They are what the machine's own
// way must agree with.
func spreadPlain[T float32 | float64](r *row[T], lane int, v T) {
	for q := lane; q < lanes; q++ {
		r[q] = v
	}
}

func addPlain[T float32 | float64](sums *row[T], terms []T, places []place[T], rows []row[T]) {
	for k, t := range terms {
		var r row[T]
		spreadPlain(&r, 0, t)
		if len(places) > 0 && int(places[0].term) == k {
			r = places[0].row(rows)
			places = places[1:]
		}
		for q, v := range r {
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
