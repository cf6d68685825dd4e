package property

import (
	"math"
	"slices"
)

// A pairValue is a pair of ingredients i < j and the log of its lift or factor.
type pairValue struct {
	i, j int32
	log  float64
}

func comparePairs(a, b pairValue) int {
	if a.i != b.i {
		return int(a.i) - int(b.i)
	}
	return int(a.j) - int(b.j)
}

// A pairTable is a sparse symmetric table of whole numbers for pairs of ingredients. Row i lists the partners of i in
// rising order.
type pairTable struct {
	start []int // first entry of each row in other and value; nil if the table is empty
	other []int32
	value []int64
}

// forbidden marks a factor of 0, whose log is −∞.
const forbidden = math.MinInt64

// newPairTable returns the table of the values, which must be sorted by pair. whole rounds a log to a whole number.
func newPairTable(ingredients int, values []pairValue, whole func(log float64) int64) pairTable {
	if len(values) == 0 {
		return pairTable{}
	}
	t := pairTable{start: make([]int, ingredients+1), other: make([]int32, 2*len(values)), value: make([]int64, 2*len(values))}
	for _, v := range values {
		t.start[v.i+1]++
		t.start[v.j+1]++
	}
	for i := range ingredients {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start[:ingredients])
	put := func(i, j int32, value int64) {
		t.other[next[i]], t.value[next[i]] = j, value
		next[i]++
	}
	// Values are sorted by pair, so the smaller partners of an ingredient enter its row before the larger ones, in
	// rising order.
	for _, v := range values {
		value := int64(forbidden)
		if v.log != math.Inf(-1) {
			value = whole(v.log)
		}
		put(v.i, v.j, value)
		put(v.j, v.i, value)
	}
	return t
}

// get returns the number stored for the pair i, j, and false if there is none.
func (t *pairTable) get(i, j int) (int64, bool) {
	if t.start == nil {
		return 0, false
	}
	from, to := t.start[i], t.start[i+1]
	at, found := slices.BinarySearch(t.other[from:to], int32(j))
	if !found {
		return 0, false
	}
	return t.value[from+at], true
}
