package schema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// FileName is the name of the file with the JSON Schema of problem files.
const FileName = "problem.schema.json"

// Modeline returns the comment in a problem file that tells editors the path of its JSON Schema.
func Modeline(path string) string { return "# yaml-language-server: $schema=" + path }

// JSON returns the JSON Schema of problem files, draft 2020-12. The schema describes the form of a problem
// file: keys, types and bounds. It does not check files, names and sums.
func (d Description) JSON() ([]byte, error) {
	whole := Problem.jsonSchema()
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
		definitions[s.Slug()] = s.jsonSchema()
	}
	whole["$defs"] = definitions
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(whole)
	return b.Bytes(), err
}

// jsonSchema returns the JSON Schema of the section.
func (s *Section) jsonSchema() Object {
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
		all = append(all, Object{"oneOf": requiredKeySchemas(s.ExactlyOneOf)})
	}
	if len(s.AtLeastOneOf) > 0 {
		all = append(all, Object{"anyOf": requiredKeySchemas(s.AtLeastOneOf)})
	}
	for _, k := range s.Keys {
		if others := s.Excludes[k.Name]; others != "" {
			all = append(all, Object{"not": Object{"required": []string{k.Name}, "anyOf": requiredKeySchemas(strings.Fields(others))}})
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

// requiredKeySchemas returns one schema for each item of keys. The schema requires that the key is present. If
// an item has several keys separated by spaces, the schema requires at least one of the keys.
func requiredKeySchemas(keys []string) []Object {
	rules := make([]Object, len(keys))
	for k, key := range keys {
		names := strings.Fields(key)
		if rules[k] = (Object{"required": names}); len(names) > 1 {
			rules[k] = Object{"anyOf": requiredKeySchemas(names)}
		}
	}
	return rules
}

// plainText converts Markdown to plain text.
func plainText(markdown string) string {
	return strings.NewReplacer("`", "", "*", "").Replace(linkPattern.ReplaceAllString(markdown, "$1"))
}

// linkPattern matches a link in Markdown.
var linkPattern = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
