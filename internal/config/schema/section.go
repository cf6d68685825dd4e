// Package schema describes the keys of problem files, with their values and their meaning. It has the keys
// common to all problem files; package config adds the kinds of rules and properties. Problem files are checked
// against this description. The JSON Schema for editors and the reference docs/problem.md are generated from
// the description.
package schema

import (
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// A Section describes the keys of a mapping in a problem file.
type Section struct {
	Name  string // name of the mapping in messages, such as "a forest"
	ID    string // name in the JSON Schema, and heading in the reference documentation
	About string // description, in Markdown
	Keys  []Key  // keys that the mapping may have

	Required     []string          // keys that must be present
	ExactlyOneOf []string          // names of keys of which exactly one must be present; an item "a b" counts as present if a, b or both are present
	AtLeastOneOf []string          // names of keys of which at least one must be present
	Excludes     map[string]string // maps the name of a key to the keys that must not be present together with that key, separated by spaces
	Requires     map[string]string // maps the name of a key to another key that must be present together with that key
	Extra        []Object          // further conditions, as JSON Schemas

	Mistakes map[string]string // maps a wrong key that people write to a hint with the right form
}

// A Key describes a key of a section.
type Key struct {
	Name    string
	Type    Type
	Default string // description of the default value, in Markdown; empty if there is no default
	About   string // description, in Markdown
	Example string // example of a mapping with the key, as YAML in braces

	// Read decodes the value under the key. It is nil if the caller of Fields decodes the value.
	Read func(*yaml.Node) error
}

// NewKey returns a key without a Read function. The caller of [Section.Fields] decodes the value.
func NewKey(name string, is Type, missing, about, example string) Key {
	return Key{Name: name, Type: is, Default: missing, About: about, Example: example}
}

// A Kind is a kind of rule or property. It has the key of the kind, and the sections that describe the value
// under the key. The first section describes the value itself. If the value is not a mapping, there are no
// sections.
type Kind struct {
	Key
	Sections Sections
}

// Sections is a list of sections in the order of the reference documentation.
type Sections []*Section

// ByID returns the section with an ID, which must exist.
func (all Sections) ByID(id string) *Section {
	return all[slices.IndexFunc(all, func(s *Section) bool { return s.ID == id })]
}

// A Description describes problem files that may have the given kinds of rules and properties.
type Description struct {
	Rules, Properties []Kind
	Sampler           SamplerBounds
}

// Rule returns the section that describes the keys of a rule.
func (d Description) Rule() *Section {
	return (&Section{
		Name: "a rule", ID: "rule",
		About: "A rule (constraint) has exactly one key. Write each rule as an item of the list `constraints`. [rules.md](rules.md) describes the rules.",
	}).addKinds(d.Rules)
}

// Property returns the section that describes the keys of a property.
func (d Description) Property() *Section {
	return (&Section{
		Name: "a property", ID: "property",
		About: "A property has one kind and an optional weight. [properties.md](properties.md) has the formulas of all kinds.",
		Keys:  []Key{NewKey("weight", AtLeast(0), "1", "exponent of the property's score in the probability of a draw", "{learn: {label: taste, want: Fresh}, weight: 2}")},
	}).addKinds(d.Properties)
}

// addKinds adds the keys of kinds to s and returns s. Exactly one of the added keys must be present.
func (s *Section) addKinds(kinds []Kind) *Section {
	for _, k := range kinds {
		s.Keys, s.ExactlyOneOf = append(s.Keys, k.Key), append(s.ExactlyOneOf, k.Name)
	}
	return s
}

// Sections returns all sections except the section of the complete file.
func (d Description) Sections() Sections {
	all := Sections{RecipeTable, Table, CountedIngredients, Condition, Law, NormalLaw, ExponentialLaw, MixedLaw, d.Property()}
	for _, k := range d.Properties {
		all = append(all, k.Sections...)
	}
	all = append(all, d.Rule())
	for _, k := range d.Rules {
		all = append(all, k.Sections...)
	}
	return append(all, Sampler(d.Sampler), Search, Campaign)
}

// Names returns the names of the keys, in order.
func (s *Section) Names() []string {
	names := make([]string, len(s.Keys))
	for k := range s.Keys {
		names[k] = s.Keys[k].Name
	}
	return names
}

// Choices returns the names of all keys in [Section.ExactlyOneOf].
func (s *Section) Choices() []string { return strings.Fields(strings.Join(s.ExactlyOneOf, " ")) }

// Fields returns a map from the name of each key in the mapping n to its value. An unknown key is an error.
func (s *Section) Fields(n *yaml.Node) (map[string]*yaml.Node, error) {
	names := s.Names()
	for _, e := range n.Entries {
		if way := s.Mistakes[e.Key.Text]; way != "" && !slices.Contains(names, e.Key.Text) {
			return nil, yaml.Hint(e.Key.Errorf("%s has no key %s", s.Name, inputerr.Quote(e.Key.Text)), "%s", way)
		}
	}
	return n.Fields(s.Name, names...)
}

// Decode decodes the mapping n. It calls the Read function of each key that is present, in the order of the
// keys of s. An unknown key is an error.
func (s *Section) Decode(n *yaml.Node) error {
	f, err := s.Fields(n)
	if err != nil {
		return err
	}
	for _, k := range s.Keys {
		if v := f[k.Name]; v != nil && k.Read != nil {
			if err := k.Read(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Form returns the example without its braces, such as "amount: {of: Gin, min: 20}".
func (k Key) Form() string {
	return strings.TrimSuffix(strings.TrimPrefix(k.Example, "{"), "}")
}

// Slug returns the name of the section in the JSON Schema.
func (s *Section) Slug() string { return slug(s.ID) }
