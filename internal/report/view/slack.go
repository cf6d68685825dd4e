package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"kir/internal/number"
	"kir/internal/report"
)

const (
	// maxSharedIngredients is the largest number of ingredients shared with a known recipe that are
	// named.
	maxSharedIngredients = 6
	// maxNameLength is the length, in letters, to which a name is cut if the full name appears
	// elsewhere, too.
	maxNameLength = 32
)

// sharedIngredients names the ingredients that a composition shares with a known recipe, the
// largest amounts first. Long names are cut; the full names are in the list of ingredients.
func sharedIngredients(b report.Best, n report.Nearest) []string {
	names := slices.Clone(n.Shared)
	slices.SortStableFunc(names, func(x, y string) int { return b.Recipe[y] - b.Recipe[x] })
	if more := len(names) - maxSharedIngredients; more > 1 {
		names = append(names[:maxSharedIngredients], fmt.Sprintf("and %d more", more))
	}
	for k, name := range names {
		names[k] = shortenName(name)
	}
	return names
}

// shortenName shortens a name to maxNameLength letters.
func shortenName(name string) string {
	if letters := []rune(name); len(letters) > maxNameLength {
		return string(letters[:maxNameLength-1]) + "…"
	}
	return name
}

// hasReachableBound reports whether a constraint has a bound, and is not an equation, whose bounds
// every composition meets.
func hasReachableBound(s report.Slack) bool {
	return (s.Min.IsKnown() || s.Max.IsKnown()) && s.Min != s.Max
}

// isAtBound reports whether a composition is exactly at a bound of a constraint.
func isAtBound(s report.Slack) bool { return hasReachableBound(s) && math.Abs(float64(s.Room)) < 1e-9 }

// slackText says how far a composition is from the bound of a constraint. It gives the
// composition's value and the distance. A recipe has total units.
func slackText(s report.Slack, total int) string {
	if !hasReachableBound(s) {
		return "met"
	}
	value, room := constraintNumberText(s.Value, s.Unit, total, 4), constraintNumberText(s.Room, s.Unit, total, 3)
	switch {
	case s.Ingredient != "":
		value = shortenName(s.Ingredient) + " has " + value
	case s.Unit == "ingredients":
		value += " used"
	case s.Unit == "units":
	default:
		value = s.Unit + " " + value
	}
	if isAtBound(s) {
		return value + ", at the bound"
	}
	return value + ", " + room + " to spare"
}

// constraintNumberText writes a number of a constraint: a composition's value, or its distance from
// a bound. Numbers of units are written as percentages of the total, numbers of ingredients in full,
// and other numbers with the given number of significant figures.
func constraintNumberText(v report.Number, unit string, total, figures int) string {
	f := float64(v)
	whole := f == math.Trunc(f) && math.Abs(f) < 1<<31
	if unit == "units" && whole && f >= 0 && total > 0 {
		return number.ShortShare(int(f), total)
	}
	if unit == "ingredients" && whole {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return fmt.Sprintf("%.*g", figures, f)
}
