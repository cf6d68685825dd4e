package figure

import (
	"math"

	"kir/internal/portable"
)

// A Scale maps numbers linearly to positions along an axis of a figure.
type Scale struct {
	Lo   float64 // number at the position From
	Hi   float64 // number at the position To
	From float64 // position of the number Lo
	To   float64 // position of the number Hi
}

// At returns the position of the number v.
func (s Scale) At(v float64) float64 {
	if s.Hi == s.Lo {
		return float64((s.From + s.To) / 2)
	}
	return s.From + float64((v-s.Lo)/(s.Hi-s.Lo)*(s.To-s.From))
}

// ClampedAt returns the position of a number, or that of the nearer end of the axis if the number
// is outside of Lo..Hi.
func (s Scale) ClampedAt(v float64) float64 {
	return s.At(max(s.Lo, min(s.Hi, v)))
}

// Ticks returns round numbers between lo and hi to label an axis. Their distance is 1, 2 or 5 times
// a power of ten. There are at most maxTicks numbers and, if the range allows, at least two. The
// result digits is the number of digits that the numbers need after the decimal point. If lo and hi
// are too close to each other, the only number is lo.
func Ticks(lo, hi float64, maxTicks int) (ticks []float64, digits int) {
	if !(hi-lo > 1e-9*max(math.Abs(lo), math.Abs(hi))) || math.IsInf(hi-lo, 0) {
		return []float64{lo}, 0
	}
	power := portable.Pow(10, math.Floor(portable.Log10((hi-lo)/float64(maxTicks))))
	step := power
	for _, m := range []float64{1, 2, 5, 10, 20} {
		step = float64(m * power)
		if math.Floor(hi/step+1e-9)-math.Ceil(lo/step-1e-9) < float64(maxTicks) {
			break
		}
	}
	digits = max(0, -int(math.Floor(portable.Log10(step)+1e-9)))
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	for k := range int(last-first) + 1 {
		ticks = append(ticks, float64((first+float64(k))*step))
	}
	return ticks, digits
}
