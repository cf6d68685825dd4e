package randomproblem

import "math"

// A Wish is a property: its score y(x) ≥ 0 and the weight to which that is
// raised.
type Wish struct {
	Name   string
	Kind   string
	Weight float64

	yaml any
	// log returns log y(x): −Inf where y is 0, NaN or +Inf where it is no score. It
	// is nil for a forest that has not been read, see [Wish.Read], and for a taste that
	// has not been learnt, see [Wish.learn].
	log    func(x []int) float64
	forest *forestWish
	goal   *goal // of an objective; log is nil until the compositions are known, see [Wish.reach]
	market *market
	files  map[string]string // beside the problem file
}

// floored is log max(floor, y).
func floored(logY, floor float64) float64 { return max(logY, math.Log(floor)) }
