package count

// An amountSet is the set of the n positive amounts lo, lo+step, lo+2·step, ...
type amountSet struct{ lo, step, n int }

func (k amountSet) hi() int { return k.lo + (k.n-1)*k.step }

// unbounded reports whether the set has no effective upper limit: the amount after the greatest would exceed the
// total.
func (k amountSet) unbounded(total int) bool { return k.lo+k.n*k.step > total }

// A class is a set of ingredients with equal rules. Counting need not tell the ingredients of a class apart.
type class struct {
	amounts  amountSet // amounts that each ingredient may have when used
	required bool
	members  []int32 // indices of the ingredients
}

// A classKey identifies a class within a group by what the ingredients of the class have in common.
type classKey struct {
	amounts  amountSet
	required bool
}

// floorDiv returns a/b rounded down, for b > 0.
func floorDiv[T int | int64](a, b T) T {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
