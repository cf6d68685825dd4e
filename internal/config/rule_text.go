package config

import (
	"fmt"
	"strings"

	"kir/internal/number"
)

// amountText writes a number of units as a percentage of the whole recipe, such as "12 %".
func (d *Data) amountText(units int) string {
	return number.ShortShare(units, d.CompositionTotal)
}

// amountsText describes the amounts from least to most, in percent of the whole recipe. Zero means that there is
// no such bound.
func (d *Data) amountsText(least, most int) string {
	text := func(units int) string {
		if units == 0 {
			return ""
		}
		return strings.TrimSuffix(d.amountText(units), " %")
	}
	return boundsText(text(least), text(most), "%")
}

// boundsText describes two bounds in words, such as "at least 3", "exactly 5 %" or "2 to 5 ingredients". A bound
// that is empty does not exist. The unit may be empty.
func boundsText(least, most, unit string) string {
	var text string
	switch {
	case most == "":
		text = "at least " + least
	case least == "":
		text = "at most " + most
	case least == most:
		text = "exactly " + least
	default:
		text = least + " to " + most
	}
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// totalText describes the range of a sum of amounts, in percent of the whole recipe. Bounds that every sum keeps
// are left out if the other bound is not one of them.
func (d *Data) totalText(least, most int) string {
	switch {
	case least == most:
		return "exactly " + d.amountText(least)
	case least == 0:
		return "at most " + d.amountText(most)
	case most >= d.Total:
		return "at least " + d.amountText(least)
	}
	return d.amountsText(least, most)
}

// usedText describes how many ingredients of a group are used, if the group has size ingredients.
func usedText(least, most, size int) string {
	lo, hi, noun := fmt.Sprint(least), fmt.Sprint(most), "ingredients"
	switch {
	case least == most || least == 0:
		if most == 1 {
			noun = "ingredient"
		}
		if least != most {
			lo = ""
		}
	case most >= size:
		hi = ""
		if least == 1 {
			noun = "ingredient"
		}
	}
	return boundsText(lo, hi, noun)
}

// anyOfText describes at least one of the ingredients that text names. The parameter count is the number of
// ingredients.
func anyOfText(text string, count int) string {
	if count == 1 {
		return text
	}
	return "any of " + text
}
