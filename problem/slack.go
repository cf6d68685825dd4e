package problem

import (
	"math"

	"kir"
	"kir/count"
)

// A Rule is one of the problem's constraints.
type Rule struct {
	Text string // in words

	rule  *rule
	total int
}

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

// Slacks returns the figures of a composition, given by its parts, that the
// rule bounds: a group that bounds both has two, how many of its ingredients
// are used and what they add up to. A rule on the amounts of several
// ingredients is represented by the one with the least room. There are none
// where the rule has nothing to say: of amounts, if none of its ingredients is
// used; of what an ingredient needs, if it is not used.
func (r Rule) Slacks(parts []kir.Part) []Slack {
	inf := math.Inf(1)
	if need := r.rule.need; need != nil {
		if amountOf(parts, need.If) == 0 {
			return nil
		}
		met := 0
		for _, i := range need.Then {
			if amountOf(parts, i) > 0 {
				met++
			}
		}
		return []Slack{{Value: float64(met), Min: 1, Max: inf, Unit: "ingredients", Ingredient: -1}}
	}
	if limit := r.rule.limit; limit != nil {
		return []Slack{{Value: limitMean(limit, parts, r.total), Min: limit.Min, Max: limit.Max, Unit: r.rule.attribute, Ingredient: -1}}
	}
	c := r.rule.counted
	used, sum := 0, 0
	var tightest *Slack
	for _, i := range c.Of {
		a := amountOf(parts, i)
		if a == 0 {
			continue
		}
		used++
		sum += a
		s := Slack{Value: float64(a), Min: math.Inf(-1), Max: inf, Unit: "units", Ingredient: i}
		if c.Min > 0 {
			s.Min = float64(c.Min)
		}
		if c.Max > 0 {
			s.Max = float64(c.Max)
		}
		if tightest == nil || s.Room() < tightest.Room() {
			tightest = &s
		}
	}
	counted := Slack{Value: float64(used), Min: float64(len(c.Of)), Max: float64(len(c.Of)), Unit: "ingredients", Ingredient: -1}
	switch {
	case c.Require:
		return []Slack{counted}
	case c.Exclude:
		counted.Min, counted.Max = 0, 0
		return []Slack{counted}
	}
	var slacks []Slack
	// A bound that no composition can pass is none.
	if c.Used != nil {
		counted.Min, counted.Max = bounds(c.Used, len(c.Of))
		slacks = append(slacks, counted)
	}
	if c.Total != nil {
		s := Slack{Value: float64(sum), Unit: "units", Ingredient: -1}
		s.Min, s.Max = bounds(c.Total, r.total)
		slacks = append(slacks, s)
	}
	if tightest != nil && (c.Min > 0 || c.Max > 0 || c.Step > 0) {
		slacks = append(slacks, *tightest)
	}
	return slacks
}

// bounds returns those of a range of numbers from 0 to most.
func bounds(r *count.Range, most int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if r.Min > 0 {
		lo = float64(r.Min)
	}
	if r.Max < most {
		hi = float64(r.Max)
	}
	return lo, hi
}

func amountOf(parts []kir.Part, ingredient int) int {
	for _, p := range parts {
		if p.Ingredient == ingredient {
			return p.Amount
		}
	}
	return 0
}

// limitMean returns the mean that a limit bounds, Σ f_i·x_i / M.
func limitMean(l *kir.Limit, parts []kir.Part, total int) float64 {
	mean := 0.0
	for _, p := range parts {
		mean += l.Factors[p.Ingredient] * float64(p.Amount) / float64(total)
	}
	return mean
}
