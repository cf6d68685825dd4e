package schema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// FileName is the name by which problem files refer to the JSON Schema.
const FileName = "problem.schema.json"

// Modeline returns the comment that tells editors where the schema of a problem file is.
func Modeline(path string) string { return "# yaml-language-server: $schema=" + path }

// JSON returns the JSON Schema of problem files (draft 2020-12). The schema describes only the form of a
// file: keys, types and bounds. It cannot check files, names and sums.
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

// keysPresent returns a schema for each of the keys that requires it. For "a b" the schema requires one of
// the two.
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

// plainText converts Markdown to plain text.
func plainText(markdown string) string {
	return strings.NewReplacer("`", "", "*", "").Replace(links.ReplaceAllString(markdown, "$1"))
}

var links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
