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

// readProperties reads the properties, and returns those in which nothing is wrong.
// With an error it returns those that were read before, which are to be closed.
func readProperties(ctx context.Context, s *shelf, n *yaml.Node) (all []Property, err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, s.bad.add(yaml.Hint(n.Errorf("properties are %s", n.Shown()), "write a name and a property each, such as taste: {forest: {label: taste, want: Fresh}}"))
	}
	for _, e := range n.Entries {
		name := book.Name(e.Key.Text)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			_ = s.bad.add(yaml.Hint(e.Key.Errorf("%s is no name for a property", fault.Quote(e.Key.Text)), "give it a name of one line"))
		}
		if slices.Contains(schema.Reserved(), name) {
			_ = s.bad.add(yaml.Hint(e.Key.Errorf("a property cannot be called %s", fault.Quote(name)), "the draws have a column of that name: choose another"))
		}
		var p Property
		first, before := true, len(s.bad.all)
		err := s.bad.each(e.Value, func(n *yaml.Node) (err error) {
			if !first && p.Kind != "" && s.kinds.property(p.Kind).once {
				return nil
			}
			first = false
			p, err = readProperty(ctx, s, name, n)
			return err
		})
		if err != nil {
			return all, err
		}
		if len(s.bad.all) == before {
			all = append(all, p)
		}
	}
	return all, nil
}

// readProperty reads one property: its kind and its weight.
func readProperty(ctx context.Context, s *shelf, name string, n *yaml.Node) (Property, error) {
	section := s.kinds.schema().Property()
	f, err := section.Fields(n)
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
		return Property{}, yaml.Hint(n.Errorf("property %s names %s", fault.Quote(name), fault.Count(len(f), "kind")), "name one of %s", strings.Join(section.One, ", "))
	}
	var kind *propertyKind
	var v *yaml.Node
	for name, at := range f {
		kind, v = s.kinds.property(name), at
	}
	if s.total > maxSplits && kind.bySplit != nil && kind.bySplit(v) {
		return Property{}, yaml.Hint(v.Errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", fault.Quote(name), s.total), "take a total of at most %d", maxSplits)
	}
	s.do("reading the property %s", fault.Quote(name))
	p, err := kind.readAt(ctx, s, v)
	p.Name, p.Kind, p.Weight, p.at = name, kind.Name, weight, v
	return p, err
}

// readAt reads what stands under the key of a kind.
func (k *propertyKind) readAt(ctx context.Context, s *shelf, n *yaml.Node) (p Property, err error) {
	var f fields
	if n.Kind == yaml.Mapping || !k.text {
		if f, err = k.Sections[0].Fields(n); err != nil {
			return p, err
		}
	}
	return k.read(ctx, s, n, f)
}
