package dataset

import (
	"math"
	"slices"
	"strings"
)

// failureWords are the lower-case words that mark a recipe that was tried and could not be
// measured.
var failureWords = []string{
	"failed", "fail", "failure", "unstable", "n/a", "n.a.", "na",
	"fehlgeschlagen", "instabil", "échec", "échoué", "fallido", "inestable", "fallito", "instabile",
}

// IsFailure reports whether a label's value marks a recipe that could not be measured.
func IsFailure(value string) bool { return slices.Contains(failureWords, strings.ToLower(value)) }

// Measured returns the value of each recipe as a number, NaN where it has none, and which recipes
// failed. A value marks a failure by [IsFailure] or by one of words. Other values that are not
// numbers are an [*Error] or a [*inputerr.Errors], with their positions in the file.
func (l *Label) Measured(words ...string) (numbers []float64, failed []bool, err error) {
	numbers, failed = make([]float64, len(l.ClassOf)), make([]bool, len(l.ClassOf))
	of := make([]float64, len(l.Classes))
	bad := make([]bool, len(l.Classes))
	for k, value := range l.Classes {
		var ok bool
		if of[k], ok = number(value); ok {
			continue
		}
		if of[k], bad[k] = math.NaN(), IsFailure(value) || slices.Contains(words, value); !bad[k] {
			if err := l.CheckNumbers(words...); err != nil {
				return nil, nil, err
			}
			return nil, nil, l.notMeasured
		}
	}
	for r, class := range l.ClassOf {
		numbers[r] = math.NaN()
		if class >= 0 {
			numbers[r], failed[r] = of[class], bad[class]
		}
	}
	return numbers, failed, nil
}

// IsMeasurement reports whether some values are numbers and all others mark failures.
func (l *Label) IsMeasurement(words ...string) bool {
	some := false
	for _, value := range l.Classes {
		_, isNumber := number(value)
		if !isNumber && !IsFailure(value) && !slices.Contains(words, value) {
			return false
		}
		some = some || isNumber
	}
	return some
}
