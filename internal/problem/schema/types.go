package schema

import (
	"math"
	"strconv"
	"strings"
)

// An object is a piece of a JSON Schema.
type object = map[string]any

// A Type is what may stand under a key.
type Type struct {
	words string // in the reference
	rule  object // in the JSON Schema
}

// link is a section under a key. It is named and not pointed to, since sections
// may stand within themselves.
func link(id string) Type {
	return Type{"[" + id + "](#" + slug(id) + ")", object{"$ref": "#/$defs/" + slug(id)}}
}

// text is what is read as text and is not empty.
func text(words string) Type {
	return Type{words, object{"type": []string{"string", "number", "boolean"}, "pattern": `\S`}}
}

// file is the name of a file where a number is something else.
func file() Type { return Type{"file", object{"type": "string", "pattern": `\S`}} }

// choice is one of some words.
// percentage is a number with a percent sign.
func percentage() Type {
	return Type{"percentage", object{"type": "string", "pattern": `^\s*[0-9.]+\s*%\s*$`}}
}

func choice(words ...string) Type {
	return Type{"`" + strings.Join(words, "`, `") + "`", object{"enum": words}}
}

// yes is true, where the key alone says it.
func yes() Type { return Type{"`true`", object{"const": true}} }

func truth() Type { return Type{"`true` or `false`", object{"type": "boolean"}} }

func number() Type { return Type{"number", object{"type": "number"}} }

func above(least int) Type {
	return Type{"number above " + strconv.Itoa(least), object{"type": "number", "exclusiveMinimum": least}}
}

func atLeast(least float64) Type {
	return Type{"number from " + show(least), object{"type": "number", "minimum": least}}
}

func between(least, most float64) Type {
	return Type{"number, " + show(least) + " to " + show(most), object{"type": "number", "minimum": least, "maximum": most}}
}

// whole is a whole number. A most of 2³¹−1 or more is not worth saying.
func whole(least, most int) Type {
	words := "whole number from " + strconv.Itoa(least)
	if most < math.MaxInt32 {
		words = "whole number, " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	}
	return Type{words, object{"type": "integer", "minimum": least, "maximum": most}}
}

func seed() Type {
	return Type{"whole number from 0 to 2⁶⁴−1", object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}}
}

// units are units of the total, at least so many, or a percentage of it.
func units(least int) Type {
	return Type{"units or percentage", object{"anyOf": []object{
		{"type": "integer", "minimum": least},
		{"type": "string", "pattern": `^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*$`},
	}}}
}

func either(types ...Type) Type {
	var words []string
	var rules []object
	for _, t := range types {
		words, rules = append(words, t.words), append(rules, t.rule)
	}
	return Type{strings.Join(words, "; or "), object{"anyOf": rules}}
}

// list is a list of at least so many.
func list(of Type, least int) Type {
	rule := object{"type": "array", "items": of.rule}
	if least > 0 {
		rule["minItems"] = least
	}
	return Type{"list of " + of.words, rule}
}

// oneOrMore is one, or a list of at least least.
func oneOrMore(of Type, least int) Type {
	return Type{of.words + ", or a list", either(of, list(of, least)).rule}
}

func pair(of Type) Type {
	return Type{"two of: " + of.words, object{"type": "array", "items": of.rule, "minItems": 2, "maxItems": 2}}
}

// named is a mapping from names to values.
func named(names string, of Type, more object) Type {
	rule := object{"type": "object", "additionalProperties": of.rule}
	for key, v := range more {
		rule[key] = v
	}
	return Type{"mapping from " + names + " to " + of.words, rule}
}

// optional may be left empty, as if it were not there.
func optional(t Type) Type {
	return Type{t.words, object{"anyOf": []object{t.rule, {"type": "null"}}}}
}

// ingredients says which ingredients: see the section of that name.
func ingredients() Type {
	return Type{"[which ingredients](#which-ingredients)", object{"$ref": "#/$defs/which"}}
}

func show(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// slug is the name under which the JSON Schema has a section, and what its heading
// in the reference is linked to by.
func slug(id string) string { return strings.ReplaceAll(id, " ", "-") }
