package mcpserver

import (
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxArgumentLength = 4096    // greatest length of an argument, in characters
	maxTextLength     = 1 << 20 // greatest length of an argument that is the text of a file
	maxListItems      = 200     // greatest number of items of an argument that is a list or a map
)

// A bound says which values an argument may have: a number from least to most, or one of the choices. It also has
// the default of a number; nil is no default.
type bound struct {
	least, most float64
	preset      any
	choices     []any
}

// inputSchema returns the JSON Schema of the arguments of a tool, a struct. Descriptions come from its tags.
// Numbers need a bound; texts and lists are bounded in length.
func inputSchema[In any](bounds map[string]bound) *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("arguments of a tool: %v", err)) // a bug, which every start shows
	}
	for name, p := range s.Properties {
		p.Types, p.Type = nil, argumentType(p) // an argument that is not wanted is left out
		restrict(p, maxArgumentLength)
		if b, ok := bounds[name]; ok && b.choices != nil {
			p.Enum = b.choices
		} else if ok {
			p.Minimum, p.Maximum = &b.least, &b.most
			if b.preset != nil {
				p.Default = []byte(fmt.Sprint(b.preset))
			}
		} else if p.Type == "integer" || p.Type == "number" {
			panic(fmt.Sprintf("argument %s of a tool has no bounds", name))
		}
		switch name {
		case "problem_text", "table_text":
			length := maxTextLength
			p.MaxLength = &length
		}
	}
	return s
}

// argumentType returns the type of an argument that is not null.
func argumentType(p *jsonschema.Schema) string {
	for _, t := range p.Types {
		if t != "null" {
			return t
		}
	}
	return p.Type
}

// restrict bounds the lengths of texts and lists.
func restrict(p *jsonschema.Schema, maxLength int) {
	items := maxListItems
	switch p.Type {
	case "string":
		p.MaxLength = &maxLength
	case "array":
		p.MaxItems = &items
		restrict(p.Items, maxLength)
	case "object":
		p.MaxProperties = &items
	}
}

// maxSeed is the greatest seed that JSON numbers have exactly.
const maxSeed = float64(1<<53 - 1)

// seedBound is the bound of the argument seed.
var seedBound = bound{most: maxSeed}
