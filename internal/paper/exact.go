package paper

import (
	"errors"
	"fmt"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Rates are the long-run rates of a Markov chain kernel, as fractions. Accepted is the fraction of iterations in
// which the candidate is accepted, and Updated is the fraction of iterations in which the composition changes.
type Rates struct {
	Accepted float64
	Updated  float64
}

// ErrNoClosedForm is returned if no closed form of the rates is known, or if computing the closed form would
// take too long.
var ErrNoClosedForm = errors.New("there is no closed form within reach")

// Exact returns the exact rates of the kernel with the given name, in equilibrium on the target t. The target
// must have no properties.
//
// Without properties all compositions with the same number n of ingredients are equally probable. So an amount
// x_i of a used ingredient has the distribution
//
//	P(x_i = s) = C(M−s−1, n−2) / C(M−1, n−1),
//
// and the sum of the amounts of two used ingredients has the distribution P(x_i+x_j = s) = (s−1)·C(M−s−1,
// n−3)/C(M−1, n−1). A line of sum s is the set of all divisions of s units between two ingredients. At the two
// ends of a line, one of the two ingredients is not used. Let n be the number of ingredients that the composition
// uses at an end. Then each end has the weight y(n)/|X_n|, and each of the s−1 divisions between the ends has the
// weight y(n+1)/|X_{n+1}|, where y(n) is the target probability of n ingredients and |X_n| the number of
// compositions of n ingredients. Summing over s and n gives the rates of gibbs and accelerated in O(M²) steps,
// and all terms are positive. For naive see [naiveRates].
func Exact(kernel string, t *mcmc.Target) (Rates, error) {
	if err := checkNoProperties(t); err != nil {
		return Rates{}, err
	}
	switch kernel {
	case KernelNaive:
		return naiveRates(t), nil
	case KernelGibbs:
		return gibbsRates(t), nil
	case KernelAccelerated:
		return acceleratedRates(t), nil
	}
	return Rates{}, fmt.Errorf("%w for the kernel %q", ErrNoClosedForm, kernel)
}

// checkNoProperties returns an error if the target has properties.
func checkNoProperties(t *mcmc.Target) error {
	for _, w := range t.Objectives() {
		if w.Weight > 0 {
			return fmt.Errorf("%w: the target has the property %q", ErrNoClosedForm, w.Name)
		}
	}
	return nil
}

// VisitSizes calls visit with each number n of ingredients that has a positive probability p.
func VisitSizes(t *mcmc.Target, visit func(n int, p float64)) {
	lo, hi := t.Law().Support()
	for n := lo; n <= hi; n++ {
		if p := t.Law().P(n); p > 0 {
			visit(n, p)
		}
	}
}

// VisitAmounts calls visit with each amount s that a used ingredient can have, and with the probability p of the
// amount, given that n ingredients are used.
func VisitAmounts(total, n int, visit func(s int, p float64)) {
	if n == 1 {
		visit(total, 1)
		return
	}
	p := float64(n-1) / float64(total-1)
	for s := 1; s <= total-n+1; s++ {
		visit(s, p)
		p = float64(p * (float64(total-s-n+1) / float64(total-s-1)))
	}
}

// VisitPairSums calls visit with each sum s that the amounts of two used ingredients can have, and with the
// probability p of the sum, given that n ≥ 2 ingredients are used.
func VisitPairSums(total, n int, visit func(s int, p float64)) {
	if n == 2 {
		visit(total, 1)
		return
	}
	q := float64(float64(n-1) / float64(total-1) * (float64(n-2) / float64(total-2)))
	for s := 2; s <= total-n+2; s++ {
		visit(s, float64(float64(s-1)*q))
		q = float64(q * (float64(total-s-n+2) / float64(total-s-1)))
	}
}

// LineShare returns two probabilities of a draw in which two ingredients divide s units anew. All divisions form
// a line with two ends; at an end one of the two ingredients takes all units. The result end is the probability
// of one given end. The result inner is the probability of one given division between the ends. At the ends the
// composition uses n ingredients, and between the ends n+1.
func LineShare(t *mcmc.Target, n, s int) (end, inner float64) {
	end, inner = t.Law().P(n), 0
	if s > 1 && n < t.Space().MaxUsed() {
		inner = t.Law().P(n+1) / t.Space().Ratio(n)
	}
	// Both are divided by the larger, so that nothing overflows or underflows to 0.
	top := max(end, inner)
	end, inner = end/top, inner/top
	sum := float64(2*end) + float64(float64(s-1)*inner)
	return end / sum, inner / sum
}

// absentLineProbabilities returns the probabilities of a draw in which a used and an absent ingredient divide the
// units of the used ingredient anew, given n used ingredients. The result handover is the probability that all
// units go to the absent ingredient. The result split is the probability that both ingredients get units.
func absentLineProbabilities(t *mcmc.Target, n int) (handover, split float64) {
	VisitAmounts(t.Space().Total(), n, func(s int, p float64) {
		end, inner := LineShare(t, n, s)
		handover += float64(p * end)
		split += float64(p * float64(s-1) * inner)
	})
	return handover, split
}

// usedLineProbabilities returns the probabilities of a draw in which two used ingredients divide their units
// anew, given n ≥ 2 used ingredients. The result merge is the probability that one ingredient takes all units.
// The result divide is the probability that both ingredients remain, with other amounts.
func usedLineProbabilities(t *mcmc.Target, n int) (merge, divide float64) {
	VisitPairSums(t.Space().Total(), n, func(s int, p float64) {
		end, inner := LineShare(t, n-1, s)
		merge += float64(p * 2 * end)
		divide += float64(p * float64(s-2) * inner)
	})
	return merge, divide
}

// acceleratedStep returns the probabilities of one iteration of Algorithm 2, given n used ingredients. The
// results absent and used are the probabilities that the second ingredient of the drawn pair is absent or used.
// For handover and split see absentLineProbabilities, and for merge and divide see usedLineProbabilities. The
// result accept is the probability that a merge is accepted.
func acceleratedStep(t *mcmc.Target, n int) (absent, used, handover, split, merge, divide, accept float64) {
	others := float64(t.Space().N() - 1)
	absent, used = float64(t.Space().N()-n)/others, float64(n-1)/others
	accept = 1
	if absent > 0 {
		handover, split = absentLineProbabilities(t, n)
	}
	if n >= 2 {
		merge, divide = usedLineProbabilities(t, n)
		accept = min(1, float64(n)/float64(2*(n-1)))
	}
	return absent, used, handover, split, merge, divide, accept
}

// acceleratedRates returns the rates of Algorithm 2, the accelerated sampler.
func acceleratedRates(t *mcmc.Target) (r Rates) {
	if t.Space().N() == 1 {
		return Rates{Accepted: 1}
	}
	VisitSizes(t, func(n int, p float64) {
		absent, used, handover, split, merge, divide, accept := acceleratedStep(t, n)
		r.Accepted += float64(p * (absent + float64(used*(1-float64(merge*(1-accept))))))
		r.Updated += float64(p * (float64(absent*(handover+split)) + float64(used*(float64(merge*accept)+divide))))
	})
	return r
}

// GibbsMoves are the fractions of iterations of the Gibbs sampler with different outcomes for the drawn pair of
// ingredients. Absent: both ingredients are absent. Handover: a used ingredient gives all units to an absent
// ingredient. Split: a used ingredient gives some units to an absent ingredient. Merge: one of two used
// ingredients takes all units. Divide: two used ingredients divide their sum in another way.
type GibbsMoves struct{ Absent, Handover, Split, Merge, Divide float64 }

// Gibbs returns the [GibbsMoves] of a target without properties, in equilibrium.
func Gibbs(t *mcmc.Target) (g GibbsMoves) {
	all := float64(t.Space().N())
	if all == 1 {
		return g
	}
	VisitSizes(t, func(n int, p float64) {
		f := float64(n)
		if rest := all - f; rest > 0 {
			one := p * 2 * f * rest / (all * (all - 1))
			handover, split := absentLineProbabilities(t, n)
			g.Handover += float64(one * handover)
			g.Split += float64(one * split)
			g.Absent += p * rest * (rest - 1) / (all * (all - 1))
		}
		if n >= 2 {
			both := p * f * (f - 1) / (all * (all - 1))
			merge, divide := usedLineProbabilities(t, n)
			g.Merge += float64(both * merge)
			g.Divide += float64(both * divide)
		}
	})
	return g
}

// Updated returns the fraction of iterations in which the composition changes.
func (g GibbsMoves) Updated() float64 { return g.Handover + g.Split + g.Merge + g.Divide }

// gibbsRates returns the rates of the Gibbs sampler, which accepts every draw.
func gibbsRates(t *mcmc.Target) Rates { return Rates{1, Gibbs(t).Updated()} }

// naiveRates returns the rates of the naive sampler. From a composition of n ingredients, the sampler draws a
// candidate of m ingredients with probability u(m) = |X_m|/|X|, the fraction of all compositions that have m
// ingredients. With the target probabilities y(n) of n ingredients,
//
//	accepted = Σ_n Σ_m min(y(n)·u(m), y(m)·u(n)).
//
// The candidate equals the state with probability 1/|X|.
func naiveRates(t *mcmc.Target) Rates {
	logs := t.Space().LogCounts(t.Space().MaxUsed())
	all := logSumExp(logs)
	accepted := 0.0
	VisitSizes(t, func(n int, p float64) {
		un := portable.Exp(logs[n] - all)
		VisitSizes(t, func(m int, q float64) {
			um := portable.Exp(logs[m] - all)
			accepted += min(p*um, q*un)
		})
	})
	return Rates{accepted, max(0, accepted-portable.Exp(-all))}
}

// logSumExp returns log Σ exp x over the numbers x in v.
func logSumExp(v []float64) float64 {
	top, sum := slices.Max(v), 0.0
	for _, x := range v {
		sum += portable.Exp(x - top)
	}
	return top + portable.Log(sum)
}
