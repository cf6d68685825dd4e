package paper

import "kir/mcmc"

// IACTBound returns a lower bound on the integrated autocorrelation time τ of the number n of ingredients. The
// time is in iterations of the accelerated kernel on a target without properties. τ is the number of iterations
// that are worth one independent value of n. The bound is close; see below.
//
// n alone is not a Markov chain: the probability that an ingredient can be split depends on the amount of the
// ingredient, and the amount remembers more of the past than n. But for a reversible chain with transition
// matrix P and stationary distribution π, and for a function f of mean 0,
//
//	⟨f, f⟩·(τ + 1)/2 = sup_g 2⟨f, g⟩ − ⟨g, (1−P)g⟩
//
// (all inner products in π). Taking the supremum over functions g of n alone can only make the supremum smaller.
// What is left is the chain on n with the mean rates of up and down steps, whose τ has a closed form. n changes
// by at most 1, so with the flux b(n) = y(n)·P(n → n+1) = y(n+1)·P(n+1 → n) and F(n) = Σ_{k≤n} y(k)(E n − k)
//
//	τ ≥ 2/Var n · Σ_n F(n)²/b(n) − 1.
//
// On small spaces, for which the whole transition matrix is known, the bound is less than 2 % below the true
// value. The bound is +Inf if n cannot change, and NaN if n has a single value.
func IACTBound(t *mcmc.Target) (float64, error) {
	if err := checkNoProperties(t); err != nil {
		return 0, err
	}
	lo, hi := t.Law().Support()
	mean, variance := t.Law().Mean(), 0.0
	VisitSizes(t, func(n int, p float64) {
		variance += float64(p * (float64(n) - mean) * (float64(n) - mean))
	})
	// F is summed from the nearer end, which keeps the relative rounding error of F small.
	flow := make([]float64, hi+1)
	for n, sum := lo, 0.0; float64(n) < mean; n++ {
		sum += float64(t.Law().P(n) * (mean - float64(n)))
		flow[n] = sum
	}
	for n, sum := hi, 0.0; float64(n) > mean; n-- {
		sum += float64(t.Law().P(n) * (float64(n) - mean))
		if float64(n-1) >= mean {
			flow[n-1] = sum
		}
	}
	total := 0.0
	for n := lo; n < hi; n++ {
		if flow[n] == 0 {
			continue
		}
		absent, _, _, split, _, _, _ := acceleratedStep(t, n)
		total += flow[n] / t.Law().P(n) * flow[n] / (absent * split)
	}
	return 2*total/variance - 1, nil
}
