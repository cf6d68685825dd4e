package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// Values of [Nearest.Kind].
const novelty, likeness = "novelty", "likeness"

// Values of [Nearest.By].
const (
	ByOverlap = "overlap" // of the ingredients
	ByAmounts = "amounts" // Aitchison's distance
)

// NoveltyKind is how far a composition is from known recipes.
var NoveltyKind = PropertyKind{
	Key: schema.NewKey(novelty, schema.Link(novelty), "", "far from known recipes", "{novelty: {floor: 0.01}}"),
	New: func() Value { return &Nearest{Kind: novelty, about: "How far from known recipes a composition is."} },
}

// LikenessKind is how near a composition is to known recipes.
var LikenessKind = PropertyKind{
	Key: schema.NewKey(likeness, schema.Link(likeness), "", "near to known recipes", "{likeness: {by: amounts, to: Sour}}"),
	New: func() Value { return &Nearest{Kind: likeness, about: "How near to known recipes a composition is."} },
}

// A Nearest is one of
//
//	novelty: {to: [Sour, Cobbler], floor: 0.01}
//	likeness: {by: amounts, zero: 0.1, scale: 3}
type Nearest struct {
	By    Written[string] // ByOverlap or ByAmounts
	To    Texts           // names of recipes; all if the file names none
	Zero  Written[float64]
	Scale Written[float64]
	Floor Written[float64]

	Kind  string // "novelty", or "likeness" if near to the recipes is better
	about string
}

// IsByAmounts reports whether recipes are compared by amounts, rather than by overlap.
func (v *Nearest) IsByAmounts() bool { return v.By.Value == ByAmounts }

// IsLikeness reports whether compositions near to the recipes are better than those far from them.
func (v *Nearest) IsLikeness() bool { return v.Kind == likeness }

// Sections implements [Value].
func (v *Nearest) Sections() schema.Sections {
	return schema.Sections{{
		Name: v.Kind, ID: v.Kind, About: v.about,
		Keys: []schema.Key{
			key("by", schema.Choice(ByOverlap, ByAmounts), "`overlap`", "ingredients alone, or amounts (Aitchison's distance)", "{by: amounts}", decodeWith(&v.By, v.decodeBy)),
			key("to", schema.OneOrMore(schema.Text("recipe"), 1), "all in the book", "which recipes", "{to: [Sour, Cobbler]}", asTexts(&v.To, "a recipe")),
			key("zero", schema.Between(1e-6, 1), "0.5", "by amounts: units that stand in place of 0", "{by: amounts, zero: 0.1}", decodeWith(&v.Zero, v.decodeZero)),
			key("scale", schema.Above(0), "the median distance to the nearest other", "by amounts: the distance at which likeness has fallen to 61 %", "{by: amounts, scale: 3}", decodeWith(&v.Scale, v.decodeScale)),
			floorKey(&v.Floor, "{floor: 0.01}"),
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
	if err := v.requireAmounts(n, "zero"); err != nil {
		return 0, err
	}
	zero, err := n.Float("zero")
	if err == nil && (zero < 1e-6 || zero > 1) {
		err = yaml.Hint(n.Errorf("zero is %s units", n.Describe()), "it stands in place of an amount of 0: write from 0.000001 to 1")
	}
	return zero, err
}

func (v *Nearest) decodeScale(n *yaml.Node) (float64, error) {
	if err := v.requireAmounts(n, "scale"); err != nil {
		return 0, err
	}
	scale, err := n.Float("the scale")
	if err == nil && scale <= 0 {
		err = yaml.Hint(n.Errorf("the scale is %s", n.Describe()), "it must be above 0: the distance at which likeness has fallen to 61 %%")
	}
	return scale, err
}

// requireAmounts returns an error for the value of a key that has no meaning by overlap.
func (v *Nearest) requireAmounts(n *yaml.Node, key string) error {
	if v.IsByAmounts() {
		return nil
	}
	return yaml.Hint(n.Errorf("%s is for distances by amounts, and this is by overlap", key), "remove it, or write by: amounts")
}
