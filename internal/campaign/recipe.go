package campaign

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"kir/internal/compile"
	"kir/mcmc"
	"kir/model"
)

// A recipe is what a trial is made of: amounts of ingredients and, if the problem has conditions,
// values of the conditions. A recipe stores the conditions twice: as indices of offered values for
// rules and computed properties, and as codes for models.
type recipe struct {
	parts          []mcmc.Part // ingredients and their amounts in units, sorted by ingredient
	offeredValues  []int32     // item k is the index of the value of condition k that the problem offers and that is nearest to the recipe's value; nil without conditions
	conditionCodes []mcmc.Part // values of the conditions as models see them: each value is encoded as the amount of an additional ingredient; sorted by ingredient
}

// key returns a text that identifies the amounts and the conditions of the recipe.
func (x *recipe) key() string { return recipeKey(x.parts) + conditionCodesKey(x.conditionCodes) }

// conditionCodesKey returns a text that identifies encoded values of conditions; see
// [recipe.conditionCodes]. The text is empty without conditions.
func conditionCodesKey(codes []mcmc.Part) string {
	if len(codes) == 0 {
		return ""
	}
	return "| " + recipeKey(codes)
}

// recipeKey returns a text that identifies the amounts of a recipe. The parts must be sorted by
// ingredient.
func recipeKey(parts []mcmc.Part) string {
	key := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		key = append(strconv.AppendInt(key, int64(p.Ingredient), 10), ':')
		key = append(strconv.AppendInt(key, int64(p.Amount), 10), ' ')
	}
	return string(key)
}

// sortParts sorts the parts by ingredient in place and returns the same slice.
func sortParts(parts []mcmc.Part) []mcmc.Part {
	slices.SortFunc(parts, func(a, b mcmc.Part) int { return a.Ingredient - b.Ingredient })
	return parts
}

// compareRecipes orders recipes by amounts, then by conditions. The result is 0 only for equal
// recipes.
func compareRecipes(x, y recipe) int {
	return cmp.Or(compareParts(x.parts, y.parts), compareParts(x.conditionCodes, y.conditionCodes))
}

func compareParts(a, b []mcmc.Part) int {
	return slices.CompareFunc(a, b, func(p, q mcmc.Part) int {
		return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
	})
}

// clone returns a copy of the recipe that shares no memory with the original.
func (x *recipe) clone() recipe {
	return recipe{slices.Clone(x.parts), slices.Clone(x.offeredValues), slices.Clone(x.conditionCodes)}
}

// withParts returns a recipe with the given parts and the same conditions.
func (x *recipe) withParts(parts []mcmc.Part) recipe {
	return recipe{parts, x.offeredValues, x.conditionCodes}
}

// recipeFromComposition converts a composition of package mcmc to a recipe.
func (c *Campaign) recipeFromComposition(x *mcmc.Composition) recipe {
	return c.offeredRecipe(sortParts(x.Parts()), x.AppendConditions(nil))
}

// offeredRecipe returns the recipe with the given parts, which must be sorted by ingredient. The
// parameter offered has the index of the offered value of each condition.
func (c *Campaign) offeredRecipe(parts []mcmc.Part, offered []int32) recipe {
	return recipe{parts, offered, c.Problem.AppendCodes(nil, offered)}
}

// toComposition converts a recipe to a composition of package mcmc.
func (c *Campaign) toComposition(x recipe) (*mcmc.Composition, error) {
	return c.Problem.Target.Space().Composition(x.parts, x.offeredValues)
}

// withGivenConditions returns recipe x with the values of the conditions that the user has fixed.
// The other conditions keep the values of x.
func (c *Campaign) withGivenConditions(x recipe) recipe {
	if !c.hasGivenConditions() {
		return x
	}
	y := x.withParts(x.parts)
	y.conditionCodes = nil
	given := c.Problem.AppendCodes(nil, x.offeredValues) // a given condition has one value
	for k := range c.Problem.Conditions {
		from, to := c.Problem.CodeIndices(k)
		codes := x.conditionCodes
		if c.Problem.Conditions[k].Given {
			codes = given
		}
		for _, p := range codes {
			if p.Ingredient >= from && p.Ingredient < to {
				y.conditionCodes = append(y.conditionCodes, p)
			}
		}
	}
	return y
}

// hasGivenConditions reports whether the user has fixed the value of at least one condition.
func (c *Campaign) hasGivenConditions() bool {
	for k := range c.Problem.Conditions {
		if c.Problem.Conditions[k].Given {
			return true
		}
	}
	return false
}

// conditionDistance returns the distance between the conditions of two recipes, from 0 to 1. It is
// the root mean square of the differences of the single conditions. Two numbers differ by a
// fraction of the range of numbers that models know. Two categories differ by 0 or 1.
func (c *Campaign) conditionDistance(x, y recipe) float64 {
	if len(c.Problem.Conditions) == 0 {
		return 0
	}
	sum := 0.0
	for k := range c.Problem.Conditions {
		from, to := c.Problem.CodeIndices(k)
		a, b := firstCoordinateInRange(x.conditionCodes, from, to), firstCoordinateInRange(y.conditionCodes, from, to)
		if to-from == 1 && a.value > 0 && b.value > 0 {
			d := (a.value - b.value) / numberCoordinateRange
			sum += float64(d * d)
		} else if a != b {
			sum++
		}
	}
	return math.Sqrt(sum / float64(len(c.Problem.Conditions)))
}

// numberCoordinateRange is the difference between the greatest and the least coordinate that a
// [point] can have for a numeric condition.
const numberCoordinateRange = 1 - compile.LeastCoordinate

// firstCoordinateInRange returns the first coordinate whose variable index is at least first and
// less than end. If there is none, the variable of the result is −1.
func firstCoordinateInRange(codes []mcmc.Part, first, end int) coordinate {
	for _, p := range codes {
		if p.Ingredient >= first && p.Ingredient < end {
			return coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / model.MaxBesideAmount)}
		}
	}
	return coordinate{variable: -1}
}

// isOffered reports whether the problem offers exactly the condition values of a recipe.
func (c *Campaign) isOffered(x recipe) bool {
	return compareParts(x.conditionCodes, c.Problem.AppendCodes(nil, x.offeredValues)) == 0
}

// isAtGivenConditions reports whether a trial was made at the values of all conditions that the
// user has fixed. A category must be the same. A number may differ by at most [maxGivenDistance].
func (c *Campaign) isAtGivenConditions(t *trial) bool {
	asked := c.withGivenConditions(t.recipe)
	for k := range c.Problem.Conditions {
		of := &c.Problem.Conditions[k]
		if !of.Given {
			continue
		}
		from, to := c.Problem.CodeIndices(k)
		a, b := firstCoordinateInRange(t.conditionCodes, from, to), firstCoordinateInRange(asked.conditionCodes, from, to)
		if a.variable != b.variable || math.Abs(a.value-b.value) > maxGivenDistance*numberCoordinateRange {
			return false
		}
	}
	return true
}

// maxGivenDistance says how far the value of a numeric condition in a trial may be from the fixed
// value so that the trial still counts as made at the fixed value. The distance is a fraction of
// the range of numbers that models know.
const maxGivenDistance = 0.1
