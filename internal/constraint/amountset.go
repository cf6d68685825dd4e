package constraint

import (
	"kir/internal/constraint/count"
	"kir/internal/portable"
)

// An AmountSet is an arithmetic sequence: the N amounts Lo, Lo+Step, Lo+2·Step, and so on, in units, that an
// ingredient may have when the ingredient is used.
type AmountSet struct{ Lo, Step, Count int }

// Hi returns the greatest amount of the set.
func (d AmountSet) Hi() int { return d.Lo + (d.Count-1)*d.Step }

// contains reports whether amount is in the set.
func (d AmountSet) contains(amount int) bool {
	from := amount - d.Lo
	return from >= 0 && amount <= d.Hi() && (d.Step == 1 || d.Count > 0 && from%d.Step == 0)
}

// AmountSetOf returns the amounts that the ingredient a of a [count.Space] may have when the ingredient is used.
// The parameter total is the number of units of a composition.
func AmountSetOf(a count.Ingredient, total int) AmountSet {
	lo, step, n := a.AllowedAmounts(total)
	return AmountSet{lo, step, n}
}

// intersectAmountSets returns the amounts that a and b have in common. By the Chinese remainder theorem the
// common amounts also form an arithmetic sequence, so an AmountSet can hold them.
func intersectAmountSets(a, b AmountSet) AmountSet {
	if a.Count == 0 || b.Count == 0 {
		return AmountSet{}
	}
	g := portable.GCD(a.Step, b.Step)
	if (b.Lo-a.Lo)%g != 0 {
		return AmountSet{}
	}
	// With g the greatest common divisor of the steps, a.Lo + a.Step·t is in b for t ≡ (b.Lo − a.Lo)/g ·
	// (a.Step/g)⁻¹ modulo b.Step/g. Steps are below 2³¹, so products fit in 64 bits.
	m := b.Step / g
	t := (b.Lo - a.Lo) / g % m * modularInverse(a.Step/g, m) % m
	if t < 0 {
		t += m
	}
	lo, step := a.Lo+a.Step*t, a.Step*m
	if first := max(a.Lo, b.Lo); lo < first {
		lo += (first - lo + step - 1) / step * step
	}
	hi := min(a.Hi(), b.Hi())
	if lo > hi {
		return AmountSet{}
	}
	d := AmountSet{Lo: lo, Step: step, Count: (hi-lo)/step + 1}
	if d.Count == 1 {
		d.Step = 1
	}
	return d
}

// modularInverse returns x with a·x ≡ 1 modulo m and 0 ≤ x < m. The numbers a and m must be coprime.
func modularInverse(a, m int) int {
	x, y := 1, 0 // Euclid's algorithm keeps a·x ≡ r and a·y ≡ s modulo m.
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
