package property

import (
	"math"
	"slices"
)

// pairValue is the log of a number for the pair i < j.
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

// A pairTable holds whole numbers for some pairs. Row i lists its partners in rising order.
type pairTable struct {
	start []int // of each row; nil if the table is empty
	other []int32
	value []int64
}

// forbidden stands for the log of 0.
const forbidden = math.MinInt64

// newPairTable returns the table of the values, which are sorted by pair.
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
	// The order by pair puts an ingredient's smaller partners before its larger ones.
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

// get returns the value of a pair, and whether the table has one.
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
