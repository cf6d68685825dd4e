package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kir/internal/dataset"
)

// An IngredientOrder holds the groups and costs of ingredients, by which a table orders them.
type IngredientOrder struct {
	*dataset.Ingredients
	Group *dataset.Attribute // nil if they are in no groups
	Cost  *dataset.Attribute // of numbers; nil if it is not known
}

// NewIngredientOrder returns the order of in, which may be nil. group and cost name columns. If
// empty, they stand for the first column that groups the ingredients, and for cost, if there is
// one.
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

// GroupOf returns the group of an ingredient, empty if it has none.
func (r IngredientOrder) GroupOf(name string) string {
	if r.Group == nil {
		return ""
	}
	if i, ok := r.Index(name); ok {
		return r.Group.Values[i]
	}
	return ""
}

// CostOf returns the cost of an amount of 1 of an ingredient, NaN if unknown.
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

// Order sorts parts by groups, in the order of the ingredients' table. Within a group the largest
// amounts come first, then names decide. Parts without a group come last.
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
