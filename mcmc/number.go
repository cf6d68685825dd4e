package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// negInf is −Inf, the log score of a forbidden composition.
var negInf = math.Inf(-1)

// ruleLogScore returns the log score of a rule: 0 if the rule is kept, and −Inf otherwise.
func ruleLogScore(kept bool) float64 {
	if kept {
		return 0
	}
	return negInf
}

// isInvalidScore reports whether a log score is NaN or +Inf.
func isInvalidScore(score float64) bool { return !(score < math.Inf(1)) }

// checkWeight returns an error if an objective's weight is negative, infinite or NaN. The text of
// the error is the end of a sentence that begins with the weight, such as "is -1: weights are …".
func checkWeight(w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("is %v: weights are finite and not negative", w)
	}
	return nil
}

// minSizeProbability is the smallest normal float64. If a number of ingredients has a smaller
// probability, the probability counts as 0.
const minSizeProbability = 0x1p-1022

// oneIf returns 1 if the argument is true, and 0 otherwise.
func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// subtractClamped returns a − b, or the nearest int64 if the difference overflows.
func subtractClamped(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && d > 0:
		return math.MinInt64
	}
	return d
}

// ceilDiv returns the quotient a/b rounded up, for b > 0. Results beyond ±2⁴⁰ are replaced by ±2⁴⁰.
func ceilDiv(a, b int64) int64 { return -floorDiv(-max(a, -math.MaxInt64), b) }

// floorDiv returns the quotient a/b rounded down, for b > 0. Results beyond ±2⁴⁰ are replaced by
// ±2⁴⁰.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return min(max(q, -1<<40), 1<<40)
}

// expScore returns the score y, given log y. If log y is finite and y exceeds the range of a
// float64, it returns the largest float64.
func expScore(logScore float64) float64 {
	y := portable.Exp(logScore)
	if math.IsInf(y, 1) && !math.IsInf(logScore, 1) {
		return math.MaxFloat64
	}
	return y
}
