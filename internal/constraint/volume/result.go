package volume

import "kir/internal/portable"

// A Size is the estimate of |X_n| for one n. D_n is the number of countable compositions.
type Size struct {
	N        int
	LogShare float64 // log(|X_n|/D_n); −Inf if no composition was found
	SE       float64 // standard error of LogShare
	Found    bool    // whether compositions of this size that keep all rules are known
}

// A Result holds the measured sizes. The errors of their log shares are correlated; see
// [Result.RatioSE] and [Result.LawErrors].
type Result struct {
	Sizes []Size
	Moves int64 // number of moves made

	replicates [][]float64 // replicates[k]: log share of size k without each one of the groups, for the jackknife; nil if not found
	rules      *rules
	pools      []pool // for each size: compositions that keep all rules
}

// RatioSE returns the jackknife standard error, over the independent groups, of log(|X_m|/|X_n|) for the sizes at
// indices a and b.
func (r *Result) RatioSE(a, b int) float64 {
	return jackknife(r.replicates[a], r.replicates[b])
}

// LawErrors returns the standard errors of a law of n that uses the measured |X_n|. p is the law by
// index of Sizes. exact is the total probability of all other sizes, and rest its error.
//
// If log |X_n| is off by ε_n, chains sample p_n·e^{−ε_n}/Σ_m p_m·e^{−ε_m}. The error is the
// jackknife of this over the groups. So it respects correlations: an error that all sizes share
// changes nothing. As with counts, the errors of measured sizes are at least those that
// [minRelativeError] implies.
func (r *Result) LawErrors(p []float64, exact float64) (errors []float64, rest float64) {
	laws := make([][]float64, len(p)+1) // law without each one of the groups: by size, then the rest
	for k := range laws {
		laws[k] = make([]float64, groups)
	}
	for g := range groups {
		sum := exact
		for k, s := range r.Sizes {
			laws[k][g] = p[k]
			if s.Found {
				laws[k][g] = float64(laws[k][g] * portable.Exp(s.LogShare-r.replicates[k][g]))
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
		se := spread(law)
		if k < len(p) && r.Sizes[k].Found {
			se = max(se, float64(minRelativeError*p[k]*(1-p[k])))
		}
		errors = append(errors, se)
	}
	return errors[:len(p)], errors[len(p)]
}
