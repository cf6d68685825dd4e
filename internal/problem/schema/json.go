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

// Sections returns all sections but the whole file, in the order of the reference.
func Sections() []*Section {
	return []*Section{
		RecipeTable, Table, Counted,
		Law, NormalLaw, ExponentialLaw, MixedLaw,
		Property, Learn, Forest, Add, Process, Model, Input, maximize, minimize, Blend, larger, smaller, target, within, bell, Pairs, favour, avoid, novelty, likeness, Preference, Markowitz, Returns, Expression, Document, Program,
		Rule, Amount, Group, Needs, Limit, Ratio, Near, If, Block,
		Sampler, Search, Campaign,
	}
}

// JSON returns the JSON Schema of problem files (draft 2020-12). It knows the form
// of a file: which keys stand where, of what type they are and within which bounds.
// It knows nothing of files, names and sums.
func JSON() ([]byte, error) {
	whole := Problem.schema()
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = "kir problem file"
	value := text("").rule
	definitions := object{"which": object{
		"description": "Which ingredients: a name, in which a star stands for any text, a list, or {attribute: value}.",
		"anyOf": []object{
			value,
			{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/which"}},
			{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": value},
		},
	}}
	for _, s := range Sections() {
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
func (s *Section) schema() object {
	keys := make(object)
	for _, k := range s.Keys {
		about := k.About
		if k.Default != "" {
			about += ". Default: " + k.Default
		}
		rule := object{"description": plain(about) + "."}
		for name, v := range k.Type.rule {
			rule[name] = v
		}
		keys[k.Name] = rule
	}
	rule := object{"type": "object", "description": plain(s.About), "properties": keys, "additionalProperties": false}
	if len(s.need) > 0 {
		rule["required"] = s.need
	}
	all := slices.Clone(s.more)
	if len(s.one) > 0 {
		all = append(all, object{"oneOf": there(s.one)})
	}
	if len(s.some) > 0 {
		all = append(all, object{"anyOf": there(s.some)})
	}
	for _, k := range s.Keys {
		if others := s.alone[k.Name]; others != "" {
			all = append(all, object{"not": object{"required": []string{k.Name}, "anyOf": there(strings.Fields(others))}})
		}
	}
	for _, k := range s.Keys {
		if other := s.with[k.Name]; other != "" {
			all = append(all, object{"anyOf": []object{{"not": object{"required": []string{k.Name}}}, {"required": []string{other}}}})
		}
	}
	if len(all) > 0 {
		rule["allOf"] = all
	}
	return rule
}

// there returns, for each of the keys, that it is there; of "a b", that one of
// them is.
func there(keys []string) []object {
	rules := make([]object, len(keys))
	for k, key := range keys {
		names := strings.Fields(key)
		if rules[k] = (object{"required": names}); len(names) > 1 {
			rules[k] = object{"anyOf": there(names)}
		}
	}
	return rules
}

// plain returns Markdown as plain text.
func plain(markdown string) string {
	return strings.NewReplacer("`", "", "*", "").Replace(links.ReplaceAllString(markdown, "$1"))
}

var links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
