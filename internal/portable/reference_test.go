package portable

import (
	"math"
	"math/big"
	"sync"
)

// precise computes functions with so many bits that what it leaves out is far below a
// thousandth of an ulp.
type precise struct{ bits uint }

var reference = precise{224}

func (p precise) zero() *big.Float               { return new(big.Float).SetPrec(p.bits) }
func (p precise) of(x float64) *big.Float        { return p.zero().SetFloat64(x) }
func (p precise) add(a, b *big.Float) *big.Float { return p.zero().Add(a, b) }
func (p precise) sub(a, b *big.Float) *big.Float { return p.zero().Sub(a, b) }
func (p precise) mul(a, b *big.Float) *big.Float { return p.zero().Mul(a, b) }
func (p precise) quo(a, b *big.Float) *big.Float { return p.zero().Quo(a, b) }

// small says whether a term adds nothing to a sum near 1.
func (p precise) small(x *big.Float) bool { return x.Sign() == 0 || x.MantExp(nil) < -int(p.bits) }

// exp is the series of x/2^k, squared k times.
func (p precise) exp(x *big.Float) *big.Float {
	halvings := max(0, x.MantExp(nil)) + 16
	y := p.zero().SetMantExp(x, -halvings)
	sum, term := p.of(1), p.of(1)
	for n := 1.0; !p.small(term); n++ {
		term = p.quo(p.mul(term, y), p.of(n))
		sum = p.add(sum, term)
	}
	for range halvings {
		sum = p.mul(sum, sum)
	}
	return sum
}

// log goes by Newton's method from what package math says.
func (p precise) log(x *big.Float) *big.Float {
	if x.Cmp(p.of(1)) == 0 {
		return p.zero()
	}
	m := p.zero()
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := p.of(math.Log(f))
	for bits := uint(40); bits < 3*p.bits; bits *= 3 {
		of := p.exp(y)
		y = p.add(y, p.mul(p.of(2), p.quo(p.sub(m, of), p.add(m, of))))
	}
	return p.add(y, p.mul(p.of(float64(e)), p.ln2()))
}

// ln2 is Σ 1/(k·2^k).
func (p precise) ln2() *big.Float {
	sum := p.zero()
	for k := 1; k < int(p.bits)+8; k++ {
		sum = p.add(sum, p.zero().SetMantExp(p.quo(p.of(1), p.of(float64(k))), -k))
	}
	return sum
}

// pi is Machin's 16·arctan 1/5 − 4·arctan 1/239.
func (p precise) pi() *big.Float {
	arctan := func(inverse float64) *big.Float {
		sum, power := p.zero(), p.quo(p.of(1), p.of(inverse))
		for k := 1.0; !p.small(power); k += 2 {
			term := p.quo(power, p.of(k))
			if int(k)%4 == 3 {
				term.Neg(term)
			}
			sum = p.add(sum, term)
			power = p.quo(power, p.of(inverse*inverse))
		}
		return sum
	}
	return p.sub(p.mul(p.of(16), arctan(5)), p.mul(p.of(4), arctan(239)))
}

// erf is 2/√π·Σ (−1)ⁿ·x²ⁿ⁺¹/(n!·(2n+1)), with bits for what cancels.
func (p precise) erf(x *big.Float) *big.Float {
	f, _ := x.Float64()
	q := precise{p.bits + uint(3*f*f)}
	square, power := q.mul(x, x), q.zero().Set(x)
	sum := q.zero().Set(x)
	for n := 1.0; !q.small(power) || n < f*f; n++ {
		power = q.quo(q.mul(power, square), q.of(-n))
		sum = q.add(sum, q.quo(power, q.of(2*n+1)))
	}
	return q.mul(sum, q.quo(q.of(2), q.zero().Sqrt(q.pi())))
}

// erfc is 1 − erf x.
func (p precise) erfc(x *big.Float) *big.Float {
	f, _ := x.Float64()
	q := precise{p.bits + uint(3*f*f)}
	return p.zero().Set(q.sub(q.of(1), q.erf(x)))
}

// logGamma is the log of a factorial shifted so far that Stirling's series is as good
// as the bits.
func (p precise) logGamma(x *big.Float) *big.Float {
	below := p.of(1)
	y := p.zero().Set(x)
	for y.Cmp(p.of(120)) < 0 {
		below = p.mul(below, y)
		y = p.add(y, p.of(1))
	}
	const terms = 40
	bernoulli := bernoulliNumbers()
	sum := p.mul(p.sub(y, p.of(0.5)), p.log(y))
	sum = p.add(p.sub(sum, y), p.quo(p.log(p.mul(p.of(2), p.pi())), p.of(2)))
	power := p.zero().Set(y)
	for k := int64(1); k <= terms; k++ {
		term := p.quo(p.zero().SetRat(bernoulli[2*k]), p.of(float64(2*k*(2*k-1))))
		sum = p.add(sum, p.quo(term, power))
		power = p.mul(power, p.mul(y, y))
	}
	return p.sub(sum, p.log(below))
}

// bernoulliNumbers returns B₀, ..., B₈₀ by their recurrence.
var bernoulliNumbers = sync.OnceValue(func() []*big.Rat {
	bernoulli := []*big.Rat{big.NewRat(1, 1)}
	for m := int64(1); m <= 80; m++ {
		sum := new(big.Rat)
		for k := range m {
			binomial := new(big.Rat).SetInt(new(big.Int).Binomial(m+1, k))
			sum.Add(sum, binomial.Mul(binomial, bernoulli[k]))
		}
		bernoulli = append(bernoulli, sum.Mul(sum, big.NewRat(-1, m+1)))
	}
	return bernoulli
})

// turn returns the cosine and the sine of 2π·k/n.
func (p precise) turn(k, n int) (cos, sin *big.Float) {
	x := p.quo(p.mul(p.of(2*float64(k)), p.pi()), p.of(float64(n)))
	cos, sin = p.of(1), p.zero().Set(x)
	c, s := p.of(1), p.zero().Set(x)
	for m := 1.0; m < 100; m++ {
		c = p.quo(p.mul(c, p.mul(x, x)), p.of(-(2*m-1)*(2*m)))
		s = p.quo(p.mul(s, p.mul(x, x)), p.of(-(2*m)*(2*m+1)))
		cos, sin = p.add(cos, c), p.add(sin, s)
	}
	return cos, sin
}

// ulps returns how far a result is from the truth in units of the last place of the
// truth rounded.
func ulps(got float64, truth *big.Float) float64 {
	want, _ := truth.Float64()
	if math.IsInf(want, 0) || want == 0 {
		if got == want {
			return 0
		}
		return math.Inf(1)
	}
	unit := math.Abs(math.Nextafter(want, 0) - want)
	if unit < math.Abs(math.Nextafter(want, math.Inf(1))-want)/1.5 {
		unit *= 2 // a power of two
	}
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return math.Inf(1)
	}
	d := reference.sub(reference.of(got), truth)
	off, _ := reference.quo(d, reference.of(unit)).Float64()
	return math.Abs(off)
}
