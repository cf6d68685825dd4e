package config

// A Direction tells which values of an objective are better.
type Direction string

// Directions of objectives.
const (
	Maximize Direction = "maximize" // greater values are better
	Minimize Direction = "minimize" // smaller values are better
	Between  Direction = "between"  // all values between two bounds are equally good; outside, values nearer to the bounds are better
)

// Sign returns −1 for [Minimize], and 1 for the other directions.
func (d Direction) Sign() float64 {
	if d == Minimize {
		return -1
	}
	return 1
}

// Loss returns the loss of the value v, a number that is lower for better values. For [Between] the loss is the
// distance of v from the interval from least to most. For the other directions it is −v or v.
func (d Direction) Loss(v, least, most float64) float64 {
	switch d {
	case Maximize:
		return -v
	case Minimize:
		return v
	}
	return max(least-v, v-most, 0)
}
