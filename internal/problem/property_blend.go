package problem

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

var blendKind = propertyKind{
	PropertyKind:  config.PropertyKind{Key: newKey("blend", schema.Link("blend"), "", "a mean of an attribute", "{blend: {attribute: cost, smaller: {from: 5, to: 30}}}")},
	Sections:      blendSections,
	read:          readBlend,
	scoredBySplit: alwaysBySplit,
	hasDirections: true,
}

// blendSections describe a blend and the directions of its mean.
var blendSections = schema.Sections{
	{
		Name: "a blend", ID: "blend",
		About: "An attribute and one way in which its mean is desirable. [properties.md](properties.md#objectives) says what `maximize` and `minimize` score.",
		Keys: []schema.Key{
			newKey("attribute", schema.Text("attribute"), "", "a column of the ingredients; numbers for all of them, but with `is`", "{attribute: cost, smaller: {from: 5, to: 30}}"),
			newKey("is", schema.OneOrMore(schema.Text("value"), 1), "", "the share of the ingredients that have one of these values, instead of a mean", "{attribute: family, is: citrus, normal: {mean: 0.25, sd: 0.03}}"),
			newKey("shape", schema.Either(schema.Above(0), schema.Pair(schema.Above(0))), "1", "an exponent; for `target` two: below it and above", "{attribute: cost, target: {from: 5, at: 12, to: 30}, shape: [1, 2]}"),
			floorKey("{attribute: cost, smaller: {from: 5, to: 30}, floor: 0.001}"),
			newKey("maximize", schema.OnlyTrue(), "", "as large as the rules allow", "{attribute: abv, maximize: true}"),
			newKey("minimize", schema.OnlyTrue(), "", "as small as the rules allow", "{attribute: cost, minimize: true}"),
			newKey("larger", schema.Link("larger"), "", "the more, the better", "{attribute: abv, larger: {from: 5, to: 20}}"),
			newKey("smaller", schema.Link("smaller"), "", "the less, the better", "{attribute: cost, smaller: {from: 5, to: 30}}"),
			newKey("target", schema.Link("target"), "", "best at a value", "{attribute: abv, target: {from: 5, at: 15, to: 30}}"),
			newKey("range", schema.Link("range"), "", "all the same within, and nothing beyond", "{attribute: abv, range: {from: 5, to: 30}}"),
			newKey("normal", schema.Link("normal"), "", "a bell around a value", "{attribute: abv, normal: {mean: 15, sd: 4}}"),
		},
		Required:     []string{"attribute"},
		ExactlyOneOf: []string{"maximize", "minimize", "larger", "smaller", "target", "range", "normal"},
		Excludes:     map[string]string{"shape": "range normal"},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"required": []string{"shape"}, "properties": schema.Object{"shape": schema.Object{"type": "array"}}}},
			{"required": []string{"target"}},
		}}},
		Mistakes: map[string]string{
			"minimize": "write smaller: {from: 2, to: 10}: what scores 1, and what scores 0",
			"maximize": "write larger: {from: 2, to: 10}: what scores 0, and what scores 1",
			"min":      "write larger: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, min: 2}",
			"max":      "write smaller: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, max: 12}",
			"between":  "write range: [2, 10]",
		},
	},
	spanSection("larger", "0 up to `from`, 1 from `to` on."),
	spanSection("smaller", "1 up to `from`, 0 from `to` on."),
	{
		Name: "target", ID: "target", About: "1 at `at`, 0 outside `from` to `to`.",
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the lower end", "{from: 5, at: 15, to: 30}"),
			newKey("at", schema.Number(), "", "the best value", "{from: 5, at: 15.5, to: 30}"),
			newKey("to", schema.Number(), "", "the upper end", "{from: 5, at: 15, to: 40}"),
		},
		Required: []string{"from", "at", "to"},
	},
	spanSection("range", "1 from `from` to `to`, 0 elsewhere."),
	{
		Name: "normal", ID: "normal", About: "exp(−(v − mean)²/(2·sd²)), never 0.",
		Keys: []schema.Key{
			newKey("mean", schema.Number(), "", "the best value", "{mean: 15, sd: 4}"),
			newKey("sd", schema.Above(0), "", "the standard deviation", "{mean: 15, sd: 2.5}"),
		},
		Required: []string{"mean", "sd"},
	},
}

// spanSection returns the section of a direction with two ends.
func spanSection(name, about string) *schema.Section {
	return &schema.Section{
		Name: name, ID: name, About: about,
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the lower end", "{from: 5, to: 30}"),
			newKey("to", schema.Number(), "", "the upper end", "{from: 4.5, to: 30}"),
		},
		Required: []string{"from", "to"},
	}
}

// readBlend reads a property of a mean weighted by amounts.
func readBlend(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
	if err := n.Require("the blend", "name a column of the ingredients, such as {attribute: cost, minimize: true}", "attribute"); err != nil {
		return Property{}, err
	}
	name, err := f["attribute"].Str("the attribute")
	if err != nil {
		return Property{}, err
	}
	var values []float64
	about, unit, scale := "mean "+dataset.NormalizeName(name), "", 1.0
	if v := f["is"]; v != nil {
		if values, err = groupIndicator(s, f["attribute"], dataset.NormalizeName(name), v); err != nil {
			return Property{}, err
		}
		about, unit, scale = "share of "+dataset.NormalizeName(name)+" "+joinNames(v), "%", 100
	} else if values, err = s.AttributeNumbers(f["attribute"], name); err != nil {
		return Property{}, err
	}
	if s.Attributes != nil && f["is"] == nil {
		if a, ok := s.Attributes.Attribute(name); ok {
			unit = a.Unit()
		}
	}
	if err := requireOneDirection(n, f); err != nil {
		return Property{}, err
	}
	mean, err := property.NewBlend(values, s.Total, property.Steep(1))
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var d *property.Desirability
	var words string
	var least float64
	if hasDirection(f) {
		o, err := readObjective(n, f)
		if err != nil {
			return Property{}, err
		}
		o.value, o.asProperty = mean.Mean, func(d *property.Desirability) mcmc.Property { return mean.As(d) }
		if d, words, err = o.desirability(ctx, s, n, unit, scale); err != nil {
			return Property{}, err
		}
		least = o.floor
	} else {
		if d, words, err = readDesirability(n, f); err != nil {
			return Property{}, err
		}
		if least, err = readFloor(f); err != nil {
			return Property{}, err
		}
		if d, err = d.Floor(least); err != nil {
			return Property{}, f["floor"].PlaceError(err)
		}
	}
	value := func(x *mcmc.Composition) (float64, string) { return float64(scale * mean.Mean(x)), "" }
	var resolved yaml.Map
	resolved.CopyKeys(n, append([]string{"attribute", "is"}, blendSections[0].ExactlyOneOf...)...)
	if f["shape"] != nil {
		resolved.CopyKeys(n, "shape")
	} else if f["range"] == nil && f["normal"] == nil {
		resolved.Set("shape", 1)
	}
	resolved.Set("floor", least)
	lo, hi := slices.Min(values), slices.Max(values)
	of := valueScale{valueName: blendWords, unit: unit}
	if f["is"] != nil {
		of = valueScale{valueName: shareWords, notation: asShare}
	}
	return Property{
		About: about + ": " + words, Value: value, Unit: unit, property: mean.As(d), resolved: resolved,
		valueScale: directedScale(of, scale, max((hi-lo)/20, math.SmallestNonzeroFloat64), mean.Mean, func(d *property.Desirability) mcmc.Property { return mean.As(d) }),
	}, nil
}

// joinNames returns a name, or the names of a list joined by "or".
func joinNames(n *yaml.Node) string {
	var names []string
	for _, item := range n.ItemsOrSelf() {
		names = append(names, item.Text)
	}
	return strings.Join(names, " or ")
}

// groupIndicator returns 1 for each ingredient whose attribute has one of the values, and
// 0 for the others.
func groupIndicator(s *readContext, at *yaml.Node, name string, is *yaml.Node) ([]float64, error) {
	attribute, err := s.Attribute(at, name)
	if err != nil {
		return nil, err
	}
	groups := groups(attribute)
	var known []string
	index := make(map[string]int, len(groups))
	for k, g := range groups {
		known = append(known, g.value)
		index[g.value] = k
	}
	items := is.ItemsOrSelf()
	if len(items) == 0 {
		return nil, yaml.Hint(is.Errorf("the list of values is empty"), "there are %s", inputerr.List(known, 12))
	}
	values := make([]float64, len(s.Names))
	for _, item := range items {
		value, err := item.Str("the value of " + inputerr.Quote(name))
		if err != nil {
			return nil, err
		}
		at, ok := index[dataset.NormalizeName(value)]
		if !ok {
			return nil, yaml.SuggestName(item.Errorf("no ingredient has %s %s", name, item.Describe()), dataset.NormalizeName(value), "there are", known, 12)
		}
		for _, i := range groups[at].members {
			values[i] = 1
		}
	}
	return values, nil
}

// givenDirections returns the keys of directions that are present.
func givenDirections(f fields) (given []string) {
	for _, key := range blendSections[0].ExactlyOneOf {
		if f[key] != nil {
			given = append(given, key)
		}
	}
	return given
}

// requireOneDirection returns an error unless exactly one direction is present.
func requireOneDirection(n *yaml.Node, f fields) error {
	if given := givenDirections(f); len(given) != 1 {
		return yaml.Hint(n.Errorf("the blend says %d ways in which its mean is desirable", len(given)), "write one of %s", strings.Join(blendSections[0].ExactlyOneOf, ", "))
	}
	return nil
}

// readDesirability reads the direction of a blend and returns its desirability and a description.
func readDesirability(n *yaml.Node, f fields) (*property.Desirability, string, error) {
	key := givenDirections(f)[0]
	at := f[key]
	section := blendSections.ByID(key)
	keys := section.Names()
	g, err := section.Fields(at)
	if err != nil {
		return nil, "", err
	}
	v := make(map[string]float64)
	words := key + ","
	for _, k := range keys {
		if err := at.Require(key, fmt.Sprintf("write {%s: ...}", strings.Join(keys, ": ..., ")), k); err != nil {
			return nil, "", err
		}
		if v[k], err = g[k].Float(k); err != nil {
			return nil, "", err
		}
		words += fmt.Sprintf(" %s %v", k, v[k])
	}
	shapes := []float64{1, 1}
	if s := f["shape"]; s != nil {
		if key == "range" || key == "normal" {
			return nil, "", yaml.Hint(s.Errorf("%s has no shape", key), "remove it")
		}
		items := []*yaml.Node{s, s}
		if s.Kind == yaml.Sequence {
			if items = s.Items; key != "target" || len(items) != 2 {
				return nil, "", yaml.Hint(s.Errorf("the shape has %s", inputerr.Count(len(items), "number")), "write one number, or two for a target: below it and above")
			}
		}
		for k, item := range items {
			if shapes[k], err = item.Float("the shape"); err != nil {
				return nil, "", err
			}
			if shapes[k] <= 0 {
				return nil, "", yaml.Hint(item.Errorf("the shape is %s", item.Describe()), "it must be above 0: 1 is a straight line")
			}
		}
	}
	var d *property.Desirability
	switch key {
	case "larger":
		d, err = property.Larger(v["from"], v["to"], shapes[0])
	case "smaller":
		d, err = property.Smaller(v["from"], v["to"], shapes[0])
	case "target":
		d, err = property.Target(v["from"], v["at"], v["to"], shapes[0], shapes[1])
	case "range":
		d, err = property.Range(v["from"], v["to"])
	case "normal":
		d, err = property.Normal(v["mean"], v["sd"])
	}
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	return d, words, nil
}
