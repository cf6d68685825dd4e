package view

import (
	"math"
	"math/big"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
)

// An amountWriter writes the amounts of recipes for people: in the unit of the known recipes, such
// as cl, or in percent if they have none.
type amountWriter struct {
	total  int            // number of units of a recipe
	unit   string         // unit of the known recipes; "%" if they have none
	whole  number.Amounts // a typical recipe in that unit
	digits int            // usual number of decimal places
}

// newAmountWriter returns the writer for the recipes of a problem. Amounts have as many decimal
// places as a typical recipe needs for three significant figures.
func newAmountWriter(p report.Problem) amountWriter {
	w := amountWriter{total: p.Total, unit: "%", whole: number.Percentages(p.Total)}
	if p.Unit == "" || !(p.Whole > 0) || math.IsInf(float64(p.Whole), 0) {
		return w
	}
	whole, ok := new(big.Rat).SetString(number.RoundTrip(number.Rounded(float64(p.Whole), 3)))
	if !ok {
		return w
	}
	w.unit, w.digits = p.Unit, max(0, 2-int(math.Floor(portable.Log10(float64(p.Whole)))))
	w.whole = number.Amounts{Total: p.Total, Whole: whole}
	return w
}

// hasUnit reports whether the known recipes have a unit other than percent.
func (w amountWriter) hasUnit() bool { return w.unit != "%" }

// texts returns the amounts of a recipe's ingredients with their unit, such as "4.65 cl". They add
// up to the size of a typical recipe. No amount is written as 0.
func (w amountWriter) texts(parts []report.Part) []string {
	if !w.hasUnit() {
		return partShareTexts(parts, w.total)
	}
	units := make([]int, len(parts))
	for k, p := range parts {
		units[k] = p.Amount
	}
	out := w.whole.WriteTo(w.digits, units)
	for digits := w.digits; digits < w.digits+6 && writesZero(out, units); digits++ {
		out = w.whole.WriteTo(digits+1, units)
	}
	for k := range out {
		out[k] += " " + w.unit
	}
	return out
}

// writesZero reports whether one of the texts is that of a zero, although its amount is positive.
func writesZero(texts []string, units []int) bool {
	for k, text := range texts {
		if units[k] > 0 && number.Trim(text) == "0" {
			return true
		}
	}
	return false
}
