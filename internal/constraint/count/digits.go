package count

// digits encodes the values of several sums as one whole number, the key of a node. The key has one digit for
// each sum that the stage changes and that can still be broken.
type digits struct {
	sums            []Sum        // all sums of the frontier
	laterSpans      map[int]span // by index of the sum: least and greatest value that later stages can add to the sum
	total           int          // total units of a composition
	stage           *stage       // the stage that changes the sums
	digitList       []digit      // digits of the key, beginning with the least significant digit
	perUse, perUnit int64        // change of the key for each used ingredient and for each unit
}

// A digit is the value of one sum, in the range lo..hi, as a part of a key.
type digit struct {
	termIndex     int // index of the term of the sum in the terms of the stage
	sum           *Sum
	laterSpan     span // least and greatest value that later stages can add to the sum
	lo, hi        int64
	weight, value int64 // factor of the digit in the key, and the value of the sum that decode found
}

// addDigit appends a digit for the sum with the given index. The parameter term is the index of the sum's term
// in the terms of the stage, and value is the value of the sum.
func (d *digits) addDigit(term, sum int, value int64) {
	d.digitList = append(d.digitList, digit{termIndex: term, sum: &d.sums[sum], laterSpan: d.laterSpans[sum], lo: value, hi: value})
}

// widenTo widens the range of each digit to include the value of the digit's sum. The values are indexed like
// the terms of the stage.
func (d *digits) widenTo(values []int64) {
	for k := range d.digitList {
		g := &d.digitList[k]
		g.lo, g.hi = min(g.lo, values[g.termIndex]), max(g.hi, values[g.termIndex])
	}
}

// assignWeights sets the factor of each digit in the key. First assignWeights widens the range of each digit by
// what the stage can add to the sum. The result reports whether all keys fit in one int64.
func (d *digits) assignWeights() bool {
	weight, size := int64(1), 1.0
	for k := range d.digitList {
		g := &d.digitList[k]
		t := d.stage.terms[g.termIndex]
		// The ranges grow by twice what the stage can add. So a key that lies beyond all nodes never equals the
		// key of another node.
		g.lo += 2 * (min(t.PerUnit, 0)*int64(d.total) + min(t.PerUse, 0)*int64(d.stage.maxMembers))
		g.hi += 2 * (max(t.PerUnit, 0)*int64(d.total) + max(t.PerUse, 0)*int64(d.stage.maxMembers))
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

// key returns the key for the values of the sums, which are indexed like the terms of the stage.
func (d *digits) key(values []int64) int64 {
	key := int64(0)
	for _, g := range d.digitList {
		key += g.weight * (values[g.termIndex] - g.lo)
	}
	return key
}

// decode sets the value of each digit to the value of the sum in the key.
func (d *digits) decode(key int64) {
	for k := range d.digitList {
		g := &d.digitList[k]
		g.value = g.lo + key/g.weight%(g.hi-g.lo+1)
	}
}

// isInfeasible reports whether, at this key, one of the sums lies beyond a bound and can only move further
// beyond the bound.
func (d *digits) isInfeasible(key int64) bool {
	d.decode(key)
	for k := range d.digitList {
		g := &d.digitList[k]
		t := d.stage.terms[g.termIndex]
		if t.PerUnit >= 0 && t.PerUse >= 0 && g.value+g.laterSpan.lo > g.sum.Max ||
			t.PerUnit <= 0 && t.PerUse <= 0 && g.value+g.laterSpan.hi < g.sum.Min {
			return true
		}
	}
	return false
}
