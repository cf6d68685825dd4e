package rule

// A Slack sets a figure of a composition beside the bounds that a rule sets
// it.
type Slack struct {
	Value      float64
	Min, Max   float64 // −Inf and +Inf where there is no bound
	Unit       string  // "units", "ingredients", or the attribute whose mean it is
	Ingredient int     // the one whose amount it is; −1 if it is of several
}

// Room returns how far the figure may still change in the one direction that
// leaves the least: the distance to the nearer bound, +Inf without any. It is 0
// at a bound.
func (s Slack) Room() float64 { return min(s.Value-s.Min, s.Max-s.Value) }
