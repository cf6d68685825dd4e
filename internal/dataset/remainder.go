package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A remainderPart is a part of a recipe whose amount is what the other parts leave of a whole, as
// in "q.s. 100" for water.
type remainderPart struct {
	Part                // the part; its Amount is the whole, or 0 if the table does not state the whole
	isTotalKnown bool   // whether the whole is the total that the table states for the recipe
	partsBefore  int    // number of other parts of the recipe before this part
	text         string // text of the cell

	hasSharedUnit bool            // whether the whole has a unit and the other amounts have none; set by complete
	place         tablefile.Place // position of the cell
}

// complete computes the amount of the part and adds the part to the recipe r. is describes the
// computed amount. If the amount cannot be computed, message states the fault and hint says what to
// write; faults with the same key are reported only once. plain is the whole for amounts without a
// unit. If plain is 0, the whole is unknown, and why states the reason. columnOf returns the name
// of an ingredient's column, or an empty text. label is the name of a column that may be no ingredient; it may be empty.
func (part *remainderPart) complete(r *Recipe, plain measure.Amount, why string, columnOf func(ingredient int32) string) (is, key, message, hint, label string) {
	sum, size, unit := new(big.Rat), big.NewRat(1, 1), ""
	largest := slices.MaxFunc(append(r.Parts, Part{}), func(p, q Part) int { return p.Base().Cmp(q.Base()) })
	for _, p := range r.Parts {
		sum.Add(sum, p.Base())
	}
	if len(r.Parts) > 0 && part.Unit == nil && !slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Unit != r.Parts[0].Unit }) {
		part.Unit = r.Parts[0].Unit
	}
	if part.Unit != nil {
		size, unit = part.Unit.Size.Rat(), " "+part.Unit.Name
	}
	if part.Amount.IsZero() && part.kind().IsPercent() {
		part.Amount, _ = measure.NearestAmount(new(big.Rat).Quo(big.NewRat(100, 1), size))
	} else if part.Amount.IsZero() && part.kind() == measure.Unitless {
		part.Amount = plain
	}
	if part.Unit != nil && part.kind() != measure.PartCount && len(r.Parts) > 0 && !slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Unit != nil }) && part.Amount.Rat().Cmp(sum) > 0 {
		part.Unit, size, unit, part.hasSharedUnit = nil, big.NewRat(1, 1), " "+part.Unit.Name, true // the others are in that unit
	}
	whole := part.Amount
	left, err := measure.NearestAmount(new(big.Rat).Sub(whole.Rat(), sum.Quo(sum, size)))
	switch {
	case len(r.Parts) > 0 && r.Parts[0].kind() != part.kind():
		return "", "", fmt.Sprintf("is %v, and another amount %v", part.kind(), r.Parts[0].kind()), "write the whole in the others' unit, as in q.s. 100 g, or the number", ""
	case whole.IsZero():
		example := inputerr.Quote(part.text + " 100" + unit)
		if unit == "" {
			example += " or " + inputerr.Quote(part.text+" 1")
		}
		return "", why, why, "write the whole with it, as in " + example + ", or the number", ""
	case err == nil && left.IsZero() && part.isTotalKnown:
		return "0" + unit + ": the others make up the total", "", "", "", ""
	case err != nil || left.IsZero():
		others, _ := measure.NearestAmount(sum)
		message = fmt.Sprintf("has nothing left: the others add up to %v%s, and the whole is %v%s", others, unit, whole, unit)
		name := columnOf(largest.Ingredient)
		if name == "" || largest.Base().Cmp(part.Base()) < 0 {
			return "", "", message, "correct the others, leave out what sums them up, or write the number, 0 if it is not used", ""
		}
		return "", "no part " + name, message, "correct " + inputerr.Quote(name) + " or another amount, or write the number", name
	}
	part.Amount = left
	r.Parts = slices.Insert(r.Parts, part.partsBefore, part.Part)
	return fmt.Sprintf("%v%s, which makes %v%s", left, unit, whole, unit), "", "", "", ""
}

// unitlessWhole returns the whole of recipes whose amounts have no unit: 100 or 1. The complete
// recipes, and the wholes that the table states, are the evidence. If all of them are within 2 % of
// 100, or all within 2 % of 1, that number is the whole, and sure is true. Without evidence the
// whole is 100 if at least two ingredients have amounts above 1, and sure is false. Otherwise the
// whole is 0, and why states the reason. rests holds the remainder part of each recipe that has
// one, and spoilt is the set of recipes with faults.
func unitlessWhole(recipes []Recipe, rests map[int32]remainderPart, spoilt map[int32]bool) (whole measure.Amount, sure bool, why string) {
	why = "is the rest of a whole that nothing tells"
	large, hundred, one := make(map[int32]bool), true, true
	for i := range recipes {
		r := &recipes[i]
		sum := 0.0
		for _, p := range r.Parts {
			if p.Unit == nil {
				v := p.Amount.Float64()
				sum += v
				large[p.Ingredient] = large[p.Ingredient] || v > 1
			}
		}
		part, open := rests[int32(i)]
		if open && part.Unit == nil && !part.Amount.IsZero() {
			sum, open = part.Amount.Float64(), false
		}
		if !open && sum > 0 && !spoilt[int32(i)] {
			sure = true
			hundred, one = hundred && math.Abs(sum-100) <= 2, one && math.Abs(sum-1) <= 0.02
			if !hundred && !one {
				return whole, true, fmt.Sprintf("%s: %s adds up to %.6g, not to 100 or 1", why, inputerr.Quote(r.Name), sum)
			}
		}
	}
	maps.DeleteFunc(large, func(_ int32, is bool) bool { return !is })
	switch {
	case sure && one:
		return measure.MustAmount("1"), true, ""
	case sure || len(large) > 1:
		return measure.MustAmount("100"), sure, ""
	}
	return whole, false, why
}
