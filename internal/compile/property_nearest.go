package compile

import (
	"context"
	"fmt"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/mcmc"
	"kir/property"
)

var (
	// noveltyKind is the kind of property that scores how far a composition is from known recipes.
	noveltyKind = propertyKind{PropertyKind: config.NoveltyKind, compile: withValueType(compileNearest), scoresEverySplit: isByAmounts}
	// likenessKind is the kind of property that scores how near a composition is to known recipes.
	likenessKind = propertyKind{PropertyKind: config.LikenessKind, compile: withValueType(compileNearest), scoresEverySplit: isByAmounts}
)

// isByAmounts reports whether a property of novelty or likeness compares amounts. Otherwise it compares only
// which ingredients are used.
func isByAmounts(v config.Value) bool { return v.(*config.Nearest).By.Value == config.ByAmounts }

// compileNearest makes a property that scores how far a composition is from the nearest known recipe (novelty),
// or how near it is (likeness).
func compileNearest(_ context.Context, s *readContext, v *config.Nearest, n *yaml.Node) (Property, error) {
	rows, names, err := namedRecipes(s, v, n)
	if err != nil {
		return Property{}, err
	}
	about := "far from " + names
	if v.IsLikeness() {
		about = "near " + names
	}
	if v.IsByAmounts() {
		return compileNearestByAmounts(s, v, n, rows, about)
	}
	var sets [][]int32
	for _, parts := range rows {
		sets = append(sets, usedIngredients(parts))
	}
	build := property.NewOverlapNovelty
	if v.IsLikeness() {
		build = property.NewOverlapLikeness
	}
	p, err := build(len(s.IngredientNames), sets, v.Floor.Value)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.Set("by", config.ByOverlap)
	resolved.CopyKeys(n, "to")
	resolved.Set("floor", v.Floor.Value)
	return Property{About: about + " by overlap of ingredients", mcmcProperty: p, resolvedValue: resolved}, nil
}

// compileNearestByAmounts makes a property that scores Aitchison's distance of a composition from the nearest
// of the recipes in rows. The parameter about is a description of the recipes.
func compileNearestByAmounts(s *readContext, v *config.Nearest, n *yaml.Node, rows [][]mcmc.Part, about string) (_ Property, err error) {
	o := property.DistanceOptions{Ingredients: len(s.IngredientNames), Total: s.Total, Recipes: rows, ZeroReplacement: v.Zero.Or(0.5), Scale: v.Scale.Value, Floor: v.Floor.Value}
	if v.Scale.Node == nil {
		// The scale is that of the whole book, even if only some recipes are compared.
		all := o
		all.Recipes = s.Recipes
		if o.Scale, err = property.TypicalDistance(all); err != nil {
			return Property{}, n.PlaceError(err)
		}
		if o.Scale == 0 {
			return Property{}, yaml.Hint(n.Errorf("the recipes do not tell a scale: most have an equal among the others"), "write a scale, such as 3: the distance at which likeness has fallen to 61 %%")
		}
	}
	build := property.NewDistanceNovelty
	if v.IsLikeness() {
		build = property.NewDistanceLikeness
	}
	p, err := build(o)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.Set("by", config.ByAmounts)
	resolved.CopyKeys(n, "to")
	resolved.Set("zero", o.ZeroReplacement)
	resolved.Set("scale", o.Scale)
	resolved.Set("floor", o.Floor)
	return Property{
		About:        fmt.Sprintf("%s by amounts (Aitchison distance over %.3g; none is %v units)", about, o.Scale, o.ZeroReplacement),
		mcmcProperty: p, resolvedValue: resolved,
	}, nil
}

// namedRecipes returns the recipes that compositions are compared with, and a description of these recipes. By
// default they are all known recipes.
func namedRecipes(s *readContext, v *config.Nearest, n *yaml.Node) (rows [][]mcmc.Part, names string, err error) {
	recipes := s.Book
	if recipes == nil {
		return nil, "", yaml.Hint(n.Errorf("%s is measured from recipes, and the problem has none", v.Kind), "add recipes: a CSV file")
	}
	if v.RecipeNames.Node == nil {
		return s.Recipes, "the recipes in the book", nil
	}
	if len(v.RecipeNames.Value) == 0 {
		return nil, "", yaml.Hint(v.RecipeNames.Node.Errorf("the list of recipes is empty"), "name some, or leave it out for all")
	}
	var all, chosen []string
	index := make(map[string]int, len(recipes.Recipes))
	for r := range recipes.Recipes {
		all = append(all, recipes.Recipes[r].Name)
		index[recipes.Recipes[r].Name] = r
	}
	seen := make(map[int]bool)
	for _, name := range v.RecipeNames.Value {
		r, ok := index[dataset.NormalizeName(name.Value)]
		if !ok {
			return nil, "", yaml.SuggestName(name.Node.Errorf("there is no recipe %s", name.Node.Describe()), name.Value, "there are", all, 8)
		}
		if seen[r] {
			return nil, "", yaml.Hint(name.Node.Errorf("the recipe %s is named twice", name.Node.Describe()), "name it once")
		}
		seen[r] = true
		rows = append(rows, s.Recipes[r])
		chosen = append(chosen, all[r])
	}
	const shown = 3
	names = strings.Join(chosen[:min(len(chosen), shown)], ", ")
	if len(chosen) > shown {
		names += fmt.Sprintf(" and %d more", len(chosen)-shown)
	}
	return rows, names, nil
}
