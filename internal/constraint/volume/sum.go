package volume

// A bound is the interval of a sum's permitted values, with the weight of a violation.
type bound struct {
	min, max int64
	hard     bool    // whether the sum is a countable rule, which no move may break
	scale    float64 // contribution to v of each unit of violation
}

// violation returns the distance of a sum from the permitted interval.
func (b *bound) violation(sum int64) float64 {
	switch {
	case sum < b.min:
		return float64(b.min) - float64(sum)
	case sum > b.max:
		return float64(sum) - float64(b.max)
	}
	return 0
}

// quantum is the v of a sum whose violation times scale is 1. v is a whole number, so that adding and subtracting it
// leaves no rounding.
const quantum = 1 << 16

// cost returns the contribution of a sum to v, in parts of quantum.
func (b *bound) cost(sum int64) int64 {
	if sum >= b.min && sum <= b.max {
		return 0
	}
	return 1 + int64(min(b.violation(sum)*b.scale*quantum, 1<<40))
}
