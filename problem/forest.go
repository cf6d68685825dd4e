package problem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/fault"
	"kir/forest"
	"kir/recipe"
)

// ForestFeatures returns what the splits of a forest test if that is more than
// the amounts of the ingredients: with totals, also the total of the ingredients
// with each value of these attributes; with presence, also whether an
// ingredient, or any with such a value, is used at all. An attribute that the
// ingredients do not have is a [fault.Error].
func ForestFeatures(in *recipe.Ingredients, totals []string, presence bool) ([]forest.Feature, error) {
	var by []*recipe.Attribute
	for _, name := range totals {
		a, ok := in.Attribute(name)
		if !ok {
			var names []string
			for k := range in.Attributes {
				names = append(names, in.Attributes[k].Name)
			}
			e := &fault.Error{File: in.File, Message: "the ingredients have no attribute " + fault.Quote(name), Hint: fault.DidYouMean(name, names)}
			if e.Hint == "" && len(names) > 0 {
				e.Hint = "they have " + fault.List(names, 12)
			}
			return nil, e
		}
		if !slices.Contains(by, a) {
			by = append(by, a)
		}
	}
	return forestFeatures(in.Names, by, presence)
}

func forestFeatures(ingredients []string, by []*recipe.Attribute, presence bool) (features []forest.Feature, err error) {
	for i, name := range ingredients {
		features = append(features, forest.Feature{Name: name, Ingredients: []int32{int32(i)}})
	}
	for _, a := range by {
		for _, g := range groups(a) {
			features = append(features, forest.Feature{Name: "total of " + a.Name + " " + g.value, Ingredients: g.of})
		}
	}
	if presence {
		for _, p := range slices.Clone(features) {
			features = append(features, forest.Feature{Name: "presence of " + strings.TrimPrefix(p.Name, "total of "), Ingredients: p.Ingredients, Presence: true})
		}
	}
	seen := make(map[string]bool, len(features))
	for _, p := range features {
		if seen[p.Name] {
			return nil, &fault.Error{Message: "the forest would have two features named " + fault.Quote(p.Name), Hint: "rename an ingredient or an attribute"}
		}
		seen[p.Name] = true
	}
	return features, nil
}

// GrowForest grows a forest that predicts a label of a book's recipes from
// their closure to total units: its classes, or its numbers. Recipes without
// the label are left out. Splits test the features, see [ForestFeatures], or if
// these are nil the amounts of the ingredients.
func GrowForest(ctx context.Context, book *recipe.Book, label *recipe.Label, total int, numeric bool, features []forest.Feature, o forest.Options) (*forest.Forest, error) {
	data, err := forestData(book, label, total, numeric, features)
	if err != nil {
		return nil, err
	}
	return forest.Grow(ctx, data, o)
}

// forestData returns what a forest of a label learns from: the recipes that have
// it, closed to total units, in the book's order.
func forestData(book *recipe.Book, label *recipe.Label, total int, numeric bool, features []forest.Feature) (*forest.Data, error) {
	data := &forest.Data{Label: label.Name, Ingredients: book.Ingredients.Names, Total: total, Features: features}
	var numbers []float64
	var err error
	if numeric {
		if numbers, err = label.Numbers(); err != nil {
			return nil, err
		}
	}
	for r := range book.Recipes {
		if label.Of[r] < 0 {
			continue
		}
		amounts, err := book.Closure(r, total)
		if err != nil {
			return nil, err
		}
		parts := make([]forest.Part, len(amounts))
		for k, p := range book.Recipes[r].Parts {
			parts[k] = forest.Part{Ingredient: p.Ingredient, Amount: int32(amounts[k])}
		}
		data.Rows = append(data.Rows, parts)
		if numeric {
			data.Numbers = append(data.Numbers, numbers[r])
		} else {
			data.Classes = append(data.Classes, label.Value(r))
		}
	}
	if len(data.Rows) == 0 {
		return nil, &fault.Error{File: book.File, Message: fmt.Sprintf("no recipe has a value of the label %s", fault.Quote(label.Name)), Hint: "fill in the column"}
	}
	return data, nil
}
