package schema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// FileName is what the JSON Schema is called where problem files name it.
const FileName = "problem.schema.json"

// Modeline returns the comment by which a problem file tells editors where its
// schema is.
func Modeline(path string) string { return "# yaml-language-server: $schema=" + path }

// JSON returns the JSON Schema of problem files (draft 2020-12). It knows the form
// of a file: which keys stand where, of what type they are and within which bounds.
// It knows nothing of files, names and sums.
func (d Description) JSON() ([]byte, error) {
	whole := Problem.schema()
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = "kir problem file"
	value := Text("").Schema
	definitions := Object{"which": Object{
		"description": "Which ingredients: a name, in which a star stands for any text, a list, or {attribute: value}.",
		"anyOf": []Object{
			value,
			{"type": "array", "minItems": 1, "items": Object{"$ref": "#/$defs/which"}},
			{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": value},
		},
	}}
	for _, s := range d.Sections() {
		definitions[s.Slug()] = s.schema()
	}
	whole["$defs"] = definitions
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(whole)
	return b.Bytes(), err
}

// schema returns the JSON Schema of a section.
func (s *Section) schema() Object {
	keys := make(Object)
	for _, k := range s.Keys {
		about := k.About
		if k.Default != "" {
			about += ". Default: " + k.Default
		}
		rule := Object{"description": plainText(about) + "."}
		for name, v := range k.Type.Schema {
			rule[name] = v
		}
		keys[k.Name] = rule
	}
	rule := Object{"type": "object", "description": plainText(s.About), "properties": keys, "additionalProperties": false}
	if len(s.Required) > 0 {
		rule["required"] = s.Required
	}
	all := slices.Clone(s.Extra)
	if len(s.ExactlyOneOf) > 0 {
		all = append(all, Object{"oneOf": keysPresent(s.ExactlyOneOf)})
	}
	if len(s.AtLeastOneOf) > 0 {
		all = append(all, Object{"anyOf": keysPresent(s.AtLeastOneOf)})
	}
	for _, k := range s.Keys {
		if others := s.Excludes[k.Name]; others != "" {
			all = append(all, Object{"not": Object{"required": []string{k.Name}, "anyOf": keysPresent(strings.Fields(others))}})
		}
	}
	for _, k := range s.Keys {
		if other := s.Requires[k.Name]; other != "" {
			all = append(all, Object{"anyOf": []Object{{"not": Object{"required": []string{k.Name}}}, {"required": []string{other}}}})
		}
	}
	if len(all) > 0 {
		rule["allOf"] = all
	}
	return rule
}

// keysPresent returns, for each of the keys, that it is there; of "a b", that one of
// them is.
func keysPresent(keys []string) []Object {
	rules := make([]Object, len(keys))
	for k, key := range keys {
		names := strings.Fields(key)
		if rules[k] = (Object{"required": names}); len(names) > 1 {
			rules[k] = Object{"anyOf": keysPresent(names)}
		}
	}
	return rules
}

// plainText returns Markdown as plain text.
func plainText(markdown string) string {
	return strings.NewReplacer("`", "", "*", "").Replace(links.ReplaceAllString(markdown, "$1"))
}

var links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
