package property

import (
	"math"

	"kir/mcmc"
)

// LogUsual returns the log of the probability with which x is liked better than what
// has the mean features of all that were compared.
func (t *Taste) LogUsual(x *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.of(x), t.usual)
	return logNormal(mean / math.Sqrt(curve*curve+float64(sd*sd)))
}

// Scale is the standard deviation of a weight a priori that was chosen.
func (c *Comparisons) Scale() float64 { return c.scale }
