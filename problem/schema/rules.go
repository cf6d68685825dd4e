package schema

import "math"

// Rule is one of the constraints.
var Rule = &Section{
	Name: "a rule", ID: "rule",
	About: "Exactly one key; another rule is another item of the list.",
	Keys: []Key{
		{"require", ingredients(), "", "always used", "{require: [Gin]}"},
		{"exclude", ingredients(), "", "never used", "{exclude: [Milk, \"*vermouth\"]}"},
		{"amount", link("amount"), "", "how much, where it is used", "{amount: {of: Gin, min: 20}}"},
		{"group", link("group"), "", "how many of a group, and how much of it", "{group: {of: {family: citrus}, used: [0, 1]}}"},
		{"never", ingredients(), "", "at most one of them", "{never: [Milk, Lemon juice]}"},
		{"needs", link("needs"), "", "with one ingredient comes one of others", "{needs: {if: Milk, then: [Gin, Sugar]}}"},
		{"limit", link("limit"), "", "a mean over the composition", "{limit: {attribute: cost, max: 20}}"},
	},
	one: []string{"require", "exclude", "amount", "group", "never", "needs", "limit"},
}

// Amount bounds amounts.
var Amount = &Section{
	Name: "amount", ID: "amount",
	About: "Bounds hold where an ingredient is used; to have it always used, add `require`.",
	Keys: []Key{
		{"of", ingredients(), "", "each of them", "{of: \"*\", min: 5}"},
		{"min", units(1), "none", "the least", "{of: Gin, min: 20}"},
		{"max", units(1), "none", "the greatest", "{of: Gin, max: \"60%\"}"},
		{"step", units(1), "1", "min, min + step and so on; without min its multiples", "{of: Gin, step: 5}"},
		{"within", choice("book"), "none", "the doses that the known recipes have", "{of: \"*\", within: book}"},
	},
	need:  []string{"of"},
	some:  []string{"min", "max", "step", "within"},
	alone: map[string]string{"within": "min max step"},
}

// Group bounds several ingredients together.
var Group = &Section{
	Name: "group", ID: "group",
	About: "Bounds on several ingredients taken together.",
	Keys: []Key{
		{"of", ingredients(), "", "the members", "{of: [Gin, Vodka], used: [1, 1]}"},
		{"used", pair(whole(0, math.MaxInt32)), "any", "how many of them are used, least and greatest", "{of: {family: spirit}, used: [1, 2]}"},
		{"total", pair(units(0)), "any", "what they add up to, least and greatest", "{of: {family: spirit}, total: [\"20%\", \"70%\"]}"},
	},
	need: []string{"of"},
	some: []string{"used", "total"},
}

// Needs ties an ingredient to others.
var Needs = &Section{
	Name: "needs", ID: "needs", About: "A condition on what is used.",
	Keys: []Key{
		{"if", ingredients(), "", "one ingredient", "{if: Milk, then: Sugar}"},
		{"then", ingredients(), "", "where it is used, at least one of these is, too", "{if: Milk, then: [Gin, Sugar]}"},
	},
	need: []string{"if", "then"},
}

// Limit bounds the mean of an attribute.
var Limit = &Section{
	Name: "limit", ID: "limit", About: "Bounds on Σ a_i·x_i / M.",
	Keys: []Key{
		{"attribute", text("attribute"), "", "a column of the ingredients, of numbers", "{attribute: cost, max: 20}"},
		{"min", number(), "none", "the least mean", "{attribute: strength, min: 10}"},
		{"max", number(), "none", "the greatest mean", "{attribute: strength, max: 30}"},
	},
	need: []string{"attribute"},
	some: []string{"min", "max"},
}
