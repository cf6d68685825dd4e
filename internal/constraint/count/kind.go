package count

// An amountSet is a set of positive amounts: lo, lo+step, ..., n of them.
type amountSet struct{ lo, step, n int }

func (k amountSet) hi() int { return k.lo + (k.n-1)*k.step }

// unbounded reports whether amounts up to a total have no upper limit.
func (k amountSet) unbounded(total int) bool { return k.lo+k.n*k.step > total }

// A class is a set of ingredients that differ in name only.
type class struct {
	kind     amountSet
	required bool
	members  []int32
}

type classKey struct {
	kind     amountSet
	required bool
}

func floorDiv[T int | int64](a, b T) T {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
