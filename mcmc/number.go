package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// negInf is the log score of a forbidden composition.
var negInf = math.Inf(-1)

// ruleLogScore returns the log score of a rule: 0 if it is kept, else −Inf.
func ruleLogScore(kept bool) float64 {
	if kept {
		return 0
	}
	return negInf
}

// badScore reports whether a log score is NaN or +Inf.
func badScore(score float64) bool { return !(score < math.Inf(1)) }

// checkWeight returns an error, worded as the end of a sentence, if a weight is invalid.
func checkWeight(w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("is %v: weights are finite and not negative", w)
	}
	return nil
}

// minMass is the least probability of a size, the smallest normal float64. A smaller probability
// counts as 0.
const minMass = 0x1p-1022

// oneIf returns 1 if yes is true, else 0.
func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// subtract returns a − b, clamped to the range of int64.
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

// divideUp returns ⌈a/b⌉ and divideDown ⌊a/b⌋, for b > 0. They avoid overflow at the bounds of
// int64.
func divideUp(a, b int64) int64 { return -divideDown(-max(a, -math.MaxInt64), b) }

func divideDown(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return min(max(q, -1<<40), 1<<40)
}

// expScore returns y of log y. For a finite log y above the range it returns the largest float64;
// the chains use log y.
func expScore(logScore float64) float64 {
	y := portable.Exp(logScore)
	if math.IsInf(y, 1) && !math.IsInf(logScore, 1) {
		return math.MaxFloat64
	}
	return y
}
