package book

import (
	"math"
	"slices"
	"strings"
)

// failures are what cells say, in lower case, of a recipe that was tried and could not
// be measured.
var failures = []string{
	"failed", "fail", "failure", "unstable", "n/a", "n.a.", "na",
	"fehlgeschlagen", "instabil", "échec", "échoué", "fallido", "inestable", "fallito", "instabile",
}

// Fails is whether a value of a label says that the recipe could not be measured.
func Fails(value string) bool { return slices.Contains(failures, strings.ToLower(value)) }

// Measured returns the value of each recipe as a number, NaN where it has none, and
// which recipes have a value that says that they failed, by [Fails] or one of the words
// given. Values that are neither are an [*Error] or a [*fault.Errors], with their places in the file.
func (l *Label) Measured(words ...string) (numbers []float64, failed []bool, err error) {
	numbers, failed = make([]float64, len(l.Of)), make([]bool, len(l.Of))
	of := make([]float64, len(l.Classes))
	bad := make([]bool, len(l.Classes))
	for k, value := range l.Classes {
		var ok bool
		if of[k], ok = number(value); ok {
			continue
		}
		if of[k], bad[k] = math.NaN(), Fails(value) || slices.Contains(words, value); !bad[k] {
			if err := l.NotNumbers(words...); err != nil {
				return nil, nil, err
			}
			return nil, nil, l.notMeasured
		}
	}
	for r, class := range l.Of {
		numbers[r] = math.NaN()
		if class >= 0 {
			numbers[r], failed[r] = of[class], bad[class]
		}
	}
	return numbers, failed, nil
}

// Counted is whether some values are numbers and all others say that a recipe failed.
func (l *Label) Counted(words ...string) bool {
	some := false
	for _, value := range l.Classes {
		_, isNumber := number(value)
		if !isNumber && !Fails(value) && !slices.Contains(words, value) {
			return false
		}
		some = some || isNumber
	}
	return some
}
