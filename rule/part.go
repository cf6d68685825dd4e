package rule

import (
	"slices"

	"kir/internal/count"
)

// A Part is one used ingredient of a composition: which, and how many units.
type Part struct {
	Ingredient int
	Amount     int
}

// A Range is the whole numbers from Min to Max, both included.
type Range = count.Range

func amountOf(parts []Part, ingredient int) int {
	for _, p := range parts {
		if p.Ingredient == ingredient {
			return p.Amount
		}
	}
	return 0
}

// amountsOf sums what some ingredients take.
func amountsOf(parts []Part, of []int) int {
	sum := 0
	for _, p := range parts {
		if slices.Contains(of, p.Ingredient) {
			sum += p.Amount
		}
	}
	return sum
}

// usedOf counts those of some ingredients that are used.
func usedOf(parts []Part, of []int) int {
	n := 0
	for _, i := range of {
		if amountOf(parts, i) > 0 {
			n++
		}
	}
	return n
}
