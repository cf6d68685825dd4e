package assemble

import (
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/recipemap"
	"kir/internal/report"
	"kir/mcmc"
	"kir/rule"
)

// The largest numbers of draws and of known recipes that pictures show as points.
const maxShownDraws, maxShownKnown = 200, 500

// recipePoints are the recipes that pictures show as points.
type recipePoints struct {
	problem *compile.Problem
	draws   [][]mcmc.Part
	known   [][]mcmc.Part
	names   []string // item k is the name of known[k]
	best    [][]mcmc.Part
}

// newRecipePoints returns the recipes that the pictures of a report show as points.
func newRecipePoints(p *compile.Problem, m *report.Model, draws []*mcmc.Composition) (*recipePoints, error) {
	out := &recipePoints{problem: p}
	for k := 0; k < len(draws); k += evenStride(len(draws), maxShownDraws) {
		out.draws = append(out.draws, draws[k].Parts())
	}
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	for k := 0; k < len(known); k += evenStride(len(known), maxShownKnown) {
		out.known, out.names = append(out.known, known[k].Parts()), append(out.names, p.Book.Recipes[k].Name)
	}
	indices := make(map[string]int, len(p.Ingredients))
	for i, name := range p.Ingredients {
		indices[name] = i
	}
	for _, b := range m.Best {
		var parts []mcmc.Part
		for _, part := range b.Parts() {
			parts = append(parts, mcmc.Part{Ingredient: indices[part.Ingredient], Amount: part.Amount})
		}
		out.best = append(out.best, parts)
	}
	return out, nil
}

// newMap places the recipes in a plane. It returns nil if the draws do not differ enough for that.
func (r *recipePoints) newMap() *report.RecipeMap {
	axes, at := recipemap.Place(slices.Concat(r.draws, r.known, r.best), len(r.draws), len(r.problem.Ingredients))
	if axes == nil {
		return nil
	}
	m := &report.RecipeMap{Explained: report.Number(axes.ExplainedVariance), Draws: [][2]report.Number{}, Known: []report.MappedKnown{}, Best: [][2]report.Number{}}
	for k, xy := range at {
		point := [2]report.Number{roundCoordinate(xy[0]), roundCoordinate(xy[1])}
		switch place := k - len(r.draws); {
		case place < 0:
			m.Draws = append(m.Draws, point)
		case place < len(r.known):
			m.Known = append(m.Known, report.MappedKnown{Recipe: r.names[place], At: point})
		default:
			m.Best = append(m.Best, point)
		}
	}
	for a, ends := range [2][2]*[]string{{&m.Left, &m.Right}, {&m.Lower, &m.Upper}} {
		for e, to := range ends {
			*to = []string{}
			for _, i := range axes.ExtremeIngredients(a, e == 1) {
				*to = append(*to, r.problem.Ingredients[i])
			}
		}
	}
	return m
}

// newTernary returns the shares of three ingredients or groups in the recipes. It returns nil unless
// the problem has three ingredients, or its rules use three groups of an attribute.
func (r *recipePoints) newTernary() *report.Ternary {
	corners, cornerOf, ok := ternaryCorners(r.problem)
	if !ok {
		return nil
	}
	t := &report.Ternary{Corners: corners, Draws: [][3]report.Number{}, Known: []report.TernaryKnown{}, Best: [][3]report.Number{}}
	for _, parts := range r.draws {
		t.Draws = append(t.Draws, ternaryShares(parts, cornerOf))
	}
	for k, parts := range r.known {
		t.Known = append(t.Known, report.TernaryKnown{Recipe: r.names[k], Shares: ternaryShares(parts, cornerOf)})
	}
	for _, parts := range r.best {
		t.Best = append(t.Best, ternaryShares(parts, cornerOf))
	}
	return t
}

// ternaryCorners returns the names of the corners of a ternary plot, and a map from the index of an
// ingredient to its corner. The result ok is false if the problem has no three things to show.
func ternaryCorners(p *compile.Problem) (corners [3]string, cornerOf map[int]int, ok bool) {
	if len(p.Ingredients) == 3 {
		return [3]string(p.Ingredients), map[int]int{0: 0, 1: 1, 2: 2}, true
	}
	attributes := p.Attributes()
	if attributes == nil {
		return corners, nil, false
	}
	groups := ruledGroups(p)
	for k := range attributes.Attributes {
		a := &attributes.Attributes[k]
		if _, err := a.Numbers(); err == nil {
			continue
		}
		if names, members := groupsOfAttribute(a, groups); len(names) == len(corners) {
			cornerOf = make(map[int]int)
			for c, indices := range members {
				for _, i := range indices {
					cornerOf[i] = c
				}
			}
			return [3]string(names), cornerOf, true
		}
	}
	return corners, nil, false
}

// ruledGroups returns the groups of ingredients whose amounts the rules of a problem limit, each as
// ascending indices.
func ruledGroups(p *compile.Problem) (groups [][]int) {
	add := func(of []int) {
		if len(of) > 0 {
			sorted := slices.Clone(of)
			slices.Sort(sorted)
			groups = append(groups, sorted)
		}
	}
	for _, demand := range p.Rules {
		for _, r := range demand.Rules {
			switch r := r.(type) {
			case rule.Group:
				add(r.Of)
			case rule.Ratio:
				add(r.Of)
				add(r.To)
			}
		}
	}
	return groups
}

// groupsOfAttribute returns the values of an attribute whose ingredients are one of the given
// groups, in the order of the table, and the indices of their ingredients.
func groupsOfAttribute(a *dataset.Attribute, groups [][]int) (names []string, members [][]int) {
	var order []string
	byValue := make(map[string][]int)
	for i, v := range a.Values {
		if v == "" {
			continue
		}
		if byValue[v] == nil {
			order = append(order, v)
		}
		byValue[v] = append(byValue[v], i)
	}
	for _, v := range order {
		if slices.ContainsFunc(groups, func(g []int) bool { return slices.Equal(g, byValue[v]) }) {
			names, members = append(names, v), append(members, byValue[v])
		}
	}
	return names, members
}

// ternaryShares returns the shares of the three corners in their sum. The parameter cornerOf maps
// the index of an ingredient to its corner. The shares are unknown if the recipe has none of the
// three.
func ternaryShares(parts []mcmc.Part, cornerOf map[int]int) [3]report.Number {
	var sums [3]int
	for _, part := range parts {
		if c, ok := cornerOf[part.Ingredient]; ok {
			sums[c] += part.Amount
		}
	}
	whole := sums[0] + sums[1] + sums[2]
	if whole == 0 {
		unknown := report.UnknownNumber()
		return [3]report.Number{unknown, unknown, unknown}
	}
	var shares [3]report.Number
	for c, sum := range sums {
		shares[c] = roundCoordinate(float64(sum) / float64(whole))
	}
	return shares
}

// roundCoordinate rounds a coordinate to 4 decimals, which is finer than any picture.
func roundCoordinate(v float64) report.Number { return report.Number(math.Round(v*1e4) / 1e4) }
