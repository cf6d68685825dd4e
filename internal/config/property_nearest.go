package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// Names of the two kinds of property, which are the values of [Nearest.Kind].
const noveltyName, likenessName = "novelty", "likeness"

// Values of [Nearest.By].
const (
	ByOverlap = "overlap" // recipes are compared by the sets of their ingredients
	ByAmounts = "amounts" // recipes are compared by Aitchison's distance between their amounts
)

// NoveltyKind is the kind of property that scores how far a composition is from known recipes.
var NoveltyKind = PropertyKind{
	Key: schema.NewKey(noveltyName, schema.Link(noveltyName), "", "scores distance from known recipes", "{novelty: {floor: 0.01}}"),
	New: func() Value {
		return &Nearest{Kind: noveltyName, kindDescription: "`novelty` scores the distance of a recipe from known recipes."}
	},
}

// LikenessKind is the kind of property that scores how near a composition is to known recipes.
var LikenessKind = PropertyKind{
	Key: schema.NewKey(likenessName, schema.Link(likenessName), "", "scores closeness to known recipes", "{likeness: {by: amounts, to: Sour}}"),
	New: func() Value {
		return &Nearest{Kind: likenessName, kindDescription: "`likeness` scores how near a recipe is to known recipes."}
	},
}

// A Nearest is the value of a property that compares compositions with known recipes. It has one of these forms:
//
//	novelty: {to: [Sour, Cobbler], floor: 0.01}
//	likeness: {by: amounts, zero: 0.1, scale: 3}
type Nearest struct {
	By          Written[string] // how recipes are compared: [ByOverlap] or [ByAmounts]
	RecipeNames Texts           // names of the recipes to compare with; empty means all
	Zero        Written[float64]
	Scale       Written[float64]
	Floor       Written[float64]

	Kind            string // "novelty" if compositions far from the recipes are better; "likeness" if near compositions are better
	kindDescription string // description of the kind in the reference documentation
}

// IsByAmounts reports whether recipes are compared by amounts rather than by their sets of ingredients.
func (v *Nearest) IsByAmounts() bool { return v.By.Value == ByAmounts }

// IsLikeness reports whether compositions near to the recipes are better than compositions far from the
// recipes.
func (v *Nearest) IsLikeness() bool { return v.Kind == likenessName }

// Sections implements [Value].
func (v *Nearest) Sections() schema.Sections {
	return schema.Sections{{
		Name: v.Kind, ID: v.Kind, About: v.kindDescription,
		Keys: []schema.Key{
			newKey("by", schema.Choice(ByOverlap, ByAmounts), "`overlap`", "`overlap` compares only which ingredients are used; `amounts` uses Aitchison's distance", "{by: amounts}", decodingReader(&v.By, v.decodeBy)),
			newKey("to", schema.OneOrMore(schema.Text("recipe"), 1), "all known recipes", "the recipes to compare with", "{to: [Sour, Cobbler]}", textsReader(&v.RecipeNames, "a recipe")),
			newKey("zero", schema.Between(1e-6, 1), "0.5", "with `by: amounts`, number of units that replaces an amount of 0", "{by: amounts, zero: 0.1}", decodingReader(&v.Zero, v.decodeZero)),
			newKey("scale", schema.Above(0), "median distance between nearest neighbours", "with `by: amounts`, the distance at which the likeness is 61 %", "{by: amounts, scale: 3}", decodingReader(&v.Scale, v.decodeScale)),
			newFloorKey(&v.Floor, "{floor: 0.01}"),
		},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"anyOf": []schema.Object{{"required": []string{"zero"}}, {"required": []string{"scale"}}}}},
			{"required": []string{"by"}, "properties": schema.Object{"by": schema.Object{"const": ByAmounts}}},
		}}},
	}}
}

// Decode implements [Value].
func (v *Nearest) Decode(n *yaml.Node) error { return v.Sections()[0].Decode(n) }

func (v *Nearest) decodeBy(n *yaml.Node) (string, error) {
	by, err := n.Str("by")
	if err == nil && by != ByOverlap && by != ByAmounts {
		err = yaml.Hint(n.Errorf("%s is by %s", v.Kind, n.Describe()), "write overlap, for the ingredients, or amounts")
	}
	return by, err
}

func (v *Nearest) decodeZero(n *yaml.Node) (float64, error) {
	if err := v.requireByAmounts(n, "zero"); err != nil {
		return 0, err
	}
	zero, err := n.Float("zero")
	if err == nil && (zero < 1e-6 || zero > 1) {
		err = yaml.Hint(n.Errorf("zero is %s units", n.Describe()), "it stands in place of an amount of 0: write from 0.000001 to 1")
	}
	return zero, err
}

func (v *Nearest) decodeScale(n *yaml.Node) (float64, error) {
	if err := v.requireByAmounts(n, "scale"); err != nil {
		return 0, err
	}
	scale, err := n.Float("the scale")
	if err == nil && scale <= 0 {
		err = yaml.Hint(n.Errorf("the scale is %s", n.Describe()), "it must be above 0: the distance at which likeness has fallen to 61 %%")
	}
	return scale, err
}

// requireByAmounts returns an error if recipes are not compared by amounts. The key at the node n then has no
// meaning.
func (v *Nearest) requireByAmounts(n *yaml.Node, key string) error {
	if v.IsByAmounts() {
		return nil
	}
	return yaml.Hint(n.Errorf("%s is for distances by amounts, and this is by overlap", key), "remove it, or write by: amounts")
}
