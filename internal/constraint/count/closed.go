package count

import (
	"math"
	"math/big"

	"kir/internal/portable"
)

// closedFormula is a space that a formula counts: all ingredients may take the amounts lo, lo+step,
// ... without an upper bound, and no group limits them. n used ingredients take at least n·lo
// units. The rest is V = (M − n·lo)/step steps, which can be divided among them in C(V+n−1, n−1)
// ways:
//
//	|X_n| = C(optional, n−required) · C(V+n−1, n−1)
//
// With lo = step = 1 and none required that is C(N, n)·C(M−1, n−1).
type closedFormula struct {
	total, lo, step    int
	optional, required int

	// indices of the optional and of the required ingredients; nil means 0, 1, 2, ...
	optionals, requireds []int32
}

// closedForm returns the closed formula that counts a plan's compositions, or nil if none applies.
func closedForm(p *plan) *closedFormula {
	q := p.root
	if p.impossible || p.frontier != nil || len(q.groups) > 0 || len(q.classes) == 0 {
		return nil
	}
	c := &closedFormula{total: p.total, lo: q.classes[0].kind.lo, step: q.classes[0].kind.step}
	for _, class := range q.classes {
		k := class.kind
		switch {
		case !k.unbounded(p.total) || k.lo != c.lo || k.step != c.step:
			return nil
		case class.required:
			c.requireds = class.members
		default:
			c.optionals = class.members
		}
	}
	c.optional, c.required = len(c.optionals), len(c.requireds)
	return c
}

// shape returns how many of n used ingredients are optional, and how many steps above the least amounts remain to
// divide among the n. ok is false if X_n is empty.
func (c *closedFormula) shape(n int) (optional, steps int, ok bool) {
	optional = n - c.required
	units := c.total - n*c.lo
	if n < 1 || optional < 0 || optional > c.optional || units < 0 || units%c.step != 0 {
		return 0, 0, false
	}
	return optional, units / c.step, true
}

func (c *closedFormula) count(n int) *big.Int {
	optional, steps, ok := c.shape(n)
	if !ok {
		return new(big.Int)
	}
	x := new(big.Int).Binomial(int64(c.optional), int64(optional))
	return x.Mul(x, new(big.Int).Binomial(int64(steps+n-1), int64(n-1)))
}

// plain reports whether the amounts are 1, 2, 3, ...
func (c *closedFormula) plain() bool { return c.lo == 1 && c.step == 1 }

// next returns |X_{n+1}|, given x = |X_n|, for amounts 1, 2, 3, ...:
//
// \t|X_{n+1}| = |X_n| · (optional−m)(total−n) / ((m+1)·n), m = n − required
//
// If X_n is empty, next computes |X_{n+1}| without x.
func (c *closedFormula) next(n int, x *big.Int) *big.Int {
	if x.Sign() == 0 {
		return c.count(n + 1)
	}
	m := n - c.required
	y := new(big.Int).SetUint64(uint64(c.optional-m) * uint64(c.total-n)) // no overflow: both factors are below 2^31
	y.Mul(y, x)
	return y.Quo(y, new(big.Int).SetUint64(uint64(m+1)*uint64(n)))
}

func (c *closedFormula) logCount(n int) float64 {
	optional, steps, ok := c.shape(n)
	if !ok {
		return math.Inf(-1)
	}
	return logBinomial(c.optional, optional) + logBinomial(steps+n-1, n-1)
}

// logBinomial returns log C(n, k) for 0 ≤ k ≤ n with a relative error of about 1e-14. It uses
// Stirling's formula with the remainder δ, so that no terms as large as log n! cancel:
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
		stirling(a) - stirling(b) - stirling(c)
}

// stirling returns δ(x) = log x! − ((x+½) log x − x + ½ log 2π) for x ≥ 32, to
// a relative error below 1e-15 (Abramowitz and Stegun 6.1.41).
func stirling(x float64) float64 {
	y := 1 / (x * x)
	return (1.0/12 - float64(y*(1.0/360-float64(y*(1.0/1260-float64(y*(1.0/1680-float64(y*(1.0/1188))))))))) / x
}
