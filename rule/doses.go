package rule

import "kir/internal/count"

// doses are the amounts that an ingredient may take when it is used: lo, lo+step,
// ..., n of them.
type doses struct{ lo, step, n int }

func (d doses) hi() int { return d.lo + (d.n-1)*d.step }

// allow says whether an amount is one of them.
func (d doses) allow(amount int) bool {
	from := amount - d.lo
	return from >= 0 && amount <= d.hi() && (d.step == 1 || d.n > 0 && from%d.step == 0)
}

func dosesOf(a count.Ingredient, total int) doses {
	lo, step, n := a.Doses(total)
	return doses{lo, step, n}
}

// common returns the amounts that two have in common. They too are a first
// amount and steps from there, by the Chinese remainder theorem.
func common(a, b doses) doses {
	if a.n == 0 || b.n == 0 {
		return doses{}
	}
	g := gcd(a.step, b.step)
	if (b.lo-a.lo)%g != 0 {
		return doses{}
	}
	// a.lo + a.step·t is of b for t ≡ (b.lo − a.lo)/g · (a.step/g)⁻¹ modulo b.step/g.
	// Steps are below 2^31, so that products fit in 64 bits.
	m := b.step / g
	t := (b.lo - a.lo) / g % m * inverse(a.step/g, m) % m
	if t < 0 {
		t += m
	}
	lo, step := a.lo+a.step*t, a.step*m
	if first := max(a.lo, b.lo); lo < first {
		lo += (first - lo + step - 1) / step * step
	}
	hi := min(a.hi(), b.hi())
	if lo > hi {
		return doses{}
	}
	d := doses{lo: lo, step: step, n: (hi-lo)/step + 1}
	if d.n == 1 {
		d.step = 1
	}
	return d
}

// inverse returns x with a·x ≡ 1 modulo m, 0 ≤ x < m, for a and m without a
// common divisor.
func inverse(a, m int) int {
	x, y := 1, 0 // a·x ≡ r, a·y ≡ s
	r, s := a%m, m
	if m == 1 {
		return 0
	}
	for s != 0 {
		q := r / s
		r, s = s, r-q*s
		x, y = y, x-q*y
	}
	return (x%m + m) % m
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
