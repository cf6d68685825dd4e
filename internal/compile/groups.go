package compile

import (
	"maps"
	"slices"

	"kir/internal/dataset"
)

// An ingredientGroup lists the ingredients that have the same value of an attribute.
type ingredientGroup struct {
	value   string
	members []int32 // indices of the ingredients that have the value
}

// groupByValue groups the ingredients by their values of an attribute, in the order of the values.
// Ingredients without a value are left out.
func groupByValue(attribute *dataset.Attribute) []ingredientGroup {
	of := make(map[string][]int32)
	for i, v := range attribute.Values {
		if v != "" {
			of[v] = append(of[v], int32(i))
		}
	}
	var groups []ingredientGroup
	for _, v := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, ingredientGroup{v, of[v]})
	}
	return groups
}
