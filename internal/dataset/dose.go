package dataset

import "slices"

// A Dose summarises the amounts of one ingredient in the recipes that use the ingredient.
type Dose struct {
	Ingredient  int // index into the Names of Book.Ingredients
	RecipeCount int // number of recipes that use the ingredient, at least 1

	// Least, Median and MaxUnits are the minimum, the median and the maximum of the amounts, in whole
	// units of the total to which [Book.Closure] scales each recipe. For an even number of recipes,
	// Median is the lower of the two middle values.
	MinUnits, MedianUnits, MaxUnits int
}

// Doses returns one [Dose] for each ingredient that a recipe uses. Ingredients used by more recipes
// come first; ties keep the order of the ingredients. total is the number of units to which the
// recipes are scaled. It must be at least the number of ingredients of every recipe; see
// [Book.Closure].
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
			doses = append(doses, Dose{Ingredient: i, RecipeCount: n, MinUnits: units[0], MedianUnits: units[(n-1)/2], MaxUnits: units[n-1]})
		}
	}
	slices.SortStableFunc(doses, func(a, b Dose) int { return b.RecipeCount - a.RecipeCount })
	return doses, nil
}
