package volume

// A sumBound is the interval of a sum's permitted values, with the weight of violations of the interval.
type sumBound struct {
	min, max  int64
	countable bool    // whether the sum is a countable rule, which no move may break
	scale     float64 // contribution of each unit of violation to the total violation
}

// violation returns the distance of the value sum from the permitted interval.
func (b *sumBound) violation(sum int64) float64 {
	switch {
	case sum < b.min:
		return float64(b.min) - float64(sum)
	case sum > b.max:
		return float64(sum) - float64(b.max)
	}
	return 0
}

// violationQuantum is the factor by which violations are multiplied before rounding to whole numbers. In whole
// numbers, adding and subtracting contributions causes no rounding error.
const violationQuantum = 1 << 16

// violationCost returns the contribution of a sum with the given value to the total violation. The contribution
// is given as a whole multiple of 1/violationQuantum.
func (b *sumBound) violationCost(sum int64) int64 {
	if sum >= b.min && sum <= b.max {
		return 0
	}
	return 1 + int64(min(b.violation(sum)*b.scale*violationQuantum, 1<<40))
}
