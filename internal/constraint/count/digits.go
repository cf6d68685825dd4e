package count

// digits write the values of the active sums of a family as one number.
type digits struct {
	sums           []Sum
	after          map[int]span // what later stages can add to sums
	total          int
	st             *stage
	of             []digit
	whole, perUnit int64
}

// A digit is a number in lo..hi.
type digit struct {
	active        int // index of the stage's term
	sum           *Sum
	more          span // what later stages can add
	lo, hi        int64
	weight, value int64
}

func (d *digits) add(active, sum int, value int64) {
	d.of = append(d.of, digit{active: active, sum: &d.sums[sum], more: d.after[sum], lo: value, hi: value})
}

// widenTo widens the ranges of the digits to include values.
func (d *digits) widenTo(values []int64) {
	for k := range d.of {
		g := &d.of[k]
		g.lo, g.hi = min(g.lo, values[g.active]), max(g.hi, values[g.active])
	}
}

// assignWeights gives digits their weights, with room for what the stage adds. It reports whether
// all digits fit in one number.
func (d *digits) assignWeights() bool {
	weight, size := int64(1), 1.0
	for k := range d.of {
		g := &d.of[k]
		t := d.st.terms[g.active]
		// Twice what can be added, so that a key beyond any node cannot be read as the digits of
		// another one.
		g.lo += 2 * (min(t.PerUnit, 0)*int64(d.total) + min(t.Whole, 0)*int64(d.st.most))
		g.hi += 2 * (max(t.PerUnit, 0)*int64(d.total) + max(t.Whole, 0)*int64(d.st.most))
		g.weight = weight
		if size = float64(size * (float64(g.hi-g.lo) + 1)); size > 1<<62 {
			return false
		}
		weight *= g.hi - g.lo + 1
		d.whole += g.weight * t.Whole
		d.perUnit += g.weight * t.PerUnit
	}
	return true
}

func (d *digits) key(values []int64) int64 {
	key := int64(0)
	for _, g := range d.of {
		key += g.weight * (values[g.active] - g.lo)
	}
	return key
}

func (d *digits) decode(key int64) {
	for k := range d.of {
		g := &d.of[k]
		g.value = g.lo + key/g.weight%(g.hi-g.lo+1)
	}
}

// isInfeasible reports whether a sum is out of its bounds and more of the stage would only take it
// further out.
func (d *digits) isInfeasible(key int64) bool {
	d.decode(key)
	for k := range d.of {
		g := &d.of[k]
		t := d.st.terms[g.active]
		if t.PerUnit >= 0 && t.Whole >= 0 && g.value+g.more.lo > g.sum.Max ||
			t.PerUnit <= 0 && t.Whole <= 0 && g.value+g.more.hi < g.sum.Min {
			return true
		}
	}
	return false
}
