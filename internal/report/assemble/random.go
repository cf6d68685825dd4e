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

// maxNearlyRandomShare is the largest share of draws that differ from random compositions at which
// the draws still count as nearly random.
const maxNearlyRandomShare = 0.1

// nearlyRandomText returns a warning and a remedy if the draws are nearly random. It returns ""
// otherwise, or if the errors are too large to decide.
//
// With S the weighted score and p the law without the score, draws follow q = p·S/E_p[S]. So
// E_q[S]/E_p[S] − 1 is χ²(q, p). The total variation distance between the two laws is the share of
// draws that must differ from random compositions. It is at most ½·√χ² (Cauchy and Schwarz). Both
// means are estimates, so χ² is raised by two standard errors.
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
	text := fmt.Sprintf("The draws are nearly random: they score %s, random recipes %s, and at most %s of them differ from random ones. ",
		distinctScoreText(draws, random), distinctScoreText(random, draws), number.Fixed(math.Ceil(100*differ), 0)+" %")
	times, score := suggestWeightFactor(r.Baseline.LogScores)
	if times == 0 {
		return text + "The score hardly tells recipes apart: ask for more, such as maximize: true or a higher bound."
	}
	return text + fmt.Sprintf("To draw better ones, raise the weights %s times%s: they would score about %s. The shortlist does not depend on the weights.", number.Thousands(times), raisedWeightText(p, times), distinctScoreText(score, draws))
}

// raisedWeightText writes the weight of the properties after multiplication by times, if all
// weights are equal; otherwise it returns "".
func raisedWeightText(p *compile.Problem, times int) string {
	weight := 0.0
	for _, w := range p.Properties {
		if w.Weight > 0 && weight > 0 && w.Weight != weight {
			return ""
		}
		weight = max(weight, w.Weight)
	}
	return fmt.Sprintf(" (weight: %v)", float64(times)*weight)
}

// suggestWeightFactor returns the factor by which to raise the weights so that draws differ from
// random compositions, with χ² of 1 or more. It also returns the mean score of draws with the
// raised weights. It estimates both by weighting the random compositions. It returns 0 and NaN if
// no factor works, or if too few compositions carry the weight.
func suggestWeightFactor(logScores []float64) (times int, score float64) {
	const most, fewest = 100_000, 30
	top := math.Inf(-1)
	for _, s := range logScores {
		top = max(top, s)
	}
	for times = 3; times <= most; times = nextWeightFactor(times) {
		var sum, squares, scores float64
		for _, s := range logScores {
			weight := portable.Exp(float64(float64(times) * (s - top)))
			sum += weight
			squares += float64(weight * weight)
			scores += float64(weight * portable.Exp(s))
		}
		counted := float64(sum*sum) / squares
		if counted < fewest {
			break
		}
		if float64(len(logScores)) >= 2*counted {
			return times, scores / sum
		}
	}
	return 0, math.NaN()
}

// nextWeightFactor returns the factor after times in the sequence 3, 10, 30, 100, ...
func nextWeightFactor(times int) int {
	if times%3 == 0 {
		return times / 3 * 10
	}
	return 3 * times
}

// distinctScoreText writes the score v with as many decimals as it takes to distinguish v from the
// other score.
func distinctScoreText(v, other float64) string {
	for digits := 3; digits < 9; digits++ {
		if text := number.Fixed(v, digits); text != number.Fixed(other, digits) {
			return text
		}
	}
	return number.ThreeFigures(v)
}

// appendNearlyRandom appends a warning to the verdict if the draws are nearly random, unless the
// draws are known to be unsound.
func appendNearlyRandom(p *compile.Problem, text string, grade report.Grade, r *run.Result) string {
	if also := nearlyRandomText(p, r); also != "" && grade != report.Unsound {
		return text + " " + also
	}
	return text
}
