// Package schema describes problem files: which keys there are, what may stand
// under each, and what it means. The reader in package problem takes the keys that
// it allows from here; the JSON Schema that editors check a file with and the
// reference docs/problem.md are written from the same.
package schema

import (
	"slices"
	"strings"

	"kir/internal/problem/yaml"
)

// A Section is a mapping of a problem file and its keys.
type Section struct {
	Name  string // as messages call it, such as "a forest"
	ID    string // in the JSON Schema, and the heading in the reference
	About string // what it is, in Markdown
	Keys  []Key

	need  []string          // keys that must be there
	one   []string          // exactly one of them is there; of "a b" either or both
	some  []string          // at least one of them is there
	alone map[string]string // the keys, with spaces between, that may not stand beside a key
	with  map[string]string // the key that must stand beside a key
	more  []object          // what else holds, as JSON Schemas
}

// A Key is a key of a section.
type Key struct {
	Name    string
	Type    Type
	Default string // in Markdown; empty if there is none
	About   string // what it is, in Markdown
	Example string // the section with this key, as YAML in braces
}

// Names returns the keys in their order.
func (s *Section) Names() []string {
	names := make([]string, len(s.Keys))
	for k := range s.Keys {
		names[k] = s.Keys[k].Name
	}
	return names
}

// Fields reads a mapping whose keys are all among those of the section.
func (s *Section) Fields(n *yaml.Node) (map[string]*yaml.Node, error) {
	return n.Fields(s.Name, s.Names()...)
}

// Form returns the example of a key as it stands in a block, such as
// "amount: {of: Gin, min: 20}".
func (s *Section) Form(key string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s.Keys[slices.Index(s.Names(), key)].Example, "{"), "}")
}

// Slug returns the name of the section among the definitions of the JSON Schema.
func (s *Section) Slug() string { return slug(s.ID) }

// Kinds returns the keys of which exactly one is there.
func (s *Section) Kinds() []string { return s.one }
