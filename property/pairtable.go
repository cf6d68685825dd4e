package property

import (
	"math"
	"slices"
)

// A pairValue is a pair of ingredients i < j with the log of its lift or factor.
type pairValue struct {
	i, j     int32
	logValue float64
}

func comparePairs(a, b pairValue) int {
	if a.i != b.i {
		return int(a.i) - int(b.i)
	}
	return int(a.j) - int(b.j)
}

// A pairTable stores whole numbers for some pairs of ingredients. Row i lists the ingredients that form such a
// pair with ingredient i, in ascending order, and the numbers of these pairs.
type pairTable struct {
	rowStarts []int // item i is the index in partners and values of the first entry of row i; nil if the table is empty
	partners  []int32
	values    []int64
}

// forbiddenFactor is stored instead of the log of a factor of 0, because this log is −∞.
const forbiddenFactor = math.MinInt64

// newPairTable returns the table of the given values, which must be sorted by pair. The function toInteger
// converts a log to the whole number to store.
func newPairTable(ingredients int, values []pairValue, toInteger func(log float64) int64) pairTable {
	if len(values) == 0 {
		return pairTable{}
	}
	t := pairTable{rowStarts: make([]int, ingredients+1), partners: make([]int32, 2*len(values)), values: make([]int64, 2*len(values))}
	for _, v := range values {
		t.rowStarts[v.i+1]++
		t.rowStarts[v.j+1]++
	}
	for i := range ingredients {
		t.rowStarts[i+1] += t.rowStarts[i]
	}
	next := slices.Clone(t.rowStarts[:ingredients])
	put := func(i, j int32, value int64) {
		t.partners[next[i]], t.values[next[i]] = j, value
		next[i]++
	}
	// Values are sorted by pair, so the smaller partners of an ingredient enter its row before the larger ones, in
	// rising order.
	for _, v := range values {
		value := int64(forbiddenFactor)
		if v.logValue != math.Inf(-1) {
			value = toInteger(v.logValue)
		}
		put(v.i, v.j, value)
		put(v.j, v.i, value)
	}
	return t
}

// get returns the number that is stored for the pair of ingredients i and j. The second result is false if no
// number is stored.
func (t *pairTable) get(i, j int) (int64, bool) {
	if t.rowStarts == nil {
		return 0, false
	}
	from, to := t.rowStarts[i], t.rowStarts[i+1]
	at, found := slices.BinarySearch(t.partners[from:to], int32(j))
	if !found {
		return 0, false
	}
	return t.values[from+at], true
}
