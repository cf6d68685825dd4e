package paper

import (
	"errors"
	"fmt"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Rates are what a kernel does in the long run: the share of its iterations in
// which the candidate is accepted, and in which the composition changes. Both
// are within 0..1.
type Rates struct {
	Accepted float64
	Updated  float64
}

// ErrNoClosedForm is returned where no closed form is known, or where the one that is
// known would take too long.
var ErrNoClosedForm = errors.New("there is no closed form within reach")

// Exact returns the exact rates of a kernel whose states follow the target, which must
// have no properties.
//
// Without properties all compositions with the same number n of ingredients
// are equally probable, so that an amount x_i of a used ingredient has the law
//
//	P(x_i = s) = C(M−s−1, n−2) / C(M−1, n−1)
//
// and the sum of two used ones P(x_i+x_j = s) = (s−1)·C(M−s−1, n−3)/C(M−1, n−1).
// Along a line of sum s the two ends weigh y(n)/|X_n| each and the s−1 splits
// between them y(n+1)/|X_{n+1}| each, where n is how many ingredients the ends
// use. Summing over s and n gives the rates of gibbs and accelerated in O(M²)
// steps, all of whose terms are positive. For naive see [naiveRates].
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

// checkNoProperties fails for a target that has properties.
func checkNoProperties(t *mcmc.Target) error {
	for _, w := range t.Objectives() {
		if w.Weight > 0 {
			return fmt.Errorf("%w: the target has the property %q", ErrNoClosedForm, w.Name)
		}
	}
	return nil
}

// Sizes hands every n with mass to visit, and its probability.
func Sizes(t *mcmc.Target, visit func(n int, p float64)) {
	lo, hi := t.Law().Support()
	for n := lo; n <= hi; n++ {
		if p := t.Law().P(n); p > 0 {
			visit(n, p)
		}
	}
}

// OneAmount hands the law of a used ingredient's amount, given n, to visit.
func OneAmount(total, n int, visit func(s int, p float64)) {
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

// PairSum hands the law of the sum of two used ingredients' amounts, given
// n ≥ 2, to visit.
func PairSum(total, n int, visit func(s int, p float64)) {
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

// LineShare returns the probabilities that a draw along a line of sum s falls
// on one given end, and on one given split between the ends, when the ends use
// n ingredients.
func LineShare(t *mcmc.Target, n, s int) (end, inner float64) {
	end, inner = t.Law().P(n), 0
	if s > 1 && n < t.Space().MaxUsed() {
		inner = t.Law().P(n+1) / t.Space().Ratio(n)
	}
	// The larger is made 1, so that nothing overflows or is lost.
	top := max(end, inner)
	end, inner = end/top, inner/top
	sum := float64(2*end) + float64(float64(s-1)*inner)
	return end / sum, inner / sum
}

// absentLine returns what a draw does along a line of one used and one absent
// ingredient, given n: hand everything over to the other, or split it.
func absentLine(t *mcmc.Target, n int) (handover, split float64) {
	OneAmount(t.Space().Total(), n, func(s int, p float64) {
		end, inner := LineShare(t, n, s)
		handover += float64(p * end)
		split += float64(p * float64(s-1) * inner)
	})
	return handover, split
}

// usedLine returns what a draw does along a line of two used ingredients,
// given n ≥ 2: merge them, or divide their sum in another way.
func usedLine(t *mcmc.Target, n int) (merge, divide float64) {
	PairSum(t.Space().Total(), n, func(s int, p float64) {
		end, inner := LineShare(t, n-1, s)
		merge += float64(p * 2 * end)
		divide += float64(p * float64(s-2) * inner)
	})
	return merge, divide
}

// acceleratedStep returns what one iteration of Algorithm 2 does, given n:
// how likely it is that i is used and j absent or that both are used, what the
// draw along the line does then, and the probability that a merge is accepted.
func acceleratedStep(t *mcmc.Target, n int) (absent, used, handover, split, merge, divide, accept float64) {
	others := float64(t.Space().N() - 1)
	absent, used = float64(t.Space().N()-n)/others, float64(n-1)/others
	accept = 1
	if absent > 0 {
		handover, split = absentLine(t, n)
	}
	if n >= 2 {
		merge, divide = usedLine(t, n)
		accept = min(1, float64(n)/float64(2*(n-1)))
	}
	return absent, used, handover, split, merge, divide, accept
}

// acceleratedRates are those of Algorithm 2.
func acceleratedRates(t *mcmc.Target) (r Rates) {
	if t.Space().N() == 1 {
		return Rates{Accepted: 1}
	}
	Sizes(t, func(n int, p float64) {
		absent, used, handover, split, merge, divide, accept := acceleratedStep(t, n)
		r.Accepted += float64(p * (absent + float64(used*(1-float64(merge*(1-accept))))))
		r.Updated += float64(p * (float64(absent*(handover+split)) + float64(used*(float64(merge*accept)+divide))))
	})
	return r
}

// GibbsMoves are the shares of iterations in which the Gibbs sampler meets two
// absent ingredients, hands all of one ingredient over to an absent one,
// splits an ingredient, merges two, and divides the sum of two in another way.
type GibbsMoves struct{ Absent, Handover, Split, Merge, Divide float64 }

// Gibbs returns them of a target without properties, in equilibrium.
func Gibbs(t *mcmc.Target) (g GibbsMoves) {
	all := float64(t.Space().N())
	if all == 1 {
		return g
	}
	Sizes(t, func(n int, p float64) {
		f := float64(n)
		if rest := all - f; rest > 0 {
			one := p * 2 * f * rest / (all * (all - 1))
			handover, split := absentLine(t, n)
			g.Handover += float64(one * handover)
			g.Split += float64(one * split)
			g.Absent += p * rest * (rest - 1) / (all * (all - 1))
		}
		if n >= 2 {
			both := p * f * (f - 1) / (all * (all - 1))
			merge, divide := usedLine(t, n)
			g.Merge += float64(both * merge)
			g.Divide += float64(both * divide)
		}
	})
	return g
}

func (g GibbsMoves) Updated() float64 { return g.Handover + g.Split + g.Merge + g.Divide }

// gibbsRates are those of the Gibbs sampler, which accepts every draw.
func gibbsRates(t *mcmc.Target) Rates { return Rates{1, Gibbs(t).Updated()} }

// naiveRates are those of the naive sampler. A candidate uses m ingredients
// with probability u(m) = |X_m|/|X|, and whether it is accepted depends on n
// and m alone:
//
//	accepted = Σ_n Σ_m min(y(n)·u(m), y(m)·u(n)).
//
// It equals the state with probability 1/|X|.
func naiveRates(t *mcmc.Target) Rates {
	logs := t.Space().LogCounts(t.Space().MaxUsed())
	all := logSum(logs)
	accepted := 0.0
	Sizes(t, func(n int, p float64) {
		un := portable.Exp(logs[n] - all)
		Sizes(t, func(m int, q float64) {
			um := portable.Exp(logs[m] - all)
			accepted += min(p*um, q*un)
		})
	})
	return Rates{accepted, max(0, accepted-portable.Exp(-all))}
}

// logSum returns log Σ exp v.
func logSum(v []float64) float64 {
	top, sum := slices.Max(v), 0.0
	for _, x := range v {
		sum += portable.Exp(x - top)
	}
	return top + portable.Log(sum)
}
