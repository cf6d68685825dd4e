package book

import "slices"

// A Dose is how much of an ingredient the recipes take that use it.
type Dose struct {
	Ingredient int // an index into Book.Ingredients
	Recipes    int // that use it, at least 1

	// Least, Median and Most are units of the total that the recipes are closed
	// to, see [Book.Closure]; of an even number of recipes, Median is the lower of
	// the two in the middle.
	Least, Median, Most int
}

// Doses returns the doses of the ingredients that some recipe uses, those in most
// recipes first, and else in the order of the ingredients. The total must allow
// every recipe; see [Book.Closure].
func (b *Book) Doses(total int) ([]Dose, error) {
	of := make([][]int, b.Ingredients.Len())
	for r := range b.Recipes {
		units, err := b.Closure(r, total)
		if err != nil {
			return nil, err
		}
		for k, p := range b.Recipes[r].Parts {
			of[p.Ingredient] = append(of[p.Ingredient], units[k])
		}
	}
	var doses []Dose
	for i, units := range of {
		if n := len(units); n > 0 {
			slices.Sort(units)
			doses = append(doses, Dose{Ingredient: i, Recipes: n, Least: units[0], Median: units[(n-1)/2], Most: units[n-1]})
		}
	}
	slices.SortStableFunc(doses, func(a, b Dose) int { return b.Recipes - a.Recipes })
	return doses, nil
}
