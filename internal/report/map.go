package report

import (
	"math"
	"slices"
)

// A RecipeMap shows draws, known recipes and the shortlist as points in a plane, in which similar
// recipes lie near each other. See [kir/internal/recipemap.Place] for the axes. Coordinates are
// rounded to 4 decimals.
type RecipeMap struct {
	Explained Number        `json:"explained"` // share of the variance of the draws that the two axes explain
	Left      []string      `json:"left"`      // names of the ingredients that are most typical of recipes on the left side
	Right     []string      `json:"right"`     // names of the ingredients that are most typical of recipes on the right side
	Lower     []string      `json:"lower"`     // names of the ingredients that are most typical of recipes at the bottom
	Upper     []string      `json:"upper"`     // names of the ingredients that are most typical of recipes at the top
	Draws     [][2]Number   `json:"draws"`     // evenly spaced draws
	Known     []MappedKnown `json:"known"`     // known recipes, at most 500
	Best      [][2]Number   `json:"best"`      // item k is entry k of the shortlist
}

// A MappedKnown is a known recipe with its place on a [RecipeMap].
type MappedKnown struct {
	Recipe string    `json:"recipe"` // name of the recipe
	At     [2]Number `json:"at"`
}

// A Ternary shows draws, known recipes and the shortlist by their shares of three ingredients or
// groups of ingredients. The three shares of a recipe add up to 1, whatever else it has. They are
// rounded to 4 decimals, and unknown if the recipe has none of the three.
type Ternary struct {
	Corners [3]string      `json:"corners"` // names of the ingredients or groups
	Draws   [][3]Number    `json:"draws"`   // evenly spaced draws
	Known   []TernaryKnown `json:"known"`   // known recipes, at most 500
	Best    [][3]Number    `json:"best"`    // item k is entry k of the shortlist
}

// A TernaryKnown is a known recipe with its shares in a [Ternary].
type TernaryKnown struct {
	Recipe string    `json:"recipe"` // name of the recipe
	Shares [3]Number `json:"shares"`
}

// validatePoints checks the points of the map and of the ternary plot. Like the other checks it calls
// need, which records an error if ok is false.
func (m *Model) validatePoints(need func(ok bool, format string, args ...any)) {
	const large = 1e9
	if t := m.Map; t != nil {
		points := slices.Concat(t.Draws, t.Best)
		for _, r := range t.Known {
			points = append(points, r.At)
		}
		for _, p := range points {
			need(math.Abs(float64(p[0])) < large && math.Abs(float64(p[1])) < large, "a point of the map is at %v, %v", p[0], p[1])
		}
	}
	if t := m.Ternary; t != nil {
		points := slices.Concat(t.Draws, t.Best)
		for _, r := range t.Known {
			points = append(points, r.Shares)
		}
		for _, p := range points {
			for _, share := range p {
				need(!share.IsKnown() || share >= 0 && share <= 1, "a share of the ternary plot is %v", share)
			}
		}
	}
}
