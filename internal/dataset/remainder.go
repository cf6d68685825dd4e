package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"kir/internal/inputerr"
)

// A remainderPart is a part of a recipe that makes up the remainder of a whole.
type remainderPart struct {
	Part          // its amount is the whole, 0 if the table does not give it
	before int    // number of the other parts before it
	text   string // of the cell
	place  place
}

// complete adds the part with its computed amount to a recipe and describes it, or returns the
// fault. A fault needs to be reported only once for each key. plain is the whole for numbers
// without a unit, or 0 if unknown, with the reason in why. columnOf returns the column of an
// ingredient, if it has one.
func (part *remainderPart) complete(r *Recipe, plain Amount, why string, columnOf func(ingredient int32) string) (is, key, message, hint string) {
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
	if part.Amount.IsZero() && part.kind() == Percent {
		part.Amount = mustAmount("100")
	} else if part.Amount.IsZero() && part.kind() == Plain {
		part.Amount = plain
	}
	whole := part.Amount
	left, err := nearestAmount(new(big.Rat).Sub(whole.Rat(), sum.Quo(sum, size)))
	switch {
	case len(r.Parts) > 0 && r.Parts[0].kind() != part.kind():
		return "", "", fmt.Sprintf("is %v, and another amount %v", part.kind(), r.Parts[0].kind()), "write the whole in the others' unit, as in q.s. 100 g, or the number"
	case whole.IsZero():
		example := inputerr.Quote(part.text + " 100" + unit)
		if unit == "" {
			example += " or " + inputerr.Quote(part.text+" 1")
		}
		return "", why, why, "write the whole with it, as in " + example + ", or the number"
	case err != nil || left.IsZero():
		others, _ := nearestAmount(sum)
		message = fmt.Sprintf("is nothing: the others add up to %v%s, and the whole is %v%s", others, unit, whole, unit)
		name := columnOf(largest.Ingredient)
		if name == "" || largest.Base().Cmp(part.Base()) < 0 {
			return "", "", message, "correct the others, leave out what sums them up, or write the number, 0 if it is not used"
		}
		return "", "no part " + name, message, "if " + inputerr.Quote(name) + " is a label, say so: " + Layout{Columns: map[string]Role{name: LabelColumn}}.YAML()
	}
	part.Amount = left
	r.Parts = slices.Insert(r.Parts, part.before, part.Part)
	return fmt.Sprintf("%v%s, which makes %v%s", left, unit, whole, unit), "", "", ""
}

// plainWhole returns the whole of recipes whose amounts are plain numbers. It is 100, or 1, if all
// recipes with complete amounts, or a given whole, agree on that within 2 in 100. Without such
// recipes it is 100, a guess without evidence, if two of the ingredients are above 1. Otherwise it
// is 0, with the reason.
func plainWhole(recipes []Recipe, rests map[int32]remainderPart, spoilt map[int32]bool) (whole Amount, sure bool, why string) {
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
		return mustAmount("1"), true, ""
	case sure || len(large) > 1:
		return mustAmount("100"), sure, ""
	}
	return whole, false, why
}
