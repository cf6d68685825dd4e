package problem

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"kir"
	"kir/fault"
	"kir/property"
	"kir/recipe"
)

// set returns the ingredients of a recipe.
func set(parts []kir.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}

// nearest reads novelty or likeness: how far from, or near to, known recipes a
// composition is.
func (l *loader) nearest(n *node, likes bool) (Property, error) {
	kind := "novelty"
	if likes {
		kind = "likeness"
	}
	f, err := n.fields(kind, "by", "to", "zero", "scale", "floor")
	if err != nil {
		return Property{}, err
	}
	rows, names, err := l.known(n, f["to"], kind)
	if err != nil {
		return Property{}, err
	}
	least, err := floor(f)
	if err != nil {
		return Property{}, err
	}
	by := "overlap"
	if v := f["by"]; v != nil {
		if by, err = v.str("by"); err != nil {
			return Property{}, err
		}
		if by != "overlap" && by != "amounts" {
			return Property{}, hint(v.errorf("%s is by %s", kind, v.shown()), "write overlap, for the ingredients, or amounts")
		}
	}
	about := map[bool]string{true: "near", false: "far from"}[likes] + " " + names
	var s settings
	s.set("by", by)
	s.keep(f, "to")
	if by == "overlap" {
		for _, key := range []string{"zero", "scale"} {
			if f[key] != nil {
				return Property{}, hint(f[key].errorf("%s is for distances by amounts, and this is by overlap", key), "remove it, or write by: amounts")
			}
		}
		var sets [][]int32
		for _, parts := range rows {
			sets = append(sets, set(parts))
		}
		build := property.NewNovelty
		if likes {
			build = property.NewLikeness
		}
		p, err := build(len(l.problem.Ingredients), sets, least)
		if err != nil {
			return Property{}, n.blame(err)
		}
		s.set("floor", least)
		return Property{About: about + " by overlap of ingredients", property: p, settings: yaml.MapSlice(s)}, nil
	}
	o := property.DistanceOptions{Ingredients: len(l.problem.Ingredients), Total: l.problem.Total, Recipes: rows, Zero: 0.5, Floor: least}
	if v := f["zero"]; v != nil {
		if o.Zero, err = v.float("zero"); err != nil {
			return Property{}, err
		}
		if o.Zero < 1e-6 || o.Zero > 1 {
			return Property{}, hint(v.errorf("zero is %s units", v.shown()), "it stands in place of an amount of 0: write from 0.000001 to 1")
		}
	}
	if v := f["scale"]; v != nil {
		if o.Scale, err = v.float("the scale"); err != nil {
			return Property{}, err
		}
		if o.Scale <= 0 {
			return Property{}, hint(v.errorf("the scale is %s", v.shown()), "it must be above 0: the distance at which likeness has fallen to 61 %%")
		}
	} else {
		// The scale of the whole book, whichever recipes are compared with.
		all := o
		all.Recipes = l.rows
		if o.Scale, err = property.TypicalDistance(all); err != nil {
			return Property{}, n.blame(err)
		}
		if o.Scale == 0 {
			return Property{}, hint(n.errorf("the recipes do not tell a scale: most have an equal among the others"), "write a scale, such as 3: the distance at which likeness has fallen to 61 %%")
		}
	}
	build := property.NewFar
	if likes {
		build = property.NewNear
	}
	p, err := build(o)
	if err != nil {
		return Property{}, n.blame(err)
	}
	s.set("zero", o.Zero)
	s.set("scale", o.Scale)
	s.set("floor", least)
	return Property{
		About:    fmt.Sprintf("%s by amounts (Aitchison distance over %.3g; none is %v units)", about, o.Scale, o.Zero),
		property: p, settings: yaml.MapSlice(s),
	}, nil
}

// known returns the recipes that are named, or all, and how to call them.
func (l *loader) known(n, to *node, kind string) (rows [][]kir.Part, names string, err error) {
	book := l.problem.Book
	if book == nil {
		return nil, "", hint(n.errorf("%s is measured from recipes, and the problem has none", kind), "add recipes: a CSV file")
	}
	if to == nil {
		return l.rows, "the recipes in the book", nil
	}
	items := []*node{to}
	if to.kind == sequence {
		items = to.items
	}
	if len(items) == 0 {
		return nil, "", hint(to.errorf("the list of recipes is empty"), "name some, or leave it out for all")
	}
	var all, chosen []string
	index := make(map[string]int, len(book.Recipes))
	for r := range book.Recipes {
		all = append(all, book.Recipes[r].Name)
		index[book.Recipes[r].Name] = r
	}
	seen := make(map[int]bool)
	for _, item := range items {
		name, err := item.str("a recipe")
		if err != nil {
			return nil, "", err
		}
		r, ok := index[recipe.Name(name)]
		if !ok {
			e := item.errorf("there is no recipe %s", item.shown())
			if near := fault.DidYouMean(name, all); near != "" {
				return nil, "", hint(e, "%s", near)
			}
			return nil, "", hint(e, "there are %s", fault.List(all, 8))
		}
		if seen[r] {
			return nil, "", hint(item.errorf("the recipe %s is named twice", item.shown()), "name it once")
		}
		seen[r] = true
		rows = append(rows, l.rows[r])
		chosen = append(chosen, all[r])
	}
	const most = 3
	names = strings.Join(chosen[:min(len(chosen), most)], ", ")
	if len(chosen) > most {
		names += fmt.Sprintf(" and %d more", len(chosen)-most)
	}
	return rows, names, nil
}
