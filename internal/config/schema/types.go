package schema

import (
	"math"
	"strconv"
	"strings"
)

// An Object is a JSON Schema or a part of one.
type Object = map[string]any

// A Type describes the values that a key may have.
type Type struct {
	Words  string // description in the reference documentation
	Schema Object // description in the JSON Schema
}

// Link returns the type of a mapping that the section with an ID describes. It takes an ID and not a pointer,
// because sections may contain themselves.
func Link(id string) Type {
	return Type{"[" + id + "](#" + slug(id) + ")", Object{"$ref": "#/$defs/" + slug(id)}}
}

// Text returns the type of a text that is not empty. A number or a boolean counts as text. The parameter words
// is the description of the text.
func Text(words string) Type {
	return Type{words, Object{"type": []string{"string", "number", "boolean"}, "pattern": `\S`}}
}

// Duration returns the type of a time such as 60s or 1h30m, or the word none.
func Duration() Type {
	return Type{"duration; or `none`", Object{"type": "string", "pattern": `^(none|\+?0*([0-9]*\.)?[0-9]*[1-9][0-9.]*(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*)$`}}
}

// File returns the type of a file name. It does not accept a number, which has another meaning under such a
// key.
func File() Type { return Type{"file", Object{"type": "string", "pattern": `\S`}} }

// Percentage returns the type of a number with a percent sign.
func Percentage() Type {
	return Type{"percentage", Object{"type": "string", "pattern": `^\s*[0-9.]+\s*%\s*$`}}
}

// Choice returns the type of a key whose value must be one of the given words.
func Choice(words ...string) Type {
	return Type{"`" + strings.Join(words, "`, `") + "`", Object{"enum": words}}
}

// OnlyTrue returns the type of a key whose only valid value is true.
func OnlyTrue() Type { return Type{"`true`", Object{"const": true}} }

// Boolean returns the type of true or false.
func Boolean() Type { return Type{"`true` or `false`", Object{"type": "boolean"}} }

// Number returns the type of a finite number.
func Number() Type { return Type{"number", Object{"type": "number"}} }

// Above returns the type of a number that is greater than a bound.
func Above(least int) Type {
	return Type{"number above " + strconv.Itoa(least), Object{"type": "number", "exclusiveMinimum": least}}
}

// AtLeast returns the type of a number that is not below a minimum.
func AtLeast(least float64) Type {
	return Type{"number from " + formatNumber(least), Object{"type": "number", "minimum": least}}
}

// Between returns the type of a number from least to most.
func Between(least, most float64) Type {
	return Type{"number, " + formatNumber(least) + " to " + formatNumber(most), Object{"type": "number", "minimum": least, "maximum": most}}
}

// Integer returns the type of a whole number from least to most. The description does not mention most if it
// is 2³¹−1 or more.
func Integer(least, most int) Type {
	words := "whole number from " + strconv.Itoa(least)
	if most < math.MaxInt32 {
		words = "whole number, " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	}
	return Type{words, Object{"type": "integer", "minimum": least, "maximum": most}}
}

// Seed returns the type of a seed of random numbers.
func Seed() Type {
	return Type{"whole number from 0 to 2⁶⁴−1", Object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}}
}

// Units returns the type of an amount: a whole number of units, not below a minimum, or a percentage of the
// total.
func Units(least int) Type {
	return Type{"units or percentage", Object{"anyOf": []Object{
		{"type": "integer", "minimum": least},
		{"type": "string", "pattern": `^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*$`},
	}}}
}

// Either returns the type of a value that may have any of the given types.
func Either(types ...Type) Type {
	var words []string
	var rules []Object
	for _, t := range types {
		words, rules = append(words, t.Words), append(rules, t.Schema)
	}
	return Type{strings.Join(words, "; or "), Object{"anyOf": rules}}
}

// List returns the type of a list of values. The list has at least minCount values.
func List(of Type, minCount int) Type {
	rule := Object{"type": "array", "items": of.Schema}
	if minCount > 0 {
		rule["minItems"] = minCount
	}
	return Type{"list of " + of.Words, rule}
}

// Several returns the type of a list of distinct values. The number of values is from minCount to maxCount.
func Several(of Type, minCount, maxCount int) Type {
	list := List(of, minCount)
	list.Schema["maxItems"], list.Schema["uniqueItems"] = maxCount, true
	return Type{list.Words + ", " + strconv.Itoa(minCount) + " to " + strconv.Itoa(maxCount), list.Schema}
}

// OneOrMore returns the type of a single value or of a list of values. The list has at least minCount values.
func OneOrMore(of Type, minCount int) Type {
	return Type{of.Words + ", or a list", Either(of, List(of, minCount)).Schema}
}

// Pair returns the type of a list of two values.
func Pair(of Type) Type {
	return Type{"two of: " + of.Words, Object{"type": "array", "items": of.Schema, "minItems": 2, "maxItems": 2}}
}

// MapOf returns the type of a mapping from names to values. The parameter names describes the names, of is the
// type of the values, and more has further parts of the JSON Schema of the mapping.
func MapOf(names string, of Type, more Object) Type {
	rule := Object{"type": "object", "additionalProperties": of.Schema}
	for key, v := range more {
		rule[key] = v
	}
	return Type{"mapping from " + names + " to " + of.Words, rule}
}

// Optional returns the type of a value that may be left empty. An empty value has the same meaning as an absent
// key.
func Optional(t Type) Type {
	return Type{t.Words, Object{"anyOf": []Object{t.Schema, {"type": "null"}}}}
}

// Ingredients returns the type of a value that names ingredients.
func Ingredients() Type {
	return Type{"[which ingredients](#which-ingredients)", Object{"$ref": "#/$defs/which"}}
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// slug returns the name in the JSON Schema of the section with an ID. The name is also the anchor of the
// heading of the section in the reference documentation.
func slug(id string) string { return strings.ReplaceAll(id, " ", "-") }
