package volume

// bound is a sum without its terms.
type bound struct {
	min, max int64
	hard     bool    // of a countable group: never broken
	scale    float64 // v for each unit by which it is broken
}

// violation returns the distance of a sum from a bound's interval.
func (b *bound) violation(sum int64) float64 {
	switch {
	case sum < b.min:
		return float64(b.min) - float64(sum)
	case sum > b.max:
		return float64(sum) - float64(b.max)
	}
	return 0
}

// quantum is the v of a sum that breaks its bound by its scale. v is an integer, so adding and
// subtracting it leaves no rounding.
const quantum = 1 << 16

// cost returns the v of a sum.
func (b *bound) cost(sum int64) int64 {
	if sum >= b.min && sum <= b.max {
		return 0
	}
	return 1 + int64(min(b.violation(sum)*b.scale*quantum, 1<<40))
}
