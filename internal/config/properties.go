package config

import (
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Property is one of the properties of a problem file.
type Property struct {
	Name   string
	Weight float64 // exponent c of the score y(x): the target probability of a composition x has the factor y(x)^c
	Kind   string  // key of the kind of property
	Value  Value
	Node   *yaml.Node // YAML node under the key of the kind
}

// readProperties decodes the properties of a file.
func (k *Kinds) readProperties(n *yaml.Node, bad *Diagnostics) (all []*Entry[Property], err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, bad.Add(yaml.Hint(n.Errorf("properties are %s", n.Describe()), "write a name and a property each, such as taste: {forest: {label: taste, want: Fresh}}"))
	}
	for _, e := range n.Entries {
		name := dataset.NormalizeName(e.Key.Text)
		if err := bad.Add(checkPropertyName(e.Key, name)); err != nil {
			return nil, err
		}
		p, err := newEntry(e.Value, bad, func(n *yaml.Node) (Property, error) { return k.decodeProperty(name, n) })
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// checkPropertyName returns an error if the name is not allowed for a property.
func checkPropertyName(key *yaml.Node, name string) error {
	if name == "" || strings.ContainsAny(name, "\r\n") {
		return yaml.Hint(key.Errorf("%s is no name for a property", inputerr.Quote(key.Text)), "give it a name of one line")
	}
	if slices.Contains(schema.Reserved(), name) {
		return yaml.Hint(key.Errorf("a property cannot be called %s", inputerr.Quote(name)), "the draws have a column of that name: choose another")
	}
	return nil
}

// propertySection returns the description of the keys that a property may have: its kind and its weight.
func (k *Kinds) propertySection() *schema.Section {
	var d schema.Description
	for _, p := range k.Properties {
		d.Properties = append(d.Properties, schema.Kind{Key: p.Key})
	}
	return d.Property()
}

// decodeProperty decodes a property.
func (k *Kinds) decodeProperty(name string, n *yaml.Node) (p Property, err error) {
	section := k.propertySection()
	f, err := section.Fields(n)
	if err != nil {
		return p, err
	}
	p = Property{Name: name, Weight: 1}
	if w := f["weight"]; w != nil {
		if p.Weight, err = w.Weight("the weight"); err != nil {
			return p, err
		}
		delete(f, "weight")
	}
	if len(f) != 1 {
		return p, yaml.Hint(n.Errorf("property %s names %s", inputerr.Quote(name), inputerr.Count(len(f), "kind")), "name one of %s", strings.Join(section.ExactlyOneOf, ", "))
	}
	for key, at := range f {
		p.Kind, p.Node = key, at
	}
	i := slices.IndexFunc(k.Properties, func(kind PropertyKind) bool { return kind.Name == p.Kind })
	kind := &k.Properties[i]
	p.Value = kind.New()
	if p.Node.Kind == yaml.Mapping || !kind.AllowsText {
		if _, err := p.Value.Sections()[0].Fields(p.Node); err != nil {
			return p, err
		}
	}
	return p, p.Value.Decode(p.Node)
}

// A labelLearner is a property value that is learnt from labels of the recipes.
type labelLearner interface {
	labels() []Written[string] // labels returns the names of the labels that the property needs.
}

func (v *Learn) labels() []Written[string] {
	if v.File != nil {
		return nil
	}
	return []Written[string]{v.Label, v.SD}
}

func (v *Forest) labels() []Written[string] {
	if v.File != nil {
		return nil
	}
	return []Written[string]{v.Label}
}

func (v *Process) labels() []Written[string] { return []Written[string]{v.Label, v.SD} }

// LabelNodes returns the names of all labels that properties learn or that the file lists under the key
// "labels". Each name occurs once. The result nodes maps the name of a label to its YAML node.
func (p *Problem) LabelNodes() (names []string, nodes map[string]*yaml.Node) {
	nodes = make(map[string]*yaml.Node)
	add := func(label Written[string]) {
		if name := dataset.NormalizeName(label.Value); label.Node != nil && nodes[name] == nil {
			names = append(names, name)
			nodes[name] = label.Node
		}
	}
	for _, e := range p.Properties {
		if v, ok := e.Value.Value.(labelLearner); ok {
			for _, label := range v.labels() {
				add(label)
			}
		}
	}
	for _, label := range p.Labels {
		add(label)
	}
	return names, nodes
}
