// Package schema describes problem files: their keys, the values of each, and the meaning. It has the keys
// common to all problem files; package compile registers the kinds of rules and properties. The reader
// takes the allowed keys from this description. The JSON Schema for editors and the reference
// docs/problem.md are generated from it.
package schema

import (
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// A Section describes a mapping in a problem file.
type Section struct {
	Name  string // name in messages, such as "a forest"
	ID    string // name in the JSON Schema, and heading in the reference
	About string // description, in Markdown
	Keys  []Key

	Required     []string          // keys that must be present
	ExactlyOneOf []string          // exactly one must be present; for "a b", one or both
	AtLeastOneOf []string          // at least one must be present
	Excludes     map[string]string // by key: keys that must not be present with it, separated by spaces
	Requires     map[string]string // by key: the key that must be present with it
	Extra        []Object          // further conditions, as JSON Schemas

	Mistakes map[string]string // wrong keys that people write, and the right form
}

// A Key describes a key of a section.
type Key struct {
	Name    string
	Type    Type
	Default string // in Markdown; empty if there is none
	About   string // description, in Markdown
	Example string // the section with this key, as YAML in braces

	// Read decodes the value under the key; nil if the caller of Fields does so.
	Read func(*yaml.Node) error
}

// NewKey returns a key whose value the caller of Fields decodes.
func NewKey(name string, is Type, missing, about, example string) Key {
	return Key{Name: name, Type: is, Default: missing, About: about, Example: example}
}

// A Kind is a kind of rule or property: its key, and the sections that it adds, its own first. It has no
// sections if the value under its key has no keys.
type Kind struct {
	Key
	Sections Sections
}

// Sections are in the order of the reference.
type Sections []*Section

// ByID returns the section with an ID.
func (all Sections) ByID(id string) *Section {
	return all[slices.IndexFunc(all, func(s *Section) bool { return s.ID == id })]
}

// A Description describes problem files with these kinds of rules and properties.
type Description struct {
	Rules, Properties []Kind
	Sampler           SamplerBounds
}

// Rule returns the section of a rule.
func (d Description) Rule() *Section {
	return (&Section{
		Name: "a rule", ID: "rule",
		About: "Exactly one key; another rule is another item of the list. [rules.md](rules.md) says what each means.",
	}).withKinds(d.Rules)
}

// Property returns the section of a property.
func (d Description) Property() *Section {
	return (&Section{
		Name: "a property", ID: "property",
		About: "One kind, and perhaps a weight. [properties.md](properties.md) has the formulas.",
		Keys:  []Key{NewKey("weight", AtLeast(0), "1", "the target is multiplied by y to this power", "{learn: {label: taste, want: Fresh}, weight: 2}")},
	}).withKinds(d.Properties)
}

// withKinds adds the keys of kinds, exactly one of which must be present.
func (s *Section) withKinds(kinds []Kind) *Section {
	for _, k := range kinds {
		s.Keys, s.ExactlyOneOf = append(s.Keys, k.Key), append(s.ExactlyOneOf, k.Name)
	}
	return s
}

// Sections returns all sections except that of the whole file.
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

// Names returns the keys in order.
func (s *Section) Names() []string {
	names := make([]string, len(s.Keys))
	for k := range s.Keys {
		names[k] = s.Keys[k].Name
	}
	return names
}

// Choices returns the single keys of [Section.ExactlyOneOf].
func (s *Section) Choices() []string { return strings.Fields(strings.Join(s.ExactlyOneOf, " ")) }

// Fields returns the values of a mapping by key. A key that the section does not have is an error.
func (s *Section) Fields(n *yaml.Node) (map[string]*yaml.Node, error) {
	names := s.Names()
	for _, e := range n.Entries {
		if way := s.Mistakes[e.Key.Text]; way != "" && !slices.Contains(names, e.Key.Text) {
			return nil, yaml.Hint(e.Key.Errorf("%s has no key %s", s.Name, inputerr.Quote(e.Key.Text)), "%s", way)
		}
	}
	return n.Fields(s.Name, names...)
}

// Decode decodes the values of a mapping, in the order of the section's keys. A key that the section does not
// have is an error.
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

// Form returns the example without braces, such as "amount: {of: Gin, min: 20}".
func (k Key) Form() string {
	return strings.TrimSuffix(strings.TrimPrefix(k.Example, "{"), "}")
}

// Slug returns the name of the section among the definitions of the JSON Schema.
func (s *Section) Slug() string { return slug(s.ID) }
