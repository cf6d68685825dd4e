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

// A recipe is what a trial is made of: a composition and, if the problem has conditions, their
// values. Conditions are both the offered values nearest to those of the recipe, for rules and
// known properties, and the codes of the values themselves, for models.
type recipe struct {
	parts   []mcmc.Part // sorted by ingredient
	offered []int32     // see [kir/internal/compile.Setting]; nil without conditions
	codes   []mcmc.Part // sorted by ingredient
}

// key returns a text that is unique to the recipe on the lattice with its conditions.
func (x *recipe) key() string { return recipeKey(x.parts) + codesKey(x.codes) }

// codesKey returns a text that is unique to values of conditions, empty without conditions.
func codesKey(codes []mcmc.Part) string {
	if len(codes) == 0 {
		return ""
	}
	return "| " + recipeKey(codes)
}

// recipeKey returns a key that is unique to a recipe on the lattice. The parts must be sorted
// by ingredient.
func recipeKey(parts []mcmc.Part) string {
	key := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		key = append(strconv.AppendInt(key, int64(p.Ingredient), 10), ':')
		key = append(strconv.AppendInt(key, int64(p.Amount), 10), ' ')
	}
	return string(key)
}

// sortParts sorts parts by ingredient in place and returns them.
func sortParts(parts []mcmc.Part) []mcmc.Part {
	slices.SortFunc(parts, func(a, b mcmc.Part) int { return a.Ingredient - b.Ingredient })
	return parts
}

// compareRecipes orders recipes. It is 0 for equal ones only.
func compareRecipes(x, y recipe) int {
	return cmp.Or(compareParts(x.parts, y.parts), compareParts(x.codes, y.codes))
}

func compareParts(a, b []mcmc.Part) int {
	return slices.CompareFunc(a, b, func(p, q mcmc.Part) int {
		return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
	})
}

// clone returns a copy that shares no memory with x.
func (x *recipe) clone() recipe {
	return recipe{slices.Clone(x.parts), slices.Clone(x.offered), slices.Clone(x.codes)}
}

// withParts returns the recipe of other parts under the same conditions.
func (x *recipe) withParts(parts []mcmc.Part) recipe { return recipe{parts, x.offered, x.codes} }

// recipeOf returns the recipe of a composition whose conditions have offered values.
func (c *Campaign) recipeOf(x *mcmc.Composition) recipe {
	return c.offeredRecipe(sortParts(x.Parts()), x.AppendConditions(nil))
}

// offeredRecipe returns the recipe of parts, sorted by ingredient, under offered conditions.
func (c *Campaign) offeredRecipe(parts []mcmc.Part, offered []int32) recipe {
	return recipe{parts, offered, c.Problem.AppendCodes(nil, offered)}
}

// composition converts a recipe to a composition of package mcmc.
func (c *Campaign) composition(x recipe) (*mcmc.Composition, error) {
	return c.Problem.Target.Space().Composition(x.parts, x.offered)
}

// atGivenConditions returns a recipe under the conditions that are atGivenConditions about: those that are given have
// the given value, and all others that of x.
func (c *Campaign) atGivenConditions(x recipe) recipe {
	if !c.hasGiven() {
		return x
	}
	y := x.withParts(x.parts)
	y.codes = nil
	given := c.Problem.AppendCodes(nil, x.offered) // a given condition has one value
	for k := range c.Problem.Conditions {
		from, to := c.Problem.CodesOf(k)
		codes := x.codes
		if c.Problem.Conditions[k].Given {
			codes = given
		}
		for _, p := range codes {
			if p.Ingredient >= from && p.Ingredient < to {
				y.codes = append(y.codes, p)
			}
		}
	}
	return y
}

// hasGiven reports whether a condition is given.
func (c *Campaign) hasGiven() bool {
	for k := range c.Problem.Conditions {
		if c.Problem.Conditions[k].Given {
			return true
		}
	}
	return false
}

// settingDistance returns how far apart the conditions of two recipes are, from 0 to 1: the
// root of the mean square over the conditions of the difference of two numbers, as a share of
// the range that models know, or of 1 for two categories.
func (c *Campaign) settingDistance(x, y recipe) float64 {
	if len(c.Problem.Conditions) == 0 {
		return 0
	}
	sum := 0.0
	for k := range c.Problem.Conditions {
		from, to := c.Problem.CodesOf(k)
		a, b := coordinateOfCodes(x.codes, from, to), coordinateOfCodes(y.codes, from, to)
		if to-from == 1 && a.v > 0 && b.v > 0 {
			d := (a.v - b.v) / numberRange
			sum += float64(d * d)
		} else if a != b {
			sum++
		}
	}
	return math.Sqrt(sum / float64(len(c.Problem.Conditions)))
}

// numberRange is the difference of the coordinates of the greatest and the least number that
// models know of a condition.
const numberRange = 1 - compile.LeastCoordinate

// coordinateOfCodes returns the first coordinate from one further ingredient to below another.
func coordinateOfCodes(codes []mcmc.Part, from, to int) coordinate {
	for _, p := range codes {
		if p.Ingredient >= from && p.Ingredient < to {
			return coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / model.BesideTotal)}
		}
	}
	return coordinate{i: -1}
}

// isOffered reports whether the conditions of a recipe have values that may be offered.
func (c *Campaign) isOffered(x recipe) bool {
	return compareParts(x.codes, c.Problem.AppendCodes(nil, x.offered)) == 0
}

// isAtGiven reports whether a trial was made at the given value of each condition that is given:
// the same category, or a number no further away than atGiven of the range that models know.
func (c *Campaign) isAtGiven(t *trial) bool {
	asked := c.atGivenConditions(t.recipe)
	for k := range c.Problem.Conditions {
		of := &c.Problem.Conditions[k]
		if !of.Given {
			continue
		}
		from, to := c.Problem.CodesOf(k)
		a, b := coordinateOfCodes(t.codes, from, to), coordinateOfCodes(asked.codes, from, to)
		if a.i != b.i || math.Abs(a.v-b.v) > atGiven*numberRange {
			return false
		}
	}
	return true
}

// atGiven is how far from a given number a trial may be that was made at it.
const atGiven = 0.1
