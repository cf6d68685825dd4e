// Package schema describes problem files: which keys there are, what may stand
// under each, and what it means. It has what all problem files may have, and package
// problem registers the kinds of rules and of properties. The reader takes the keys that
// it allows from here; the JSON Schema that editors check a file with and the reference
// docs/problem.md are written from the same.
package schema

import (
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

// A Section is a mapping of a problem file and its keys.
type Section struct {
	Name  string // as messages call it, such as "a forest"
	ID    string // in the JSON Schema, and the heading in the reference
	About string // what it is, in Markdown
	Keys  []Key

	Required     []string          // keys that must be there
	ExactlyOneOf []string          // exactly one of them is there; of "a b" either or both
	AtLeastOneOf []string          // at least one of them is there
	Excludes     map[string]string // the keys, with spaces between, that may not stand beside a key
	Requires     map[string]string // the key that must stand beside a key
	Extra        []Object          // what else holds, as JSON Schemas

	Mistakes map[string]string // keys that people write and that are none, and what is meant
}

// A Key is a key of a section.
type Key struct {
	Name    string
	Type    Type
	Default string // in Markdown; empty if there is none
	About   string // what it is, in Markdown
	Example string // the section with this key, as YAML in braces
}

// A Kind is a kind of rule or of property: the key that names it, and the sections that
// it brings, its own first. There are none if no keys of its own stand under the key.
type Kind struct {
	Key
	Sections Sections
}

// Sections stand in the order of the reference.
type Sections []*Section

// ByID returns the section of an ID.
func (all Sections) ByID(id string) *Section {
	return all[slices.IndexFunc(all, func(s *Section) bool { return s.ID == id })]
}

// A Description says what problem files may have, with these kinds of rules and of
// properties.
type Description struct{ Rules, Properties []Kind }

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
		Keys:  []Key{{"weight", AtLeast(0), "1", "the target is multiplied by y to this power", "{learn: {label: taste, want: Fresh}, weight: 2}"}},
	}).withKinds(d.Properties)
}

// withKinds adds the keys of kinds, of which one is there.
func (s *Section) withKinds(kinds []Kind) *Section {
	for _, k := range kinds {
		s.Keys, s.ExactlyOneOf = append(s.Keys, k.Key), append(s.ExactlyOneOf, k.Name)
	}
	return s
}

// Sections returns all sections but the whole file.
func (d Description) Sections() Sections {
	all := Sections{RecipeTable, Table, CountedIngredients, Law, NormalLaw, ExponentialLaw, MixedLaw, d.Property()}
	for _, k := range d.Properties {
		all = append(all, k.Sections...)
	}
	all = append(all, d.Rule())
	for _, k := range d.Rules {
		all = append(all, k.Sections...)
	}
	return append(all, Sampler, Search, Campaign)
}

// Names returns the keys in their order.
func (s *Section) Names() []string {
	names := make([]string, len(s.Keys))
	for k := range s.Keys {
		names[k] = s.Keys[k].Name
	}
	return names
}

// Choices returns the keys of [Section.ExactlyOneOf], one by one.
func (s *Section) Choices() []string { return strings.Fields(strings.Join(s.ExactlyOneOf, " ")) }

// Fields reads a mapping whose keys are all among those of the section.
func (s *Section) Fields(n *yaml.Node) (map[string]*yaml.Node, error) {
	names := s.Names()
	for _, e := range n.Entries {
		if way := s.Mistakes[e.Key.Text]; way != "" && !slices.Contains(names, e.Key.Text) {
			return nil, yaml.Hint(e.Key.Errorf("%s has no key %s", s.Name, fault.Quote(e.Key.Text)), "%s", way)
		}
	}
	return n.Fields(s.Name, names...)
}

// Form returns the example as it stands in a block, such as "amount: {of: Gin, min: 20}".
func (k Key) Form() string {
	return strings.TrimSuffix(strings.TrimPrefix(k.Example, "{"), "}")
}

// Slug returns the name of the section among the definitions of the JSON Schema.
func (s *Section) Slug() string { return slug(s.ID) }
