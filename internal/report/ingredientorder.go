package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kir/internal/dataset"
)

// An IngredientOrder says in which order tables list ingredients: by group. It also holds their
// costs.
type IngredientOrder struct {
	*dataset.Ingredients
	Group *dataset.Attribute // attribute that groups the ingredients; nil if there is none
	Cost  *dataset.Attribute // numeric attribute with the costs; nil if costs are unknown
}

// NewIngredientOrder returns the order of the given ingredients, which may be nil. The parameters
// groupName and costName name attributes of the ingredients. If groupName is empty, the first
// attribute that groups the ingredients is used. If costName is empty, the attribute "cost" is
// used.
func NewIngredientOrder(ingredients *dataset.Ingredients, groupName, costName string) IngredientOrder {
	r := IngredientOrder{Ingredients: ingredients}
	if ingredients == nil {
		return r
	}
	r.Group = ingredients.Grouping(groupName)
	if a, ok := ingredients.Attribute(cmp.Or(costName, "cost")); ok {
		if _, err := a.Numbers(); err == nil {
			r.Cost = a
		}
	}
	return r
}

// GroupOf returns the group of an ingredient; empty if the ingredient has no group.
func (r IngredientOrder) GroupOf(name string) string {
	if r.Group == nil {
		return ""
	}
	if i, ok := r.Index(name); ok {
		return r.Group.Values[i]
	}
	return ""
}

// CostOf returns the cost of one unit of amount of an ingredient; NaN if the cost is unknown.
func (r IngredientOrder) CostOf(name string) float64 {
	if r.Cost == nil {
		return math.NaN()
	}
	i, ok := r.Index(name)
	values, err := r.Cost.Numbers()
	if !ok || err != nil {
		return math.NaN()
	}
	return values[i]
}

// Order sorts the parts of a recipe by the groups of their ingredients. The groups have the order
// of the ingredients' table. Within a group the largest amounts come first, and equal amounts are
// ordered by name. Parts without a group come last.
func (r IngredientOrder) Order(parts []Part) {
	place := func(p Part) int {
		group := r.GroupOf(p.Ingredient)
		if group == "" {
			return math.MaxInt
		}
		return slices.Index(r.Group.Values, group)
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(b.Amount, a.Amount), strings.Compare(a.Ingredient, b.Ingredient))
	})
}
