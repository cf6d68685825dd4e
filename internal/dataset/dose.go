package dataset

import "slices"

// A Dose summarises the amounts of an ingredient in the recipes that use it.
type Dose struct {
	Ingredient int // an index into Book.Ingredients
	Recipes    int // number of recipes that use it, at least 1

	// Least, Median and Most are units of the total to which the recipes are closed, see
	// [Book.Closure]. For an even number of recipes, Median is the lower of the two middle values.
	Least, Median, Most int
}

// Doses returns the doses of the used ingredients. Those in most recipes come first; ties are in
// the order of the ingredients. The total must allow every recipe; see [Book.Closure].
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
