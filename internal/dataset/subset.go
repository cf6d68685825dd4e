package dataset

import "slices"

// Subset returns a book with only some recipes of b, in the given order. The argument recipes has indices into
// Recipes. The subset has the same ingredients and labels, no notes, and no file of results.
func (b *Book) Subset(recipes []int) *Book {
	s := &Book{File: b.File, Ingredients: b.Ingredients, LongForm: b.LongForm, Transposed: b.Transposed, Shape: b.Shape}
	for _, r := range recipes {
		s.Recipes = append(s.Recipes, b.Recipes[r])
	}
	for k := range b.Labels {
		s.Labels = append(s.Labels, b.Labels[k].subset(recipes))
	}
	return s
}

// subset returns the label of some of the recipes.
func (l *Label) subset(recipes []int) Label {
	s := *l
	s.Classes, s.Counts, s.ClassOf = nil, nil, make([]int32, len(recipes))
	counts := make([]int, len(l.Classes))
	for _, r := range recipes {
		if c := l.ClassOf[r]; c >= 0 {
			counts[c]++
		}
	}
	for c, n := range counts {
		if n > 0 {
			s.Classes, s.Counts = append(s.Classes, l.Classes[c]), append(s.Counts, n)
		}
	}
	for k, r := range recipes {
		s.ClassOf[k] = -1
		if c := l.ClassOf[r]; c >= 0 {
			at, _ := slices.BinarySearch(s.Classes, l.Classes[c])
			s.ClassOf[k] = int32(at)
		}
	}
	return s
}
