package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// PreferenceKind is the kind of property that is learnt from comparisons of two recipes.
var PreferenceKind = PropertyKind{
	Key: schema.NewKey("preference", schema.Link("preference"), "", "learns from comparisons of two recipes", "{preference: {pairs: tasted.csv}}"),
	New: func() Value { return new(Preference) },
}

// maxComparisons is the maximum number of comparisons, the same as in package property.
const maxComparisons = 500

// A Preference is the value of a property that is learnt from comparisons of two recipes:
//
//	preference: {pairs: tasted.csv, groups: kind, first: 20}
type Preference struct {
	Pairs  *yaml.Node      // name of the file of comparisons
	Groups Written[string] // name of an attribute; the totals of ingredients with equal values influence the preference too
	First  Written[int]    // number of comparisons that are used, counted from the beginning of the file
}

// Sections implements [Value].
func (p *Preference) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a preference", ID: "preference", About: "`preference` learns a taste from comparisons of two recipes, such as those of [kir serve](serve.md).",
		Keys: []schema.Key{
			newKey("pairs", schema.Text("file"), "", "a CSV file with the columns pair, choice (better or worse), ingredient, amount", "{pairs: tasted.csv}", nodeReader(&p.Pairs)),
			newKey("groups", schema.Text("attribute"), "", "attribute whose groups' total amounts are further features of a recipe", "{pairs: tasted.csv, groups: family}", textReader(&p.Groups, "the attribute of the groups")),
			newKey("first", schema.Integer(1, maxComparisons), "all", "number of pairs that kir uses from the start of the file", "{pairs: tasted.csv, first: 1}", wholeReader(&p.First, "first", 1, maxComparisons)),
		},
		Required: []string{"pairs"},
	}}
}

// Decode implements [Value].
func (p *Preference) Decode(n *yaml.Node) error {
	if err := n.Require("the preference", "write {pairs: tasted.csv}", "pairs"); err != nil {
		return err
	}
	return p.Sections()[0].Decode(n)
}
