package dataset

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A partSum says that a column is the sum of several columns that stand side by side, in 19 of 20 rows, such as a
// binder that is followed by its components, or the dough yield, which is all flour and the water.
type partSum struct {
	column, from, to int  // indices into the columns: the sum, and the summands, to excluded
	isBase           bool // whether the sum is the same whole in all rows, such as 100, on top of which additions may come
	hasRest          bool // whether a summand makes up the rest, and the others make up the sum
	others           int  // number of rows in which it is another number
}

const (
	// partSumTolerance is the maximum relative difference between the sum of a few rounded amounts and the sum that the
	// table states.
	partSumTolerance = 0.005

	// baseEvidence is the evidence that a column is an amount because it is one of those which make up a whole.
	baseEvidence = 6

	// summandEvidence is the evidence that a column is an amount because a total adds it up.
	summandEvidence = 2

	// behindTotal is the evidence that a column is no amount, since it stands behind the total.
	behindTotal = -3

	// fullAddition is the evidence that a column is no addition to a base, since all recipes have it.
	fullAddition = -4

	maxRunColumns = 48 // greatest number of columns among which sums of columns that stand apart are searched
	minRunLength  = 3  // fewest summands of such a sum
)

// findPartSums returns the columns that are sums of others. It first looks for the summands directly before and behind a
// column, and then, in a table of few columns, elsewhere. A column that is a sum is no summand.
func findPartSums(columns []amountColumn) (sums []partSum) {
	isSum := make([]bool, len(columns))
	add := func(s partSum, ok bool) bool {
		if ok {
			sums, isSum[s.column] = append(sums, s), true
		}
		return ok
	}
	for k := range columns {
		if !mayBePartSum(&columns[k]) {
			continue
		}
		if !add(nearestSummands(columns, isSum, k, 1)) {
			add(nearestSummands(columns, isSum, k, -1))
		}
	}
	if len(columns) > maxRunColumns {
		return sums
	}
	for k := range columns {
		if isSum[k] || !mayBePartSum(&columns[k]) || columns[k].isMaterial {
			continue
		}
		for from := range columns {
			if add(runSummands(columns, isSum, k, from)) {
				break
			}
		}
	}
	return sums
}

// mayBePartSum reports whether a column may be the sum of others: it has numbers above 0 in enough rows, which differ or
// are a round whole.
func mayBePartSum(column *amountColumn) bool {
	values := column.values[:min(len(column.values), maxChoiceRows)]
	fewest := minEvidenceRows
	if column.isMaterial {
		fewest *= 2 // a recipe may have as much of one as of all before it
	}
	positive := 0
	for _, v := range values {
		if !(v >= 0) {
			return false
		}
		if v > 0 {
			positive++
		}
	}
	if column.isFixed && column.evidence > 0 || positive < fewest || 2*positive < len(values) {
		return false
	}
	return column.isTotal || column.isRound() || slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// nearestSummands returns the sum of the columns directly behind column k, or before it if step is −1.
func nearestSummands(columns []amountColumn, isSum []bool, k, step int) (partSum, bool) {
	w := newSummandCounter(&columns[k])
	for i := k + step; i >= 0 && i < len(columns); i += step {
		if columns[i].field != columns[i-step].field+step {
			break
		}
		if isSum[i] {
			continue
		}
		if !w.add(&columns[i]) {
			break
		}
		if s, ok := w.result(2); ok {
			s.column, s.from, s.to = k, min(i, k+step), max(i, k+step)+1
			return s, true
		}
	}
	return partSum{}, false
}

// runSummands returns the sum of the columns that begin at index from and whose sum column k is.
func runSummands(columns []amountColumn, isSum []bool, k, from int) (partSum, bool) {
	w := newSummandCounter(&columns[k])
	for i := from; i < len(columns) && i != k; i++ {
		if isSum[i] {
			continue
		}
		if !w.add(&columns[i]) {
			break
		}
		if s, ok := w.result(minRunLength); ok && !s.isBase {
			s.column, s.from, s.to = k, from, i+1
			return s, true
		}
	}
	return partSum{}, false
}

// A summandCounter adds up columns and compares the sums with another column.
type summandCounter struct {
	whole  *amountColumn
	sums   []float64 // by row: sum of the columns so far
	counts []int     // by row: number of those above 0
	varies int       // number of columns whose numbers differ
	length int       // number of columns

	hasRest bool // whether one more column makes up the rest
	isPlain bool // whether the columns have no unit, so that the numbers of the whole are compared as they stand
}

func newSummandCounter(whole *amountColumn) *summandCounter {
	rows := min(len(whole.values), maxChoiceRows)
	return &summandCounter{whole: whole, sums: make([]float64, rows), counts: make([]int, rows)}
}

// add adds a column. It returns false if the sum is then greater than the whole in more than one of 20 rows, or if the
// column measures something else.
func (w *summandCounter) add(column *amountColumn) bool {
	whole := w.whole.values
	isRest := !slices.ContainsFunc(column.values, func(v float64) bool { return !math.IsNaN(v) })
	switch {
	case isRest && column.isFixed && column.evidence < 0:
		return true // it is known to be nothing
	case column.isFixed && column.evidence < 0 || column.kind != w.whole.kind && column.kind != measure.Unitless:
		return false
	case column.kind == measure.Unitless:
		whole = w.whole.cells
	}
	if w.length > 0 && (column.kind == measure.Unitless) != w.isPlain {
		return false
	}
	w.isPlain = column.kind == measure.Unitless
	if isRest {
		w.hasRest = true
		return true
	}
	over, varies := 0, false
	for r := range w.sums {
		v := column.values[r]
		varies = varies || v != column.values[0]
		if v > 0 {
			w.counts[r]++
		}
		w.sums[r] += v // an unknown amount makes the sum unknown
		if !(w.sums[r] <= float64((1+partSumTolerance)*whole[r])) {
			over++
		}
	}
	if varies {
		w.varies++
	}
	w.length++
	return 20*over <= len(w.sums)
}

// result reports whether the columns so far add up to the whole: at least fewest columns, of which two or more are above 0 in
// half of the rows. If the whole is the same in all rows, three columns must differ from row to row.
func (w *summandCounter) result(fewest int) (s partSum, ok bool) {
	s.hasRest = w.hasRest
	several, whole := 0, w.whole.values
	if w.isPlain {
		whole = w.whole.cells
	}
	for r, sum := range w.sums {
		if !(math.Abs(sum-whole[r]) <= float64(partSumTolerance*whole[r])) {
			s.others++
		}
		if w.counts[r] > 1 {
			several++
		}
	}
	s.isBase = !slices.ContainsFunc(whole[:len(w.sums)], func(v float64) bool { return v != whole[0] })
	if w.length < fewest || 20*s.others > len(w.sums) || 2*several < len(w.sums) || w.varies < 2 {
		return s, false
	}
	return s, !s.isBase || w.varies >= minSummedColumns || w.whole.isNamedTotal
}

// markPartSums takes the columns that are sums of others for no amounts. It marks the columns of a base, on top of which
// other amounts come: most recipes have some of these only. Behind the total of all amounts, few columns are amounts.
func markPartSums(columns []amountColumn) (sums []partSum) {
	sums = findPartSums(columns)
	hasBase, last := false, -1
	for _, s := range sums {
		last = max(last, s.column)
	}
	first := slices.IndexFunc(columns, func(c amountColumn) bool { return c.evidence > 0 })
	total := -1 // index of the last sum if that stands directly behind all amounts before it
	for _, s := range sums {
		column := &columns[s.column]
		column.isFixed, column.evidence = true, sumName
		isAll := s.column == last && s.from == first && s.to == s.column && s.to-s.from >= minSummedColumns
		column.isPartSum = !isAll || s.isBase
		raise := 0.0
		switch {
		case s.isBase && s.to == s.column:
			hasBase, raise = true, baseEvidence
			if isAll && column.isGrandTotal {
				total = s.column
			}
		case isAll && column.isTotal:
			total, raise = s.column, summandEvidence
		}
		for i := s.from; i < s.to && raise > 0; i++ {
			columns[i].inBase = columns[i].inBase || s.isBase
			if !columns[i].isFixed {
				columns[i].evidence += raise
			}
		}
	}
	for i := range columns {
		column := &columns[i]
		switch {
		case total >= 0 && i > total && !column.isFixed && columns[total].isGrandTotal:
			column.evidence += 2 * behindTotal
		case column.isFixed || column.isMaterial || column.inBase:
		case total >= 0 && i > total:
			column.evidence += behindTotal
		case hasBase && !slices.Contains(column.values, 0):
			column.evidence += fullAddition
		}
	}
	return sums
}

// guessPartSum returns the guess about a column that is the sum of others, if these are amounts. ok is false if they are
// not.
func (c *columnReader) guessPartSum(s partSum, columns []amountColumn, chosen []bool) (guess columnGuess, ok bool) {
	n, behind, before := 0, s.from == s.column+1, s.to == s.column
	for i := s.from; i < s.to; i++ {
		if !chosen[i] && slices.ContainsFunc(columns[i].values, func(v float64) bool { return v != 0 }) {
			return columnGuess{}, false
		}
		if chosen[i] {
			n++
		}
	}
	rows := ""
	if s.others > 0 {
		rows = " in nearly all rows"
	}
	reason := fmt.Sprintf("is left out: it is the sum of %s to %s%s", inputerr.Quote(c.header[columns[s.from].field]), inputerr.Quote(c.header[columns[s.to-1].field]), rows)
	switch {
	case behind:
		reason = fmt.Sprintf("is left out: it is the sum of the %d behind it%s", n, rows)
	case before:
		reason = fmt.Sprintf("is left out: it is the sum of the %d before it%s", n, rows)
	}
	return columnGuess{role: IgnoredColumn, reason: reason, isSum: true}, true
}
