package count

// keyDigits encodes the values of several sums as one whole number, called the key of a node of a [frontier]. The
// key has one digit for each sum that the stage changes and that later choices can still break.
type keyDigits struct {
	sums            []Sum        // all sums of the frontier
	laterSpans      map[int]span // maps the index of a sum to the least and greatest value that later stages can add to the sum
	total           int          // total units of a composition
	stage           *stage       // the stage that changes the sums
	digitList       []digit      // digits of the key, beginning with the least significant digit
	perUse, perUnit int64        // change of the key for each used ingredient (perUse) and for each unit (perUnit)
}

// A digit is the value of one sum, in the range lo..hi, as a part of a key.
type digit struct {
	termIndex     int // index of the term of the sum in the terms of the stage
	sum           *Sum
	laterSpan     span // least and greatest value that later stages can add to the sum
	lo, hi        int64
	weight, value int64 // weight is the factor of the digit in the key; value is the value of the sum, as set by decode
}

// addDigit appends a digit for the sum with the index sum. The parameter term is the index, in the terms of the
// stage, of the term in that sum; value is the present value of the sum.
func (d *keyDigits) addDigit(term, sum int, value int64) {
	d.digitList = append(d.digitList, digit{termIndex: term, sum: &d.sums[sum], laterSpan: d.laterSpans[sum], lo: value, hi: value})
}

// widenTo widens the range lo..hi of each digit to include a further value of the digit's sum. Item t of values
// is the value of the sum in which term t of the stage is.
func (d *keyDigits) widenTo(values []int64) {
	for k := range d.digitList {
		g := &d.digitList[k]
		g.lo, g.hi = min(g.lo, values[g.termIndex]), max(g.hi, values[g.termIndex])
	}
}

// assignWeights sets the factor of each digit in the key. First assignWeights widens the range of each digit by
// what the stage can add to the sum. The result reports whether all keys fit in one int64.
func (d *keyDigits) assignWeights() bool {
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

// key returns the key that encodes the values of the sums. Item t of values is the value of the sum in which term
// t of the stage is.
func (d *keyDigits) key(values []int64) int64 {
	key := int64(0)
	for _, g := range d.digitList {
		key += g.weight * (values[g.termIndex] - g.lo)
	}
	return key
}

// decode sets the field value of each digit to the value of the sum that the key encodes.
func (d *keyDigits) decode(key int64) {
	for k := range d.digitList {
		g := &d.digitList[k]
		g.value = g.lo + key/g.weight%(g.hi-g.lo+1)
	}
}

// isInfeasible reports whether one of the sums is certain to break a bound: by the key, the value of the sum is
// beyond the bound, and further ingredients can only move the value further away.
func (d *keyDigits) isInfeasible(key int64) bool {
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
