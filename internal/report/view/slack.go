package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"kir/internal/report"
)

const (
	// mostShared is the greatest number of shared ingredients that are named.
	mostShared = 6
	// mostNamed is the length to which names are cut if they also appear in full.
	mostNamed = 32
)

// sharedIngredients names the ingredients that a composition shares with a known recipe, the largest
// amounts first. The list of parts has the full names.
func sharedIngredients(b report.Best, n report.Nearest) []string {
	names := slices.Clone(n.Shared)
	slices.SortStableFunc(names, func(x, y string) int { return b.Recipe[y] - b.Recipe[x] })
	if more := len(names) - mostShared; more > 1 {
		names = append(names[:mostShared], fmt.Sprintf("and %d more", more))
	}
	for k, name := range names {
		names[k] = clipName(name)
	}
	return names
}

// clipName shortens a name to mostNamed letters.
func clipName(name string) string {
	if letters := []rune(name); len(letters) > mostNamed {
		return string(letters[:mostNamed-1]) + "…"
	}
	return name
}

// hasBound reports whether a rule has a bound that a composition may come close to.
func hasBound(s report.Slack) bool { return (s.Min.Known() || s.Max.Known()) && s.Min != s.Max }

// isAtBound reports whether a composition is at the bound of a constraint.
func isAtBound(s report.Slack) bool { return hasBound(s) && math.Abs(float64(s.Room)) < 1e-9 }

// slackText describes a constraint and a composition's distance from its bound.
func slackText(s report.Slack) string {
	if !hasBound(s) {
		return "kept"
	}
	value, room := boundedText(s.Value, s.Unit, 4), boundedText(s.Room, s.Unit, 3)
	switch {
	case s.Ingredient != "":
		value = clipName(s.Ingredient) + " has " + unitsOf(value)
	case s.Unit == "ingredients":
		value += " used"
	case s.Unit == "units":
		value = unitsOf(value)
	default:
		value = s.Unit + " " + value
	}
	if isAtBound(s) {
		return value + ", at the bound"
	}
	return value + ", " + room + " to spare"
}

// boundedText writes a figure that a rule bounds, or its distance from a bound. Units and
// ingredients are whole numbers; other figures have so many digits.
func boundedText(v report.Number, unit string, figures int) string {
	if f := float64(v); (unit == "units" || unit == "ingredients") && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return fmt.Sprintf("%.*g", figures, float64(v))
}

func unitsOf(value string) string {
	if value == "1" {
		return "1 unit"
	}
	return value + " units"
}
