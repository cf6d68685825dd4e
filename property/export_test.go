package property

// Scale is the standard deviation of a weight a priori that was chosen.
func (c *Comparisons) Scale() float64 { return c.priorSD }
