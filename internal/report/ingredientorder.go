package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kir/internal/dataset"
)

// An IngredientOrder holds the groups and costs of ingredients. Tables list ingredients by group.
type IngredientOrder struct {
	*dataset.Ingredients
	Group *dataset.Attribute // attribute that groups the ingredients; nil if there is none
	Cost  *dataset.Attribute // numeric attribute with the costs; nil if costs are unknown
}

// NewIngredientOrder returns the order of the ingredients in, which may be nil. The parameters
// group and cost name attributes. An empty group stands for the first attribute that groups the
// ingredients, and an empty cost for the attribute "cost".
func NewIngredientOrder(in *dataset.Ingredients, group, cost string) IngredientOrder {
	r := IngredientOrder{Ingredients: in}
	if in == nil {
		return r
	}
	r.Group = in.Grouping(group)
	if a, ok := in.Attribute(cmp.Or(cost, "cost")); ok {
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

// CostOf returns the cost of an amount of 1 of an ingredient; NaN if the cost is unknown.
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

// Order sorts parts by the groups of their ingredients, in the order of the ingredients' table.
// Within a group the largest amounts come first, and equal amounts by name. Parts without a group
// come last.
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
