package schema

import (
	"math"
	"strconv"
	"strings"
)

// An Object is a piece of a JSON Schema.
type Object = map[string]any

// A Type is what may stand under a key.
type Type struct {
	Words  string // in the reference
	Schema Object // in the JSON Schema
}

// Link is a section under a key. It is named and not pointed to, since sections
// may stand within themselves.
func Link(id string) Type {
	return Type{"[" + id + "](#" + slug(id) + ")", Object{"$ref": "#/$defs/" + slug(id)}}
}

// Text is what is read as text and is not empty.
func Text(words string) Type {
	return Type{words, Object{"type": []string{"string", "number", "boolean"}, "pattern": `\S`}}
}

// Duration is a time such as 60s or 1h30m, or none.
func Duration() Type {
	return Type{"duration; or `none`", Object{"type": "string", "pattern": `^(none|\+?0*([0-9]*\.)?[0-9]*[1-9][0-9.]*(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*)$`}}
}

// File is the name of a file where a number is something else.
func File() Type { return Type{"file", Object{"type": "string", "pattern": `\S`}} }

// Percentage is a number with a percent sign.
func Percentage() Type {
	return Type{"percentage", Object{"type": "string", "pattern": `^\s*[0-9.]+\s*%\s*$`}}
}

// Choice is one of some words.
func Choice(words ...string) Type {
	return Type{"`" + strings.Join(words, "`, `") + "`", Object{"enum": words}}
}

// OnlyTrue is true, where the key alone says it.
func OnlyTrue() Type { return Type{"`true`", Object{"const": true}} }

// Boolean is true or false.
func Boolean() Type { return Type{"`true` or `false`", Object{"type": "boolean"}} }

// Number is a finite number.
func Number() Type { return Type{"number", Object{"type": "number"}} }

// Above is a number above another.
func Above(least int) Type {
	return Type{"number above " + strconv.Itoa(least), Object{"type": "number", "exclusiveMinimum": least}}
}

// AtLeast is a number from another on.
func AtLeast(least float64) Type {
	return Type{"number from " + formatNumber(least), Object{"type": "number", "minimum": least}}
}

// Between is a number from one to another.
func Between(least, most float64) Type {
	return Type{"number, " + formatNumber(least) + " to " + formatNumber(most), Object{"type": "number", "minimum": least, "maximum": most}}
}

// Integer is a whole number. A most of 2³¹−1 or more is not worth saying.
func Integer(least, most int) Type {
	words := "whole number from " + strconv.Itoa(least)
	if most < math.MaxInt32 {
		words = "whole number, " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	}
	return Type{words, Object{"type": "integer", "minimum": least, "maximum": most}}
}

// Seed is what random numbers begin with.
func Seed() Type {
	return Type{"whole number from 0 to 2⁶⁴−1", Object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}}
}

// Units are units of the total, at least so many, or a percentage of it.
func Units(least int) Type {
	return Type{"units or percentage", Object{"anyOf": []Object{
		{"type": "integer", "minimum": least},
		{"type": "string", "pattern": `^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*$`},
	}}}
}

// Either is one of several types.
func Either(types ...Type) Type {
	var words []string
	var rules []Object
	for _, t := range types {
		words, rules = append(words, t.Words), append(rules, t.Schema)
	}
	return Type{strings.Join(words, "; or "), Object{"anyOf": rules}}
}

// List is a list of at least so many.
func List(of Type, least int) Type {
	rule := Object{"type": "array", "items": of.Schema}
	if least > 0 {
		rule["minItems"] = least
	}
	return Type{"list of " + of.Words, rule}
}

// Several is a list of at least least and at most most different ones.
func Several(of Type, least, most int) Type {
	list := List(of, least)
	list.Schema["maxItems"], list.Schema["uniqueItems"] = most, true
	return Type{list.Words + ", " + strconv.Itoa(least) + " to " + strconv.Itoa(most), list.Schema}
}

// OneOrMore is one, or a list of at least least.
func OneOrMore(of Type, least int) Type {
	return Type{of.Words + ", or a list", Either(of, List(of, least)).Schema}
}

// Pair is a list of two.
func Pair(of Type) Type {
	return Type{"two of: " + of.Words, Object{"type": "array", "items": of.Schema, "minItems": 2, "maxItems": 2}}
}

// MapOf is a mapping from names to values.
func MapOf(names string, of Type, more Object) Type {
	rule := Object{"type": "object", "additionalProperties": of.Schema}
	for key, v := range more {
		rule[key] = v
	}
	return Type{"mapping from " + names + " to " + of.Words, rule}
}

// Optional may be left empty, as if it were not there.
func Optional(t Type) Type {
	return Type{t.Words, Object{"anyOf": []Object{t.Schema, {"type": "null"}}}}
}

// Ingredients says which ingredients: see the section of that name.
func Ingredients() Type {
	return Type{"[which ingredients](#which-ingredients)", Object{"$ref": "#/$defs/which"}}
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// slug is the name under which the JSON Schema has a section, and what its heading
// in the reference is linked to by.
func slug(id string) string { return strings.ReplaceAll(id, " ", "-") }
