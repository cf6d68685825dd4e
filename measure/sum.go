package measure

import "kir/count"

// A Sum bounds Σ_i (a_i·x_i + u_i·[x_i > 0]) over a composition x, in whole
// numbers. Limits are sums of amounts, groups count units or members, and "i
// needs one of J" is [x_i > 0] − Σ_{j∈J} [x_j > 0] ≤ 0.
type Sum struct {
	Terms    []Term
	Min, Max int64 // math.MinInt64 and math.MaxInt64 where there is no bound
}

// A Term is what one ingredient adds to a sum.
type Term struct {
	Ingredient     int
	PerUnit, Whole int64 // a_i and u_i

	// At is what an amount adds instead, if units do not all add the same; At(0)
	// is 0. nil if they do.
	At func(amount int) int64
}

// Of returns a sum that is counted, too.
func Of(s count.Sum) Sum {
	of := Sum{Min: s.Min, Max: s.Max, Terms: make([]Term, len(s.Terms))}
	for k, t := range s.Terms {
		of.Terms[k] = Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, Whole: t.Whole}
	}
	return of
}

// bound is a sum without its terms.
type bound struct {
	min, max int64
	hard     bool    // of a countable group: never broken
	scale    float64 // v for each unit by which it is broken
}

// over returns by how much a sum lies outside a bound.
func (b *bound) over(sum int64) float64 {
	switch {
	case sum < b.min:
		return float64(b.min) - float64(sum)
	case sum > b.max:
		return float64(sum) - float64(b.max)
	}
	return 0
}

// quantum is the v of a sum that is broken by its scale. v is a whole number, so
// that adding it up and taking it away again leaves nothing behind.
const quantum = 1 << 16

// cost returns the v of a sum.
func (b *bound) cost(sum int64) int64 {
	if sum >= b.min && sum <= b.max {
		return 0
	}
	return 1 + int64(min(b.over(sum)*b.scale*quantum, 1<<40))
}
