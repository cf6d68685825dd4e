package volume

import "kir/internal/portable"

// A Size is the estimate of |X_n|, the number of compositions of n ingredients that keep all rules, for one n.
// D_n is the number of compositions of n ingredients that keep the countable rules (see [Problem]).
type Size struct {
	N        int     // number n of used ingredients
	LogShare float64 // log(|X_n|/D_n), the log of the share of countable compositions that keep all rules; −Inf if no composition was found
	SE       float64 // standard error of LogShare
	Found    bool    // whether the measurement found compositions of this size that keep all rules
}

// A Result holds the measured sizes. The errors of the log shares of different sizes are correlated; see
// [Result.RatioSE] and [Result.LawStandardErrors].
type Result struct {
	Sizes []Size
	Moves int64 // number of moves made

	jackknifeLogShares [][]float64 // jackknifeLogShares[k][g] is the log share of size k computed without population g, for the jackknife; nil for a size that was not found
	rules              *rules
	compositionPools   []compositionPool // item k holds compositions of size k that keep all rules
}

// RatioSE returns the standard error of log(|X_m|/|X_n|), where m and n are the sizes at indices a and b, and
// |X_n| is the number of compositions of n ingredients that keep all rules. The standard error is computed by the
// jackknife over the independent populations of compositions.
func (r *Result) RatioSE(a, b int) float64 {
	return jackknifeDifference(r.jackknifeLogShares[a], r.jackknifeLogShares[b])
}

// LawStandardErrors returns the standard errors of the probabilities of a distribution of the number n of
// ingredients, computed with the measured |X_n|. Item k of p is the probability of Sizes[k], and item k of errors
// its standard error. The parameter exact is the total probability of all other sizes, whose |X_n| are known
// exactly, and rest is the standard error of exact.
//
// If log |X_n| is off by ε_n, chains sample p_n·e^{−ε_n}/Σ_m p_m·e^{−ε_m} instead of p_n. The standard error is
// the jackknife of this expression over the populations. So the standard error respects correlations: an error that
// all sizes share changes nothing. The errors of measured sizes are at least the errors that [minRelativeError]
// implies.
func (r *Result) LawStandardErrors(p []float64, exact float64) (errors []float64, rest float64) {
	laws := make([][]float64, len(p)+1) // by size, then the rest: probability without each of the populations
	for k := range laws {
		laws[k] = make([]float64, populationCount)
	}
	for g := range populationCount {
		sum := exact
		for k, s := range r.Sizes {
			laws[k][g] = p[k]
			if s.Found {
				laws[k][g] = float64(laws[k][g] * portable.Exp(s.LogShare-r.jackknifeLogShares[k][g]))
			}
			sum += laws[k][g]
		}
		laws[len(p)][g] = exact
		for k := range laws {
			if sum > 0 {
				laws[k][g] /= sum
			}
		}
	}
	for k, law := range laws {
		se := jackknifeSE(law)
		if k < len(p) && r.Sizes[k].Found {
			se = max(se, float64(minRelativeError*p[k]*(1-p[k])))
		}
		errors = append(errors, se)
	}
	return errors[:len(p)], errors[len(p)]
}
