package problem

import (
	"context"
	"slices"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
)

// A propertyKind is a key that names a kind of property.
type propertyKind struct {
	name string

	// read reads what stands under the key.
	read func(ctx context.Context, s *shelf, n *yaml.Node) (Property, error)

	// bySplit says whether what stands there is scored split by split. Other
	// properties are constant over most of a line.
	bySplit func(n *yaml.Node) bool
}

// propertyKinds returns the kinds of properties that there are.
func propertyKinds() []propertyKind {
	always := func(*yaml.Node) bool { return true }
	never := func(*yaml.Node) bool { return false }
	return []propertyKind{
		{"learn", readLearn, never},
		{"forest", readForest, never},
		{"process", readProcess, never},
		{"blend", readBlend, always},
		{"pairs", readPairs, never},
		{"novelty", readNovelty, byAmounts},
		{"likeness", readLikeness, byAmounts},
		{"preference", readPreference, always},
		{"markowitz", readMarkowitz, always},
		{"document", readDocument, always},
		{"expression", readExpression, always},
		{"program", readProgram, always},
		{"model", readModel, never},
	}
}

// readProperties reads the properties. With an error it returns those that were
// read before, which are to be closed.
func readProperties(ctx context.Context, s *shelf, n *yaml.Node) (all []Property, err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("properties are %s", n.Shown()), "write a name and a property each, such as taste: {forest: {label: taste, want: Fresh}}")
	}
	for _, e := range n.Entries {
		name := book.Name(e.Key.Text)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return all, yaml.Hint(e.Key.Errorf("%s is no name for a property", fault.Quote(e.Key.Text)), "give it a name of one line")
		}
		if slices.Contains(schema.Reserved(), name) {
			return all, yaml.Hint(e.Key.Errorf("a property cannot be called %s", fault.Quote(name)), "the draws have a column of that name: choose another")
		}
		p, err := readProperty(ctx, s, name, e.Value)
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

// readProperty reads one property: its kind and its weight.
func readProperty(ctx context.Context, s *shelf, name string, n *yaml.Node) (Property, error) {
	kinds := propertyKinds()
	f, err := schema.Property.Fields(n)
	if err != nil {
		return Property{}, err
	}
	weight := 1.0
	if w := f["weight"]; w != nil {
		if weight, err = w.Weight("the weight"); err != nil {
			return Property{}, err
		}
		delete(f, "weight")
	}
	if len(f) != 1 {
		return Property{}, yaml.Hint(n.Errorf("property %s names %s", fault.Quote(name), fault.Count(len(f), "kind")), "name one of %s", strings.Join(schema.Property.Kinds(), ", "))
	}
	kind := kinds[slices.IndexFunc(kinds, func(k propertyKind) bool { return f[k.name] != nil })]
	v := f[kind.name]
	if s.total > maxSplits && kind.bySplit(v) {
		return Property{}, yaml.Hint(v.Errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", fault.Quote(name), s.total), "take a total of at most %d", maxSplits)
	}
	p, err := kind.read(ctx, s, v)
	p.Name, p.Kind, p.Weight = name, kind.name, weight
	return p, err
}
