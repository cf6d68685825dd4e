package problem

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/mcmc"
	"kir/property"
)

// readBlend reads a property of a mean that is weighted by amounts.
func readBlend(ctx context.Context, s *shelf, n *yaml.Node) (Property, error) {
	f, err := nearlyFields(n, schema.Blend)
	if err != nil {
		return Property{}, err
	}
	if err := n.Require("the blend", "name a column of the ingredients, such as {attribute: cost, minimize: true}", "attribute"); err != nil {
		return Property{}, err
	}
	name, err := f["attribute"].Str("the attribute")
	if err != nil {
		return Property{}, err
	}
	var values []float64
	about, unit, scale := "mean "+book.Name(name), "", 1.0
	if v := f["is"]; v != nil {
		if values, err = share(s, f["attribute"], book.Name(name), v); err != nil {
			return Property{}, err
		}
		about, unit, scale = "share of "+book.Name(name)+" "+listed(v), "%", 100
	} else if values, err = s.attributeNumbers(f["attribute"], name); err != nil {
		return Property{}, err
	}
	if s.attributes != nil && f["is"] == nil {
		if a, ok := s.attributes.Attribute(name); ok {
			unit = a.Unit()
		}
	}
	if err := oneWay(n, f); err != nil {
		return Property{}, err
	}
	mean, err := property.NewBlend(values, s.total, property.Steep(1))
	if err != nil {
		return Property{}, n.Blame(err)
	}
	var d *property.Desirability
	var words string
	var least float64
	if directed(f) {
		o, err := goalOf(n, f)
		if err != nil {
			return Property{}, err
		}
		o.value, o.scored = mean.Mean, func(d *property.Desirability) mcmc.Property { return mean.As(d) }
		if d, words, err = o.desirability(ctx, s, n, unit, scale); err != nil {
			return Property{}, err
		}
		least = o.floor
	} else {
		if d, words, err = desirability(n, f); err != nil {
			return Property{}, err
		}
		if least, err = floor(f); err != nil {
			return Property{}, err
		}
		if d, err = d.Floor(least); err != nil {
			return Property{}, f["floor"].Blame(err)
		}
	}
	value := func(x *mcmc.Composition) (float64, string) { return float64(scale * mean.Mean(x)), "" }
	var resolved yaml.Map
	resolved.Keep(n, append([]string{"attribute", "is"}, schema.Blend.Kinds()...)...)
	if f["shape"] != nil {
		resolved.Keep(n, "shape")
	} else if f["range"] == nil && f["normal"] == nil {
		resolved.Set("shape", 1)
	}
	resolved.Set("floor", least)
	lo, hi := slices.Min(values), slices.Max(values)
	return Property{
		About: about + ": " + words, Value: value, Unit: unit, property: mean.As(d), resolved: resolved,
		level: goalLevel(scale, max((hi-lo)/20, math.SmallestNonzeroFloat64), func(d *property.Desirability) mcmc.Property { return mean.As(d) }),
	}, nil
}

// listed is a name, or a list of them, in words.
func listed(n *yaml.Node) string {
	var names []string
	for _, item := range n.ItemsOrSelf() {
		names = append(names, item.Text)
	}
	return strings.Join(names, " or ")
}

// share returns 1 for each ingredient whose attribute has one of the values, and
// 0 for the others.
func share(s *shelf, at *yaml.Node, name string, is *yaml.Node) ([]float64, error) {
	attribute, err := s.attribute(at, name)
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
		return nil, yaml.Hint(is.Errorf("the list of values is empty"), "there are %s", fault.List(known, 12))
	}
	values := make([]float64, len(s.names))
	for _, item := range items {
		value, err := item.Str("the value of " + fault.Quote(name))
		if err != nil {
			return nil, err
		}
		at, ok := index[book.Name(value)]
		if !ok {
			return nil, yaml.Offer(item.Errorf("no ingredient has %s %s", name, item.Shown()), book.Name(value), "there are", known, 12)
		}
		for _, i := range groups[at].of {
			values[i] = 1
		}
	}
	return values, nil
}

// waysOf returns the ways in which a mean is desirable that are given.
func waysOf(f map[string]*yaml.Node) (given []string) {
	for _, key := range schema.Blend.Kinds() {
		if f[key] != nil {
			given = append(given, key)
		}
	}
	return given
}

// oneWay refuses none and several of them.
func oneWay(n *yaml.Node, f map[string]*yaml.Node) error {
	if given := waysOf(f); len(given) != 1 {
		return yaml.Hint(n.Errorf("the blend says %d ways in which its mean is desirable", len(given)), "write one of %s", strings.Join(schema.Blend.Kinds(), ", "))
	}
	return nil
}

// desirability reads which mean is desirable, and says it in words.
func desirability(n *yaml.Node, f map[string]*yaml.Node) (*property.Desirability, string, error) {
	key := waysOf(f)[0]
	at := f[key]
	section := schema.Desirable(key)
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
				return nil, "", yaml.Hint(s.Errorf("the shape has %s", fault.Count(len(items), "number")), "write one number, or two for a target: below it and above")
			}
		}
		for k, item := range items {
			if shapes[k], err = item.Float("the shape"); err != nil {
				return nil, "", err
			}
			if shapes[k] <= 0 {
				return nil, "", yaml.Hint(item.Errorf("the shape is %s", item.Shown()), "it must be above 0: 1 is a straight line")
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
		return nil, "", at.Blame(err)
	}
	return d, words, nil
}
