package problem

import (
	"context"
	"fmt"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/mcmc"
	"kir/property"
)

var (
	noveltyKind  = nearestKind("novelty", "far from known recipes", "{novelty: {floor: 0.01}}", "How far from known recipes a composition is.", false)
	likenessKind = nearestKind("likeness", "near to known recipes", "{likeness: {by: amounts, to: Sour}}", "How near to known recipes a composition is.", true)
)

// nearestKind returns the property kind of novelty, or of likeness if likes is true.
func nearestKind(name, is, example, about string, likes bool) propertyKind {
	return propertyKind{
		PropertyKind: config.PropertyKind{Key: newKey(name, schema.Link(name), "", is, example)},
		Sections: schema.Sections{{
			Name: name, ID: name, About: about,
			Keys: []schema.Key{
				newKey("by", schema.Choice("overlap", "amounts"), "`overlap`", "ingredients alone, or amounts (Aitchison's distance)", "{by: amounts}"),
				newKey("to", schema.OneOrMore(schema.Text("recipe"), 1), "all in the book", "which recipes", "{to: [Sour, Cobbler]}"),
				newKey("zero", schema.Between(1e-6, 1), "0.5", "by amounts: units that stand in place of 0", "{by: amounts, zero: 0.1}"),
				newKey("scale", schema.Above(0), "the median distance to the nearest other", "by amounts: the distance at which likeness has fallen to 61 %", "{by: amounts, scale: 3}"),
				floorKey("{floor: 0.01}"),
			},
			Extra: []schema.Object{{"anyOf": []schema.Object{
				{"not": schema.Object{"anyOf": []schema.Object{{"required": []string{"zero"}}, {"required": []string{"scale"}}}}},
				{"required": []string{"by"}, "properties": schema.Object{"by": schema.Object{"const": "amounts"}}},
			}}},
		}},
		read: func(_ context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
			return readNearest(s, n, f, name, likes)
		},
		scoredBySplit: isByAmounts,
	}
}

// isByAmounts reports whether novelty or likeness compares amounts, not only ingredients.
func isByAmounts(n *yaml.Node) bool {
	by := n.Get("by")
	return by != nil && by.Text == "amounts"
}

// readNearest reads novelty or likeness: how far a composition is from known recipes, or how near.
func readNearest(s *readContext, n *yaml.Node, f fields, kind string, likes bool) (Property, error) {
	rows, names, err := namedRecipes(s, n, f["to"], kind)
	if err != nil {
		return Property{}, err
	}
	least, err := readFloor(f)
	if err != nil {
		return Property{}, err
	}
	by := "overlap"
	if v := f["by"]; v != nil {
		if by, err = v.Str("by"); err != nil {
			return Property{}, err
		}
		if by != "overlap" && by != "amounts" {
			return Property{}, yaml.Hint(v.Errorf("%s is by %s", kind, v.Describe()), "write overlap, for the ingredients, or amounts")
		}
	}
	about := map[bool]string{true: "near", false: "far from"}[likes] + " " + names
	var resolved yaml.Map
	resolved.Set("by", by)
	resolved.CopyKeys(n, "to")
	if by == "overlap" {
		for _, key := range []string{"zero", "scale"} {
			if f[key] != nil {
				return Property{}, yaml.Hint(f[key].Errorf("%s is for distances by amounts, and this is by overlap", key), "remove it, or write by: amounts")
			}
		}
		var sets [][]int32
		for _, parts := range rows {
			sets = append(sets, ingredientsUsed(parts))
		}
		build := property.NewNovelty
		if likes {
			build = property.NewLikeness
		}
		p, err := build(len(s.Names), sets, least)
		if err != nil {
			return Property{}, n.PlaceError(err)
		}
		resolved.Set("floor", least)
		return Property{About: about + " by overlap of ingredients", property: p, resolved: resolved}, nil
	}
	o := property.DistanceOptions{Ingredients: len(s.Names), Total: s.Total, Recipes: rows, Zero: 0.5, Floor: least}
	if v := f["zero"]; v != nil {
		if o.Zero, err = v.Float("zero"); err != nil {
			return Property{}, err
		}
		if o.Zero < 1e-6 || o.Zero > 1 {
			return Property{}, yaml.Hint(v.Errorf("zero is %s units", v.Describe()), "it stands in place of an amount of 0: write from 0.000001 to 1")
		}
	}
	if v := f["scale"]; v != nil {
		if o.Scale, err = v.Float("the scale"); err != nil {
			return Property{}, err
		}
		if o.Scale <= 0 {
			return Property{}, yaml.Hint(v.Errorf("the scale is %s", v.Describe()), "it must be above 0: the distance at which likeness has fallen to 61 %%")
		}
	} else {
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
	build := property.NewFar
	if likes {
		build = property.NewNear
	}
	p, err := build(o)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	resolved.Set("zero", o.Zero)
	resolved.Set("scale", o.Scale)
	resolved.Set("floor", least)
	return Property{
		About:    fmt.Sprintf("%s by amounts (Aitchison distance over %.3g; none is %v units)", about, o.Scale, o.Zero),
		property: p, resolved: resolved,
	}, nil
}

// namedRecipes returns the recipes that a property names, or all by default, and a description.
func namedRecipes(s *readContext, n, to *yaml.Node, kind string) (rows [][]mcmc.Part, names string, err error) {
	recipes := s.Book
	if recipes == nil {
		return nil, "", yaml.Hint(n.Errorf("%s is measured from recipes, and the problem has none", kind), "add recipes: a CSV file")
	}
	if to == nil {
		return s.Recipes, "the recipes in the book", nil
	}
	items := to.ItemsOrSelf()
	if len(items) == 0 {
		return nil, "", yaml.Hint(to.Errorf("the list of recipes is empty"), "name some, or leave it out for all")
	}
	var all, chosen []string
	index := make(map[string]int, len(recipes.Recipes))
	for r := range recipes.Recipes {
		all = append(all, recipes.Recipes[r].Name)
		index[recipes.Recipes[r].Name] = r
	}
	seen := make(map[int]bool)
	for _, item := range items {
		name, err := item.Str("a recipe")
		if err != nil {
			return nil, "", err
		}
		r, ok := index[dataset.NormalizeName(name)]
		if !ok {
			return nil, "", yaml.SuggestName(item.Errorf("there is no recipe %s", item.Describe()), name, "there are", all, 8)
		}
		if seen[r] {
			return nil, "", yaml.Hint(item.Errorf("the recipe %s is named twice", item.Describe()), "name it once")
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
