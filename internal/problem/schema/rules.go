package schema

import "math"

// Rule is one of the constraints.
var Rule = &Section{
	Name: "a rule", ID: "rule",
	About: "Exactly one key; another rule is another item of the list. [rules.md](rules.md) says what each means.",
	Keys: []Key{
		{"require", ingredients(), "", "always used", "{require: [Gin]}"},
		{"exclude", ingredients(), "", "never used", "{exclude: [Egg]}"},
		{"amount", link("amount"), "", "how much, where it is used", "{amount: {of: Gin, min: 20, max: \"40%\"}}"},
		{"group", link("group"), "", "how many of a group, and how much of it", "{group: {of: [Gin, Vodka], used: [1, 1], total: [\"30%\", \"70%\"]}}"},
		{"never", ingredients(), "", "at most one of them", "{never: [Milk, Lemon juice]}"},
		{"needs", link("needs"), "", "with one ingredient comes one of others", "{needs: {if: Egg white, then: [Lemon juice, Lime juice]}}"},
		{"limit", link("limit"), "", "a mean over the composition, or over some of it", "{limit: {attribute: abv, min: 10, max: 25}}"},
		{"limits", link("table"), "", "a limit from each row of a table: `attribute`, `min`, `max`", "{limits: {file: limits.csv}}"},
		{"constituents", link("table"), "", "what ingredients consist of, `ingredient`, `constituent`, `share`: each constituent becomes an attribute; not within other rules", "{constituents: {file: constituents.csv}}"},
		{"ratio", link("ratio"), "", "what some take by what others do", "{ratio: {of: Gin, to: Vermouth, min: 2, max: 3}}"},
		{"near", link("near"), "", "how far from a recipe", "{near: {recipe: Negroni, changes: 2}}"},
		{"if", link("if"), "", "rules that hold on a condition", "{if: {used: Milk, then: {exclude: [Lemon juice]}}}"},
		{"block", link("block"), "", "a part that adds up by itself", "{block: {of: {phase: water}, total: 700, rules: []}}"},
	},
	one: []string{"require", "exclude", "amount", "group", "never", "needs", "limit", "limits", "constituents", "ratio", "near", "if", "block"},
}

// inner is a rule within another, or a list of them.
func inner(least int) Type {
	one := link("rule")
	one.rule["not"] = object{"required": []string{"constituents"}}
	return oneOrMore(one, least)
}

// bound is a bound on amounts, at least so much, which may be a column.
func bound(least int) Type {
	return Type{"units, percentage, or an attribute that has either", object{"anyOf": []object{
		{"type": "integer", "minimum": least},
		{"type": "string", "pattern": `\S`},
	}}}
}

// Amount bounds amounts.
var Amount = &Section{
	Name: "amount", ID: "amount",
	About: "Bounds hold where an ingredient is used; to have it always used, add `require`.",
	Keys: []Key{
		{"of", ingredients(), "", "each of them", "{of: \"*\", min: 5}"},
		{"min", bound(1), "none", "the least", "{of: \"*\", min: min_dose}"},
		{"max", bound(1), "none", "the greatest", "{of: Gin, max: \"60%\"}"},
		{"step", units(1), "1", "min, min + step and so on; without min its multiples", "{of: Gin, step: 50}"},
		{"stock", Type{"number and unit, or an attribute that has it", object{"anyOf": []object{{"type": "number", "minimum": 0}, {"type": "string", "pattern": `\S`}}}}, "none", "how much there is; without a batch in units of the total", "{of: Gin, stock: 350 ml, batch: 750 ml}"},
		{"batch", Type{"number and unit", object{"anyOf": []object{{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": `^\s*[0-9.][^%]*$`}}}}, "the total", "how much is made, in the unit of the stock", "{of: Gin, stock: 35, batch: 50}"},
		{"within", choice("book"), "none", "the doses that the known recipes have", "{of: \"*\", within: book}"},
	},
	need:  []string{"of"},
	some:  []string{"min", "max", "step", "stock", "within"},
	with:  map[string]string{"batch": "stock"},
	alone: map[string]string{"within": "min max step stock batch"},
}

// Group bounds several ingredients together.
var Group = &Section{
	Name: "group", ID: "group",
	About: "Bounds on several ingredients taken together.",
	Keys: []Key{
		{"of", ingredients(), "", "the members", "{of: [Gin, Vodka], used: [1, 1]}"},
		{"used", pair(whole(0, math.MaxInt32)), "any", "how many of them are used, least and greatest", "{of: {family: spirit}, used: [1, 2]}"},
		{"total", pair(units(0)), "any", "what they add up to, least and greatest", "{of: {family: spirit}, total: [\"20%\", 700]}"},
	},
	need: []string{"of"},
	some: []string{"used", "total"},
}

// Needs ties an ingredient to others.
var Needs = &Section{
	Name: "needs", ID: "needs", About: "What comes along with an ingredient.",
	Keys: []Key{
		{"if", ingredients(), "", "one ingredient", "{if: Milk, then: Sugar}"},
		{"then", ingredients(), "", "where it is used, at least one of these is, too", "{if: Milk, then: [Gin, Sugar]}"},
	},
	need: []string{"if", "then"},
}

// Limit bounds the mean of an attribute.
var Limit = &Section{
	Name: "limit", ID: "limit", About: "Bounds on Σ a_i·x_i / Σ x_i, over all ingredients or some; or on what a property predicts.",
	Keys: []Key{
		{"attribute", text("attribute"), "", "a column of the ingredients, of numbers, or a constituent", "{attribute: cost, max: 20}"},
		{"of", ingredients(), "all", "the mean over these alone", "{attribute: cost, of: {family: spirit}, max: 15}"},
		{"property", text("property"), "", "one of the problem's properties: its value, its chance, or else its score", "{property: Fresh, min: \"20%\"}"},
		{"sure", either(percentage(), between(0, 1)), "", "with what probability a measurement is to lie within the bounds; without it its expectation lies there", "{property: stars, min: 2, sure: \"10%\"}"},
		{"min", either(number(), percentage()), "none", "the least", "{attribute: abv, min: 10}"},
		{"max", either(number(), percentage()), "none", "the greatest", "{attribute: abv, max: 30}"},
	},
	one:   []string{"attribute", "property"},
	some:  []string{"min", "max"},
	alone: map[string]string{"property": "of"},
	with:  map[string]string{"sure": "property"},
	more: []object{{"anyOf": []object{
		{"required": []string{"property"}},
		{"properties": object{"min": object{"type": "number"}, "max": object{"type": "number"}}},
	}}},
}

// Ratio bounds what some take by what others do.
var Ratio = &Section{
	Name: "ratio", ID: "ratio", About: "Bounds on Σ x_i of some over Σ x_i of others.",
	Keys: []Key{
		{"of", ingredients(), "", "what stands above", "{of: Gin, to: Vermouth, min: 2}"},
		{"to", ingredients(), "", "what stands below", "{of: Gin, to: {family: citrus}, max: 3}"},
		{"min", atLeast(0), "none", "the least ratio", "{of: Gin, to: Sugar, min: 1.5}"},
		{"max", atLeast(0), "none", "the greatest ratio", "{of: Sugar, to: {family: citrus}, max: 1}"},
	},
	need: []string{"of", "to"},
	some: []string{"min", "max"},
}

// Near keeps to a recipe.
var Near = &Section{
	Name: "near", ID: "near", About: "How far from a recipe a composition may be.",
	Keys: []Key{
		{"recipe", either(text("recipe"), named("ingredients", units(1), object{"minProperties": 1})), "", "a known recipe, or one of your own", "{recipe: {Gin: 600, Lemon juice: \"30%\", Sugar: 100}, changes: 1}"},
		{"changes", whole(0, math.MaxInt32), "any", "how many ingredients may come or go; a swap is two", "{recipe: Negroni, changes: 2}"},
		{"distance", units(0), "any", "how much may change hands", "{recipe: Negroni, distance: \"40%\"}"},
	},
	need: []string{"recipe"},
	some: []string{"changes", "distance"},
}

// If is rules on a condition.
var If = &Section{
	Name: "if", ID: "if", About: "Of `used` one that is used is enough; `unused` asks that none is; with both, both must hold.",
	Keys: []Key{
		{"used", ingredients(), "", "any of these is used", "{used: Milk, then: {exclude: [Lemon juice]}}"},
		{"unused", ingredients(), "", "none of these is used", "{unused: [Gin, Vodka], then: {require: [Vermouth]}}"},
		{"then", inner(1), "", "what holds then", "{used: Milk, then: [{exclude: [Lime juice]}, {amount: {of: Sugar, min: 50}}]}"},
	},
	need: []string{"then"},
	some: []string{"used", "unused"},
}

// Block is a part with a total of its own.
var Block = &Section{
	Name: "block", ID: "block", About: "Rules within a block know its ingredients alone; percentages and means are of it.",
	Keys: []Key{
		{"of", ingredients(), "", "the members", "{of: {phase: water}, total: 700}"},
		{"total", units(1), "", "what they add up to", "{of: {phase: oil}, total: \"40%\"}"},
		{"rules", optional(inner(0)), "none", "rules within it", "{of: {phase: water}, total: 700, rules: [{amount: {of: Lemon juice, max: \"30%\"}}]}"},
	},
	need: []string{"of", "total"},
}
