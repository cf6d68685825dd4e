package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// negInf is the log score of what is forbidden.
var negInf = math.Inf(-1)

// logOf returns the log score of a rule.
func logOf(kept bool) float64 {
	if kept {
		return 0
	}
	return negInf
}

// badScore says whether a log score is NaN or +Inf.
func badScore(score float64) bool { return !(score < math.Inf(1)) }

// checkWeight says, as the end of a sentence, what is wrong with a weight.
func checkWeight(w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("is %v: weights are finite and not negative", w)
	}
	return nil
}

// minMass is the least probability of a size, the smallest number with all
// its digits. What is less counts as none.
const minMass = 0x1p-1022

// oneIf returns 1 for yes, else 0.
func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// subtract returns a − b, or the bound of int64 that it passes.
func subtract(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && d > 0:
		return math.MinInt64
	}
	return d
}

// divideUp returns ⌈a/b⌉ and divideDown ⌊a/b⌋, for b > 0, kept away from the
// bounds of int64.
func divideUp(a, b int64) int64 { return -divideDown(-max(a, -math.MaxInt64), b) }

func divideDown(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return min(max(q, -1<<40), 1<<40)
}

// expScore returns y of log y, and the largest float64 for what is finite and above it:
// the chains have its log.
func expScore(logScore float64) float64 {
	y := portable.Exp(logScore)
	if math.IsInf(y, 1) && !math.IsInf(logScore, 1) {
		return math.MaxFloat64
	}
	return y
}
