package schema

import "kir/model"

// Property is one of the wishes.
var Property = &Section{
	Name: "a property", ID: "property",
	About: "One kind, and perhaps a weight. [properties.md](properties.md) has the formulas.",
	Keys: []Key{
		{"weight", atLeast(0), "1", "the target is multiplied by y to this power", "{learn: {label: taste, want: Fresh}, weight: 2}"},
		{"learn", link("learn"), "", "a label of the recipes, by the best model that they allow", "{learn: {label: taste, want: Fresh}}"},
		{"forest", link("forest"), "", "a label, by a random forest", "{forest: {label: taste, want: Fresh}}"},
		{"process", link("process"), "", "a label that is a number, by a Gaussian process", "{process: {label: stars, maximize: true}}"},
		{"model", link("model"), "", "a tree ensemble of another program", "{model: {file: model.txt, class: 1, constants: {temperature: 180}}}"},
		{"blend", link("blend"), "", "a mean of an attribute", "{blend: {attribute: cost, smaller: {from: 5, to: 30}}}"},
		{"pairs", link("pairs"), "", "what goes together, two by two", "{pairs: {lift: mean}}"},
		{"novelty", link("novelty"), "", "far from known recipes", "{novelty: {floor: 0.01}}"},
		{"likeness", link("likeness"), "", "near to known recipes", "{likeness: {by: amounts, to: Sour}}"},
		{"preference", link("preference"), "", "what somebody liked better in pairs", "{preference: {pairs: tasted.csv}}"},
		{"markowitz", link("markowitz"), "", "return against risk", "{markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}}"},
		{"document", link("document"), "", "a mixture of topics that explains words", "{document: {topics: topics.csv, words: words.csv}}"},
		{"expression", either(text("formula"), link("expression")), "", "a formula in quotes, or one to be as large or as small as possible; see [properties.md](properties.md#expression)", "{expression: 'share(\"Gin\") > 0.2 ? 1 : 0.1'}"},
		{"program", link("program"), "", "an answer of your program; **it runs with your rights**", "{program: {command: [sh, scorer.sh]}}"},
	},
	one: []string{"learn", "forest", "process", "model", "blend", "pairs", "novelty", "likeness", "preference", "markowitz", "document", "expression", "program"},
}

var floorKey = func(example string) Key {
	return Key{"floor", between(0, 1), "0", "the least score", example}
}

// learnable returns the keys of what is learnt from a label of the recipes: the label,
// and what is asked of it.
func learnable(label, wanted string) []Key {
	keys := []Key{{"label", text("label"), "", "a label of the recipes", label}}
	if wanted != "" {
		keys = append(keys, Key{"want", oneOrMore(text("class"), 1), "", "a class, or any of several", wanted})
	}
	return append(keys,
		Key{"at_least", number(), "", "a number of at least this; `at_most` may stand beside it", "{label: stars, at_least: 4}"},
		Key{"at_most", number(), "", "a number of at most this", "{label: stars, at_least: 2, at_most: 4}"},
		Key{"between", pair(number()), "", "a number from the first to the second", "{label: stars, between: [3, 5]}"},
		Key{"maximize", yes(), "", "as large a number as can be", "{label: stars, maximize: true}"},
		Key{"minimize", yes(), "", "as small a number as can be", "{label: stars, minimize: true}"},
	)
}

// measured returns the keys that say how numbers of the recipes are read.
func measured() []Key {
	return []Key{
		{"log", truth(), "`false`", "learn the logarithm of numbers that are all above 0, such as those that span decades", "{label: stars, maximize: true, log: true}"},
		{"sd", text("label"), "", "a column of the recipes with the standard deviations of the numbers", "{label: stars, maximize: true, sd: stars sd}"},
		{"failed", oneOrMore(text("value"), 0), "`failed`, `unstable`, `n/a` and the like", "further values of the label that say that a recipe failed", "{label: stars, maximize: true, failed: curdled}"},
	}
}

// Learn is the best model of a book.
var Learn = &Section{
	Name: "what is learnt", ID: "learn",
	About: "A label and one thing that is asked of it: `want`, bounds, or a direction. [models.md](models.md#what-is-learnt) says how it is learnt.",
	Keys: append(append(learnable("{label: taste, want: Fresh}", "{label: taste, want: [Fresh, Sour]}"), measured()...),
		Key{"trees", whole(1, model.MaxTrees), "100", "trees of the forest", "{label: taste, want: Fresh, trees: 200}"},
		floorKey("{label: taste, want: Fresh, floor: 0.01}"),
		Key{"seed", seed(), "1", "of the forest's random numbers", "{label: taste, want: Fresh, seed: 3}"},
		Key{"file", text("file"), "learnt", "a model that `kir train` saved", "{file: taste.model, want: Fresh}"},
	),
	some:  []string{"label", "file"},
	one:   []string{"want", "at_least at_most", "between", "maximize", "minimize"},
	alone: map[string]string{"want": "log sd failed", "file": "log sd failed trees seed"},
}

// Process is a Gaussian process.
var Process = &Section{
	Name: "a Gaussian process", ID: "process",
	About: "A label that is a number and one thing that is asked of it: bounds, or a direction.",
	Keys:  append(append(learnable("{label: stars, maximize: true}", ""), measured()...), floorKey("{label: stars, maximize: true, floor: 0.01}")),
	need:  []string{"label"},
	one:   []string{"at_least at_most", "between", "maximize", "minimize"},
}

// Forest is a random forest.
var Forest = &Section{
	Name: "a forest", ID: "forest",
	About: "A label, or a file, and one thing that is asked of it: `want`, bounds, or a direction.",
	Keys: []Key{
		{"label", text("label"), "", "a label of the recipes", "{label: taste, want: Fresh}"},
		{"want", oneOrMore(text("class"), 1), "", "a class, or any of several", "{label: taste, want: [Fresh, Sour]}"},
		{"at_least", number(), "", "a number of at least this; `at_most` may stand beside it", "{label: stars, at_least: 4}"},
		{"at_most", number(), "", "a number of at most this", "{label: stars, at_least: 2, at_most: 4}"},
		{"between", pair(number()), "", "a number from the first to the second", "{label: stars, between: [3, 5]}"},
		{"maximize", yes(), "", "as large a number as can be", "{label: stars, maximize: true}"},
		{"minimize", yes(), "", "as small a number as can be", "{label: stars, minimize: true}"},
		{"trees", whole(1, model.MaxTrees), "100; 300 with best splits to maximize or minimize", "trees", "{label: taste, want: Fresh, trees: 200}"},
		{"splits", choice("random", "best"), "`random`; `best` if `features` is given", "whether a split tries one threshold of each feature, drawn at random, or all", "{label: taste, want: Fresh, splits: best}"},
		{"features", whole(1, MaxIngredients), "√F for classes, at least 10, and all for numbers; with best splits √F and F/3", "features tried at a split, of F", "{label: taste, want: Fresh, features: 3}"},
		{"leaf", whole(1, 1<<30), "1; 5 for numbers with best splits", "recipes in the smallest leaf", "{label: taste, want: Fresh, leaf: 2}"},
		floorKey("{label: taste, want: Fresh, floor: 0.01}"),
		{"seed", seed(), "1", "of the forest's random numbers", "{label: taste, want: Fresh, seed: 3}"},
		{"add", link("added features"), "none", "more features than the amounts", "{label: taste, want: Fresh, add: {totals: family}}"},
		{"file", text("file"), "grown", "a forest that `kir train` saved", "{file: taste.forest, want: Fresh}"},
	},
	one:   []string{"want", "at_least at_most", "between", "maximize", "minimize"},
	some:  []string{"label", "file"},
	alone: map[string]string{"file": "trees splits features leaf seed add"},
}

// Add is what a forest looks at beside amounts.
var Add = &Section{
	Name: "add", ID: "added features", About: "Features of a forest beside the amounts. [models.md](models.md#forests-of-descriptors) says what each is.",
	Keys: []Key{
		{"totals", oneOrMore(text("attribute"), 0), "none", "the total of each group of an attribute", "{totals: [family, note]}"},
		{"means", oneOrMore(text("attribute"), 0), "none", "the mean of an attribute of numbers, weighted by amounts", "{means: cost}"},
		{"ratios", oneOrMore(text("attribute"), 0), "none", "the log-ratio of the totals of each two groups of an attribute", "{ratios: family}"},
		{"amounts", truth(), "`true`", "the amounts themselves", "{totals: family, amounts: false}"},
		{"presence", truth(), "`false`", "whether an ingredient, or any of a group, is there at all", "{presence: true}"},
	},
	more: []object{{"anyOf": []object{
		{"not": object{"required": []string{"amounts"}, "properties": object{"amounts": object{"const": false}}}},
		{"required": []string{"totals"}}, {"required": []string{"means"}}, {"required": []string{"ratios"}}, {"required": []string{"presence"}},
	}}},
}

// Blend is a mean and how desirable it is.
var Blend = &Section{
	Name: "a blend", ID: "blend",
	About: "An attribute and one way in which its mean is desirable. [properties.md](properties.md#objectives) says what `maximize` and `minimize` score.",
	Keys: []Key{
		{"attribute", text("attribute"), "", "a column of the ingredients; numbers for all of them, but with `is`", "{attribute: cost, smaller: {from: 5, to: 30}}"},
		{"is", oneOrMore(text("value"), 1), "", "the share of the ingredients that have one of these values, instead of a mean", "{attribute: family, is: citrus, normal: {mean: 0.25, sd: 0.03}}"},
		{"shape", either(above(0), pair(above(0))), "1", "an exponent; for `target` two: below it and above", "{attribute: cost, target: {from: 5, at: 12, to: 30}, shape: [1, 2]}"},
		floorKey("{attribute: cost, smaller: {from: 5, to: 30}, floor: 0.001}"),
		{"maximize", yes(), "", "as large as the rules allow", "{attribute: abv, maximize: true}"},
		{"minimize", yes(), "", "as small as the rules allow", "{attribute: cost, minimize: true}"},
		{"larger", link("larger"), "", "the more, the better", "{attribute: abv, larger: {from: 5, to: 20}}"},
		{"smaller", link("smaller"), "", "the less, the better", "{attribute: cost, smaller: {from: 5, to: 30}}"},
		{"target", link("target"), "", "best at a value", "{attribute: abv, target: {from: 5, at: 15, to: 30}}"},
		{"range", link("range"), "", "all the same within, and nothing beyond", "{attribute: abv, range: {from: 5, to: 30}}"},
		{"normal", link("normal"), "", "a bell around a value", "{attribute: abv, normal: {mean: 15, sd: 4}}"},
	},
	need:  []string{"attribute"},
	one:   []string{"maximize", "minimize", "larger", "smaller", "target", "range", "normal"},
	alone: map[string]string{"shape": "range normal"},
	more: []object{{"anyOf": []object{
		{"not": object{"required": []string{"shape"}, "properties": object{"shape": object{"type": "array"}}}},
		{"required": []string{"target"}},
	}}},
}

func span(name, about string) *Section {
	return &Section{
		Name: name, ID: name, About: about,
		Keys: []Key{
			{"from", number(), "", "the lower end", "{from: 5, to: 30}"},
			{"to", number(), "", "the upper end", "{from: 4.5, to: 30}"},
		},
		need: []string{"from", "to"},
	}
}

// Desirable returns the section of one of the ways in which the mean of a blend
// is desirable.
func Desirable(key string) *Section {
	return map[string]*Section{"larger": larger, "smaller": smaller, "target": target, "range": within, "normal": bell}[key]
}

var (
	larger  = span("larger", "0 up to `from`, 1 from `to` on.")
	smaller = span("smaller", "1 up to `from`, 0 from `to` on.")
	within  = span("range", "1 from `from` to `to`, 0 elsewhere.")
	target  = &Section{
		Name: "target", ID: "target", About: "1 at `at`, 0 outside `from` to `to`.",
		Keys: []Key{
			{"from", number(), "", "the lower end", "{from: 5, at: 15, to: 30}"},
			{"at", number(), "", "the best value", "{from: 5, at: 15.5, to: 30}"},
			{"to", number(), "", "the upper end", "{from: 5, at: 15, to: 40}"},
		},
		need: []string{"from", "at", "to"},
	}
	bell = &Section{
		Name: "normal", ID: "normal", About: "exp(−(v − mean)²/(2·sd²)), never 0.",
		Keys: []Key{
			{"mean", number(), "", "the best value", "{mean: 15, sd: 4}"},
			{"sd", above(0), "", "the standard deviation", "{mean: 15, sd: 2.5}"},
		},
		need: []string{"mean", "sd"},
	}
)

// Pairs are pairs of ingredients.
var Pairs = &Section{
	Name: "pairs", ID: "pairs",
	About: "How usual the pairs of a composition are in the book, and factors of your own.",
	Keys: []Key{
		{"lift", choice("mean", "product", "none"), "`mean`, without recipes `none`", "how the lifts of the pairs count together", "{lift: product}"},
		{"smooth", above(0), "1", "how many recipes' worth of doubt pull lifts to 1", "{smooth: 2}"},
		{"favour", list(link("pair to favour"), 0), "none", "pairs that are better", "{favour: [{of: [Gin, Lemon juice], factor: 2}]}"},
		{"avoid", list(link("pair to avoid"), 0), "none", "pairs that are worse", "{avoid: [{of: [Milk, {family: citrus}], factor: 0.01}]}"},
	},
	more: []object{{"not": object{"required": []string{"lift", "smooth"}, "properties": object{"lift": object{"const": "none"}}}}},
}

func pairOf(key string, factor Type, example, about string) *Section {
	return &Section{
		Name: "a pair to " + key, ID: "pair to " + key, About: about,
		Keys: []Key{
			{"of", pair(ingredients()), "", "its two sides", "{of: [Gin, {family: citrus}], factor: " + example + "}"},
			{"factor", factor, "", "what the score of each pair of the two sides is multiplied by", "{of: [Gin, Sugar], factor: " + example + "}"},
		},
		need: []string{"of", "factor"},
	}
}

// PairTo returns the section of a pair to favour or to avoid.
func PairTo(key string) *Section {
	return map[string]*Section{"favour": favour, "avoid": avoid}[key]
}

var (
	favour = pairOf("favour", above(1), "3", "A pair that is better than others.")
	avoid  = pairOf("avoid", Type{"number, 0 to below 1", object{"type": "number", "minimum": 0, "exclusiveMaximum": 1}}, "0.1", "A pair that is worse than others; a factor of 0 forbids it.")
)

func nearest(kind, about string) *Section {
	return &Section{
		Name: kind, ID: kind, About: about,
		Keys: []Key{
			{"by", choice("overlap", "amounts"), "`overlap`", "ingredients alone, or amounts (Aitchison's distance)", "{by: amounts}"},
			{"to", oneOrMore(text("recipe"), 1), "all in the book", "which recipes", "{to: [Sour, Cobbler]}"},
			{"zero", between(1e-6, 1), "0.5", "by amounts: units that stand in place of 0", "{by: amounts, zero: 0.1}"},
			{"scale", above(0), "the median distance to the nearest other", "by amounts: the distance at which likeness has fallen to 61 %", "{by: amounts, scale: 3}"},
			floorKey("{floor: 0.01}"),
		},
		more: []object{{"anyOf": []object{
			{"not": object{"anyOf": []object{{"required": []string{"zero"}}, {"required": []string{"scale"}}}}},
			{"required": []string{"by"}, "properties": object{"by": object{"const": "amounts"}}},
		}}},
	}
}

// Nearest returns the section of novelty or of likeness.
func Nearest(kind string) *Section {
	return map[string]*Section{"novelty": novelty, "likeness": likeness}[kind]
}

var (
	novelty  = nearest("novelty", "How far from known recipes a composition is.")
	likeness = nearest("likeness", "How near to known recipes a composition is.")
)

// Preference is a taste that is learnt from comparisons.
var Preference = &Section{
	Name: "a preference", ID: "preference", About: "What somebody liked better in pairs, as [kir serve](serve.md) asks for it.",
	Keys: []Key{
		{"pairs", text("file"), "", "a CSV file with the columns pair, choice (better or worse), ingredient and amount", "{pairs: tasted.csv}"},
		{"groups", text("attribute"), "", "an attribute whose totals tell of taste, too", "{pairs: tasted.csv, groups: family}"},
		{"first", whole(1, 500), "all", "how many of the pairs count, from the beginning", "{pairs: tasted.csv, first: 1}"},
	},
	need: []string{"pairs"},
}

// Markowitz is return against risk.
var Markowitz = &Section{
	Name: "markowitz", ID: "markowitz", About: "log y = μᵀw − a·wᵀΣw of the shares w. [properties.md](properties.md#markowitz) says how μ and Σ follow from prices.",
	Keys: []Key{
		{"returns", either(text("file"), link("table"), link("returns")), "", "a table of prices or returns, dates down the side and a column for each ingredient; beside `covariance` μ: a CSV file with the columns name and `return`, or an attribute", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 1.5}"},
		{"covariance", text("file"), "that of the history", "Σ: a CSV file with a row and a column for each ingredient", "{returns: {attribute: cost}, covariance: covariance.csv, risk_aversion: 2}"},
		{"maximize", choice("return", "ratio"), "", "the return alone, or the return by the volatility", "{returns: prices.csv, maximize: ratio}"},
		{"minimize", choice("volatility"), "", "the volatility alone", "{returns: prices.csv, minimize: volatility}"},
		{"risk_aversion", atLeast(0), "1.5", "a", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 0}"},
		{"as", choice("prices", "returns", "percent"), "as the numbers show", "whether the table has prices, returns (0.01), or returns in percent (1)", "{returns: prices.csv, as: prices}"},
		{"periods", above(0), "as the dates show", "how many rows of the table a year has: 252, 52, 12", "{returns: prices.csv, periods: 12}"},
	},
	need:  []string{"returns"},
	alone: map[string]string{"covariance": "as periods", "risk_aversion": "maximize minimize", "maximize": "minimize"},
	more: []object{
		{"anyOf": []object{{"required": []string{"covariance"}}, {"not": object{"properties": object{"returns": object{"type": "object", "required": []string{"attribute"}}}}}}},
		{"anyOf": []object{{"not": object{"required": []string{"covariance"}}}, {"not": object{"properties": object{"returns": object{"type": "object", "required": []string{"file"}}}}}}},
	},
}

// Returns are expected returns as a column of the ingredients.
var Returns = &Section{
	Name: "returns", ID: "returns", About: "Expected returns that the table of ingredients has.",
	Keys: []Key{{"attribute", text("attribute"), "", "a column of numbers", "{attribute: cost}"}},
	need: []string{"attribute"},
}

// Expression is a formula whose value is an objective.
var Expression = &Section{
	Name: "an expression", ID: "expression",
	About: "A formula and a direction. [properties.md](properties.md#objectives) says what it scores.",
	Keys: []Key{
		{"formula", text("formula"), "", "in quotes; its value may be any number", "{formula: 'mean(\"cost\") * 2', minimize: true}"},
		{"maximize", yes(), "", "as large as the rules allow", "{formula: 'mean(\"cost\") * 2', maximize: true}"},
		{"minimize", yes(), "", "as small as the rules allow", "{formula: 'mean(\"cost\") * 2', minimize: true}"},
		{"unit", text("unit"), "none", "of the value, as it is shown", "{formula: 'mean(\"cost\") * 2', minimize: true, unit: €/kg}"},
		{"shape", above(0), "1", "an exponent", "{formula: 'mean(\"cost\") * 2', minimize: true, shape: 2}"},
		{"floor", between(0, 1), "0.001", "the least score", "{formula: 'mean(\"cost\") * 2', minimize: true, floor: 0.01}"},
	},
	need: []string{"formula"},
	one:  []string{"maximize", "minimize"},
}

// Document is a document and its topics.
var Document = &Section{
	Name: "a document", ID: "document", About: "The likelihood of a document when its words come from a mixture of topics.",
	Keys: []Key{
		{"topics", text("file"), "", "a CSV file: a row a topic, a column a word, probabilities", "{topics: topics.csv, words: words.csv}"},
		{"words", either(text("file"), named("words", whole(0, 1e9), object{"minProperties": 1})), "", "how often the document has each word", "{topics: topics.csv, words: {river: 3, bank: 1}}"},
	},
	need: []string{"topics", "words"},
}

// Program is a program that scores.
var Program = &Section{
	Name: "a program", ID: "program",
	About: "A program that reads recipes and writes scores, as [examples/scorer](../examples/scorer) shows. It runs with your rights.",
	Keys: []Key{
		{"command", oneOrMore(text("word"), 1), "", "the program and its arguments; no shell reads them", "{command: [sh, scorer.sh]}"},
		{"timeout", between(0.001, 1e6), "60", "seconds for a batch", "{command: [sh, scorer.sh], timeout: 5}"},
		{"processes", whole(1, 1024), "1", "how many copies may run", "{command: [sh, scorer.sh], processes: 2}"},
		{"batch", whole(1, 1024), "16", "how many whole candidates a move asks for at once", "{command: [sh, scorer.sh], batch: 4}"},
	},
	need: []string{"command"},
}
