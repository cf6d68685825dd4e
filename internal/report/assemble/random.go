package assemble

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

// maxNearlyRandomShare is a share of the draws. If at most this share must differ from random
// compositions, the draws count as nearly random.
const maxNearlyRandomShare = 0.1

// nearlyRandomText returns a warning and a remedy if the draws are nearly random compositions. It
// returns "" otherwise, or if the errors are too large to decide.
//
// Let S be the weighted score and p the distribution without the score. Draws follow q =
// p·S/E_p[S]. So E_q[S]/E_p[S] − 1 is χ²(q, p). The total variation distance between p and q is the
// share of draws that must differ from random compositions. It is at most ½·√χ² (Cauchy and
// Schwarz). Both means are estimates, so χ² is raised by two standard errors.
func nearlyRandomText(p *compile.Problem, r *run.Result) string {
	if r.Score == nil || r.Baseline == nil {
		return ""
	}
	draws, random := float64(r.Score.Mean), float64(r.Baseline.Random)
	own := float64(r.Score.SEMean)
	if r.Score.SD == 0 {
		own = 0 // which has no effective sample size
	}
	other := float64(r.Baseline.RandomSE)
	if scores := r.Baseline.LogScores; len(scores) > 0 && diagnose.IsConstant(portable.Exp(slices.Min(scores)), portable.Exp(slices.Max(scores))) {
		other = 0
	}
	ratio := draws / random
	se := float64(ratio * portable.Hypot(own/draws, other/random))
	differ := float64(math.Sqrt(max(ratio-1+float64(2*se), 0)) / 2)
	if !(differ <= maxNearlyRandomShare) { // unknown errors are NaN
		return ""
	}
	text := fmt.Sprintf("The draws are hardly better than random recipes: they score %s, random recipes %s, and at most %s of them differ. ",
		distinctScoreText(draws, random), distinctScoreText(random, draws), number.Fixed(math.Ceil(100*differ), 0)+" %")
	times, score := suggestWeightFactor(r.Baseline.LogScores)
	if times == 0 {
		return text + "The score hardly tells recipes apart: ask for more, such as maximize: true or a higher bound."
	}
	return text + fmt.Sprintf("To draw better ones, raise the weights %s times%s: they would score about %s. The suggestions do not depend on weights.", number.Thousands(times), raisedWeightText(p, times), distinctScoreText(score, draws))
}

// raisedWeightText returns, in brackets, the weight of each property after multiplication by
// factor. It returns "" if the weights of properties differ.
func raisedWeightText(p *compile.Problem, factor int) string {
	weight := 0.0
	for _, w := range p.Properties {
		if w.Weight > 0 && weight > 0 && w.Weight != weight {
			return ""
		}
		weight = max(weight, w.Weight)
	}
	return fmt.Sprintf(" (weight: %v)", float64(factor)*weight)
}

// suggestWeightFactor returns a factor for the weights of all properties, such that draws differ
// clearly from random compositions (χ² of 1 or more, see [nearlyRandomText]). It also returns the
// mean score of draws with these weights. Both are estimated from the log scores of random
// compositions, by importance weights. It returns 0 and NaN if no factor is enough, or if nearly
// all weight is on a few compositions.
func suggestWeightFactor(logScores []float64) (factor int, score float64) {
	const most, fewest = 100_000, 30
	top := math.Inf(-1)
	for _, s := range logScores {
		top = max(top, s)
	}
	for factor = 3; factor <= most; factor = nextWeightFactor(factor) {
		var sum, squares, scores float64
		for _, s := range logScores {
			weight := portable.Exp(float64(float64(factor) * (s - top)))
			sum += weight
			squares += float64(weight * weight)
			scores += float64(weight * portable.Exp(s))
		}
		counted := float64(sum*sum) / squares
		if counted < fewest {
			break
		}
		if float64(len(logScores)) >= 2*counted {
			return factor, scores / sum
		}
	}
	return 0, math.NaN()
}

// nextWeightFactor returns the number after factor in the sequence 3, 10, 30, 100, ...
func nextWeightFactor(factor int) int {
	if factor%3 == 0 {
		return factor / 3 * 10
	}
	return 3 * factor
}

// distinctScoreText writes the score v with as many decimals as are needed to distinguish it from
// the score other.
func distinctScoreText(v, other float64) string {
	for digits := 3; digits < 9; digits++ {
		if text := number.Fixed(v, digits); text != number.Fixed(other, digits) {
			return text
		}
	}
	return number.ThreeFigures(v)
}

// appendNearlyRandom appends the warning of [nearlyRandomText] to the verdict in text. It does not
// do so if the grade of the draws is Unsound.
func appendNearlyRandom(p *compile.Problem, text string, grade report.Grade, r *run.Result) string {
	if also := nearlyRandomText(p, r); also != "" && grade != report.Unsound {
		return text + " " + also
	}
	return text
}
