package config

// A Direction states which values of an objective are better.
type Direction string

// The directions. Between two bounds all values are alike; outside them, the nearer ones are better.
const (
	Maximize Direction = "maximize"
	Minimize Direction = "minimize"
	Between  Direction = "between"
)

// Sign returns 1, or −1 to minimise.
func (d Direction) Sign() float64 {
	if d == Minimize {
		return -1
	}
	return 1
}

// Loss returns the loss of a value, which is lower where the value is better. The bounds count for Between.
func (d Direction) Loss(v, least, most float64) float64 {
	switch d {
	case Maximize:
		return -v
	case Minimize:
		return v
	}
	return max(least-v, v-most, 0)
}
