package randomproblem

import "math/rand/v2"

// dice are the random choices of which a problem is made.
type dice struct{ *rand.Rand }

func newDice(seed uint64, purpose uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, purpose))}
}

// chance is true with probability p.
func (d dice) chance(p float64) bool { return d.Float64() < p }

// between returns a whole number from lo to hi.
func (d dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// one returns one of several values.
func one[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// some returns k different numbers below n, in rising order.
func (d dice) some(k, n int) []int {
	var of []int
	for i := range n {
		if d.IntN(n-i) < k-len(of) {
			of = append(of, i)
		}
	}
	return of
}
