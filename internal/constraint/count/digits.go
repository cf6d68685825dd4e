package count

// digits encodes the values of several sums as one whole number, the key of a node. It covers the sums that a stage
// changes and that can still be broken.
type digits struct {
	sums            []Sum
	after           map[int]span // by sum: least and greatest that later stages can add to it
	total           int
	st              *stage
	list            []digit
	perUse, perUnit int64
}

// A digit is the value of one sum, in the range lo..hi, as a part of a key.
type digit struct {
	active        int // index in the stage's terms
	sum           *Sum
	more          span // least and greatest that later stages can add to the sum
	lo, hi        int64
	weight, value int64
}

func (d *digits) add(active, sum int, value int64) {
	d.list = append(d.list, digit{active: active, sum: &d.sums[sum], more: d.after[sum], lo: value, hi: value})
}

// widenTo widens the range of each digit to include the given value of its sum.
func (d *digits) widenTo(values []int64) {
	for k := range d.list {
		g := &d.list[k]
		g.lo, g.hi = min(g.lo, values[g.active]), max(g.hi, values[g.active])
	}
}

// assignWeights sets the factor of each digit in the key. It widens the ranges by what the stage can add to the sums.
// It reports whether all keys fit in one int64.
func (d *digits) assignWeights() bool {
	weight, size := int64(1), 1.0
	for k := range d.list {
		g := &d.list[k]
		t := d.st.terms[g.active]
		// The ranges grow by twice what the stage can add. A key that lies beyond all nodes is then never equal to
		// another node's key.
		g.lo += 2 * (min(t.PerUnit, 0)*int64(d.total) + min(t.PerUse, 0)*int64(d.st.most))
		g.hi += 2 * (max(t.PerUnit, 0)*int64(d.total) + max(t.PerUse, 0)*int64(d.st.most))
		g.weight = weight
		if size = float64(size * (float64(g.hi-g.lo) + 1)); size > 1<<62 {
			return false
		}
		weight *= g.hi - g.lo + 1
		d.perUse += g.weight * t.PerUse
		d.perUnit += g.weight * t.PerUnit
	}
	return true
}

func (d *digits) key(values []int64) int64 {
	key := int64(0)
	for _, g := range d.list {
		key += g.weight * (values[g.active] - g.lo)
	}
	return key
}

func (d *digits) decode(key int64) {
	for k := range d.list {
		g := &d.list[k]
		g.value = g.lo + key/g.weight%(g.hi-g.lo+1)
	}
}

// isInfeasible reports whether one of the sums with this key lies beyond a bound and can only move further beyond it.
func (d *digits) isInfeasible(key int64) bool {
	d.decode(key)
	for k := range d.list {
		g := &d.list[k]
		t := d.st.terms[g.active]
		if t.PerUnit >= 0 && t.PerUse >= 0 && g.value+g.more.lo > g.sum.Max ||
			t.PerUnit <= 0 && t.PerUse <= 0 && g.value+g.more.hi < g.sum.Min {
			return true
		}
	}
	return false
}
