package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"kir/internal/report"
)

const (
	// maxSharedIngredients is the largest number of shared ingredients that are named.
	maxSharedIngredients = 6
	// maxNameLength is the length, in letters, to which names are cut where they also appear in
	// full.
	maxNameLength = 32
)

// sharedIngredients names the ingredients that a composition shares with a known recipe, the
// largest amounts first. Long names are cut, since the list of parts has the full names.
func sharedIngredients(b report.Best, n report.Nearest) []string {
	names := slices.Clone(n.Shared)
	slices.SortStableFunc(names, func(x, y string) int { return b.Recipe[y] - b.Recipe[x] })
	if more := len(names) - maxSharedIngredients; more > 1 {
		names = append(names[:maxSharedIngredients], fmt.Sprintf("and %d more", more))
	}
	for k, name := range names {
		names[k] = clipName(name)
	}
	return names
}

// clipName shortens a name to maxNameLength letters.
func clipName(name string) string {
	if letters := []rune(name); len(letters) > maxNameLength {
		return string(letters[:maxNameLength-1]) + "…"
	}
	return name
}

// hasBound reports whether a constraint has a bound that a composition may come close to.
func hasBound(s report.Slack) bool { return (s.Min.IsKnown() || s.Max.IsKnown()) && s.Min != s.Max }

// isAtBound reports whether a composition is exactly at the bound of a constraint.
func isAtBound(s report.Slack) bool { return hasBound(s) && math.Abs(float64(s.Room)) < 1e-9 }

// slackText describes a composition's value for a constraint, and the distance to the bound.
func slackText(s report.Slack) string {
	if !hasBound(s) {
		return "kept"
	}
	value, room := boundedText(s.Value, s.Unit, 4), boundedText(s.Room, s.Unit, 3)
	switch {
	case s.Ingredient != "":
		value = clipName(s.Ingredient) + " has " + unitsText(value)
	case s.Unit == "ingredients":
		value += " used"
	case s.Unit == "units":
		value = unitsText(value)
	default:
		value = s.Unit + " " + value
	}
	if isAtBound(s) {
		return value + ", at the bound"
	}
	return value + ", " + room + " to spare"
}

// boundedText writes a value that a constraint bounds, or its distance from a bound. Units and
// ingredients are written as whole numbers, other values with the given number of significant
// figures.
func boundedText(v report.Number, unit string, figures int) string {
	if f := float64(v); (unit == "units" || unit == "ingredients") && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return fmt.Sprintf("%.*g", figures, float64(v))
}

func unitsText(value string) string {
	if value == "1" {
		return "1 unit"
	}
	return value + " units"
}
