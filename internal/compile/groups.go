package compile

import (
	"maps"
	"slices"

	"kir/internal/dataset"
)

// A group is the ingredients with one value of an attribute.
type group struct {
	value   string
	members []int32
}

// groups returns the ingredients grouped by their values of an attribute, in the order of the values.
// Ingredients without a value are left out.
func groups(attribute *dataset.Attribute) []group {
	of := make(map[string][]int32)
	for i, v := range attribute.Values {
		if v != "" {
			of[v] = append(of[v], int32(i))
		}
	}
	var groups []group
	for _, v := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, group{v, of[v]})
	}
	return groups
}
