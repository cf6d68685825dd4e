package count

import (
	"math"
	"math/big"

	"kir/internal/portable"
)

// A closedFormula describes a simple space, whose compositions a formula counts: all ingredients may have the
// amounts lo, lo+step, ... without an upper bound, and no group limits the ingredients. Let |X_n| be the number
// of compositions of n ingredients. The n used ingredients take at least n·lo units of the M units. The remaining
// units are V = (M − n·lo)/step steps, which can be divided among the n ingredients in C(V+n−1, n−1) ways:
//
//	|X_n| = C(optional, n−required) · C(V+n−1, n−1)
//
// Here optional and required are the numbers of optional and required ingredients. With lo = step = 1 and no
// required ingredient, |X_n| is C(N, n)·C(M−1, n−1).
type closedFormula struct {
	total, lo, step              int
	optionalCount, requiredCount int

	// indices of the optional and of the required ingredients; a nil slice of optional ingredients means 0, 1,
	// 2, ...
	optionalIngredients, requiredIngredients []int32
}

// closedForm returns the closed formula that counts the compositions of the plan, or nil if no formula applies.
func closedForm(p *plan) *closedFormula {
	q := p.root
	if p.impossible || p.frontier != nil || len(q.groups) > 0 || len(q.classes) == 0 {
		return nil
	}
	c := &closedFormula{total: p.total, lo: q.classes[0].amounts.lo, step: q.classes[0].amounts.step}
	for _, class := range q.classes {
		k := class.amounts
		switch {
		case !k.unbounded(p.total) || k.lo != c.lo || k.step != c.step:
			return nil
		case class.required:
			c.requiredIngredients = class.members
		default:
			c.optionalIngredients = class.members
		}
	}
	c.optionalCount, c.requiredCount = len(c.optionalIngredients), len(c.requiredIngredients)
	return c
}

// optionalAndSteps returns how many of n used ingredients are optional, and how many steps remain to divide among the n
// ingredients after each ingredient got the least amount. The result ok is false if no composition uses n
// ingredients.
func (c *closedFormula) optionalAndSteps(n int) (optional, steps int, ok bool) {
	optional = n - c.requiredCount
	units := c.total - n*c.lo
	if n < 1 || optional < 0 || optional > c.optionalCount || units < 0 || units%c.step != 0 {
		return 0, 0, false
	}
	return optional, units / c.step, true
}

func (c *closedFormula) count(n int) *big.Int {
	optional, steps, ok := c.optionalAndSteps(n)
	if !ok {
		return new(big.Int)
	}
	x := new(big.Int).Binomial(int64(c.optionalCount), int64(optional))
	return x.Mul(x, new(big.Int).Binomial(int64(steps+n-1), int64(n-1)))
}

// isPlain reports whether the allowed amounts are 1, 2, 3, ...
func (c *closedFormula) isPlain() bool { return c.lo == 1 && c.step == 1 }

// nextCount returns |X_{n+1}|, the number of compositions of n+1 ingredients, given x = |X_n|, the number of
// compositions of n ingredients. The amounts must be 1, 2, 3, ...:
//
//	|X_{n+1}| = |X_n| · (optional−m)(total−n) / ((m+1)·n), m = n − required
//
// Here optional and required are the numbers of optional and required ingredients. If x is 0, nextCount instead
// computes |X_{n+1}| afresh.
func (c *closedFormula) nextCount(n int, x *big.Int) *big.Int {
	if x.Sign() == 0 {
		return c.count(n + 1)
	}
	m := n - c.requiredCount
	y := new(big.Int).SetUint64(uint64(c.optionalCount-m) * uint64(c.total-n)) // no overflow: both factors are below 2^31
	y.Mul(y, x)
	return y.Quo(y, new(big.Int).SetUint64(uint64(m+1)*uint64(n)))
}

func (c *closedFormula) logCount(n int) float64 {
	optional, steps, ok := c.optionalAndSteps(n)
	if !ok {
		return math.Inf(-1)
	}
	return logBinomial(c.optionalCount, optional) + logBinomial(steps+n-1, n-1)
}

// logBinomial returns log C(n, k) for 0 ≤ k ≤ n with a relative error of about 1e-14. logBinomial uses
// Stirling's formula with the remainder δ (see [stirlingRemainder]), so that no terms as large as log n! cancel:
//
//	log C(n, k) = k·log(n/k) + (n−k)·log(n/(n−k)) − ½ log(2π·k(n−k)/n) + δ(n) − δ(k) − δ(n−k)
func logBinomial(n, k int) float64 {
	k = min(k, n-k)
	switch {
	case k < 0:
		return math.Inf(-1)
	case k == 0:
		return 0
	case k < 32:
		sum := 0.0
		for j := range k {
			sum += portable.Log(float64(n-j) / float64(k-j))
		}
		return sum
	}
	a, b, c := float64(n), float64(k), float64(n-k)
	return float64(b*portable.Log(a/b)) - float64(c*portable.Log1p(-b/a)) - float64(portable.Log(float64(2*math.Pi*b*(c/a)))/2) +
		stirlingRemainder(a) - stirlingRemainder(b) - stirlingRemainder(c)
}

// stirlingRemainder returns δ(x) = log x! − ((x+½) log x − x + ½ log 2π) for x ≥ 32, to a relative error below
// 1e-15 (Abramowitz and Stegun 6.1.41).
func stirlingRemainder(x float64) float64 {
	y := 1 / (x * x)
	return (1.0/12 - float64(y*(1.0/360-float64(y*(1.0/1260-float64(y*(1.0/1680-float64(y*(1.0/1188))))))))) / x
}
