package dataset

import (
	"math"
	"slices"
	"strings"

	"kir/internal/measure"
)

// failureWords are the values, in lower case, that mark a recipe that was made and could not be
// measured.
var failureWords = []string{
	"failed", "fail", "failure", "unstable", "n/a", "n.a.", "na",
	"fehlgeschlagen", "instabil", "échec", "échoué", "fallido", "inestable", "fallito", "instabile",
}

// IsFailureMark reports whether the value of a label marks a recipe that could not be measured, such as
// failed or n/a.
func IsFailureMark(value string) bool { return slices.Contains(failureWords, strings.ToLower(value)) }

// Measurements returns the value of each recipe as a number, NaN where there is none, and whether the
// recipe failed. A recipe failed if [IsFailureMark] holds for its value or if the value is one of
// words. If other values are not numbers, the error is an [*Error] or an [*inputerr.Errors] with the
// positions of these values in the file.
func (l *Label) Measurements(words ...string) (numbers []float64, failed []bool, err error) {
	numbers, failed = make([]float64, len(l.ClassOf)), make([]bool, len(l.ClassOf))
	of := make([]float64, len(l.Classes))
	bad := make([]bool, len(l.Classes))
	for k, value := range l.Classes {
		var ok bool
		if of[k], ok = measure.ParseNumber(value); ok {
			continue
		}
		if of[k], bad[k] = math.NaN(), IsFailureMark(value) || slices.Contains(words, value); !bad[k] {
			if err := l.CheckNumbers(words...); err != nil {
				return nil, nil, err
			}
			return nil, nil, l.notMeasuredErr
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

// IsMeasurement reports whether at least one value is a number and all other values mark failures,
// by [IsFailureMark] or as one of words.
func (l *Label) IsMeasurement(words ...string) bool {
	some := false
	for _, value := range l.Classes {
		_, isNumber := measure.ParseNumber(value)
		if !isNumber && !IsFailureMark(value) && !slices.Contains(words, value) {
			return false
		}
		some = some || isNumber
	}
	return some
}
