package schema

import (
	"fmt"
	"math"

	"kir/internal/dataset"
)

// Limits of values in a problem file.
const (
	MaxIngredients = 10_000_000 // maximum number of ingredients, if the file gives only their number
	MaxWhole       = 1 << 53    // 2⁵³; YAML numbers up to this limit represent every whole number exactly
	MaxEffort      = 1000       // maximum effort of a search, as a multiple of the default effort
	MaxBatch       = 1000       // maximum number of recipes in a batch of a campaign
	DefaultBatch   = 8          // default number of recipes in a batch
	MaxSplits      = 1 << 22    // maximum total in units, if a property is scored at every way in which two ingredients share an amount: chains store a weight for each way
	MaxTrees       = 1 << 16    // maximum number of trees in a forest, as in package model

	MinTradeObjectives, MaxTradeObjectives = 2, 4 // minimum and maximum number of objectives in a trade-off
)

// Reserved returns the names that properties must not have, because draws and summaries use these names.
func Reserved() []string {
	return []string{"chain", "draw", "log_density", "used", "ingredient", "amount", "recipe", "score"}
}

// Problem describes the keys of a complete problem file.
var Problem = &Section{
	Name: "a problem", ID: "problem",
	About: "A problem file has these keys at its top level.",
	Keys: []Key{
		NewKey("name", Text("text"), "name of the file or of its directory", "name of the problem", "{name: Fresh drinks}"),
		NewKey("recipes", Either(Text("file"), Link("table of recipes"), List(Either(Text("file"), Link("table of recipes")), 1)), "", "one table of known recipes or several; see [tables.md](tables.md). kir also reads the results of the problem's campaign", "{recipes: recipes.csv}"),
		NewKey("labels", List(Text("text"), 0), "text columns, and columns that forests learn", "columns of the recipes that are labels, not ingredients", "{labels: [taste, stars]}"),
		NewKey("units", MapOf("units", Text("a size"), nil), "[those in tables.md](tables.md#units)", "sizes of the units in the recipes", "{units: {dash: 0.08 cl, piece: 5 cl}}"),
		NewKey("ingredients", Either(File(), List(Text("name"), 1), Link("table"), Link("counted ingredients")), "ingredients of the recipes", "the available ingredients: a file with a column `name` and attributes, a list of names, or a count", "{ingredients: stock.csv}"),
		NewKey("total", Integer(1, math.MaxInt32), "", "M, the number of units of a recipe; 1000 gives steps of 0.1 %", "{total: 1000}"),
		NewKey("conditions", Optional(MapOf("columns of the recipes", Link("condition"), Object{"maxProperties": 32})), "none", "quantities that a trial sets besides amounts; see [conditions.md](conditions.md)", "{conditions: {temperature: {from: 150, to: 190, step: 5}}}"),
		NewKey("sparsity", Either(Choice("recipes"), Link("law of n")), "`recipes` if the file has recipes", "distribution of n, the number of ingredients that a recipe uses", "{sparsity: {uniform: [3, 5]}}"),
		NewKey("properties", Optional(MapOf("names", Link("property"), Object{"propertyNames": Object{"pattern": `^[^\r\n]*\S[^\r\n]*$`, "not": Object{"enum": Reserved()}}})), "none", "the objectives; see [properties.md](properties.md)", "{properties: {taste: {learn: {label: taste, want: Fresh}}}}"),
		NewKey("constraints", Optional(List(Link("rule"), 0)), "none", "rules that every recipe satisfies; see [rules.md](rules.md)", "{constraints: [{exclude: [Egg]}]}"),
		NewKey("trade", Optional(Several(Text("objective"), MinTradeObjectives, MaxTradeObjectives)), "none", "objectives whose trade-off kir finds; see [tradeoff.md](tradeoff.md)", "{trade: [cost, viscosity]}"),
		NewKey("sampler", Optional(Link("sampler")), "as below", "number of draws and sampling method", "{sampler: {draws: 20000, seed: 7}}"),
		NewKey("search", Optional(Link("search")), "as below", "the search for the best recipes; see [search.md](search.md)", "{search: {effort: 4}}"),
		NewKey("campaign", Optional(Link("campaign")), "as below", "how kir chooses batches of experiments; see [campaign.md](campaign.md)", "{campaign: {batch: 4}}"),
	},
	Required:     []string{"total"},
	AtLeastOneOf: []string{"recipes", "ingredients"},
	Requires:     map[string]string{"labels": "recipes", "units": "recipes"},
	Extra: []Object{
		{"anyOf": []Object{{"required": []string{"sparsity"}}, {"required": []string{"recipes"}}}},
		{"not": Object{"required": []string{"recipes", "ingredients"}, "properties": Object{"ingredients": Object{"type": "object", "required": []string{"count"}}}}},
	},
}

// tableKeys returns the keys that all tables may have. The parameters file and sheet are the names of a file
// and of a sheet for the examples in the documentation.
func tableKeys(file, sheet string) []Key {
	in := func(rest string) string { return "{file: " + file + rest + "}" }
	return []Key{
		NewKey("file", Text("file"), "", "the table", in("")),
		NewKey("sheet", Text("text"), "the sheet that looks suitable", "the sheet of a workbook", "{file: "+sheet+"}"),
		NewKey("encoding", Text("text"), "detected", "character encoding of a text file, by its web name", in(", encoding: utf-8")),
		NewKey("delimiter", Choice("comma", "semicolon", "tab", "bar"), "detected", "the separator of columns", in(", delimiter: comma")),
		NewKey("decimal", Choice("point", "comma"), "detected", "the decimal mark", in(", decimal: point")),
	}
}

// RecipeTable describes the keys of a table of recipes.
var RecipeTable = &Section{
	Name: "a table", ID: "table of recipes",
	About: "These keys of `recipes` override what kir guesses about a table. If a guess is uncertain, kir asks, and shows the line to add.",
	Keys: append(tableKeys("recipes.csv", "bar.xlsx, sheet: Drinks"),
		NewKey("columns", MapOf("columns", Choice(columnRoleNames()...), nil), "detected", "roles of columns", "{file: recipes.csv, columns: {stars: label}}"),
		NewKey("names", MapOf("spellings", Text("an ingredient"), nil), "none", "the ingredient for each spelling in the table", "{file: recipes.csv, names: {Campri: Campari}}"),
		NewKey("without", List(Text("a recipe"), 0), "none", "recipes of the table that kir omits", "{file: recipes.csv, without: [Total]}"),
		NewKey("including", List(Text("a recipe"), 0), "none", "recipes that kir would otherwise omit, such as a row of totals", "{file: recipes.csv, including: [Total]}"),
		NewKey("unknown", List(Text("a text"), 0), "none", "texts for unknown values in columns of numbers", "{file: recipes.csv, unknown: [gelled]}")),
	Required: []string{"file"},
}

// Table describes the keys of any table other than a table of recipes.
var Table = &Section{
	Name: "a table", ID: "table",
	About:    "These keys say how kir reads a table other than a table of recipes.",
	Keys:     tableKeys("stock.csv", "bar.xlsx, sheet: Stock"),
	Required: []string{"file"},
}

// CountedIngredients describes the keys of ingredients of which the file gives only the number.
var CountedIngredients = &Section{
	Name: "the ingredients", ID: "counted ingredients",
	About: "If a problem gives only the number of ingredients, kir names them *ingredient 1*, *ingredient 2* and so on. A problem with counted ingredients cannot have `recipes`.",
	Keys: []Key{
		NewKey("count", Integer(1, MaxIngredients), "", "number of ingredients", "{count: 2000}"),
	},
	Required: []string{"count"},
}

// lawKeys returns the keys of a sparsity law, that is, of a distribution of the number of ingredients. The key
// lastKey follows the keys that all laws have.
func lawKeys(lastKey Key) []Key {
	return []Key{
		NewKey("table", MapOf("numbers", AtLeast(0), Object{"minProperties": 1, "propertyNames": Object{"pattern": `^\+?0*[1-9][0-9]{0,9}$`}}), "", "relative weight of each number of ingredients n", "{table: {2: 13, 3: 29, 4: 25}}"),
		NewKey("uniform", Pair(Integer(1, math.MaxInt32)), "", "each n from the first number to the second has the same weight", "{uniform: [3, 5]}"),
		NewKey("normal", Link("normal law"), "", "n has the weight exp(−(n − mean)²/(2·sd²))", "{normal: {mean: 4, sd: 1.5}}"),
		NewKey("exponential", Link("exponential law"), "", "n has the weight exp(−rate·n)", "{exponential: {rate: 0.5}}"),
		NewKey("mixture", List(Link("mixed law"), 1), "", "weighted sum of laws, each of which is first scaled to the sum 1", "{mixture: [{weight: 1, uniform: [2, 3]}, {weight: 2, normal: {mean: 4, sd: 1}}]}"),
		NewKey("recipes", OnlyTrue(), "", "the weight of n is the number of known recipes with n ingredients", "{recipes: true}"),
		lastKey,
	}
}

// lawMistakes maps wrong keys that people write in a sparsity law to hints with the right form.
var lawMistakes = map[string]string{
	"mean":    "write {normal: {mean: 4, sd: 1}}",
	"sd":      "write {normal: {mean: 4, sd: 1}}",
	"rate":    "write {exponential: {rate: 0.5}}",
	"min":     "write {uniform: [2, 5]}",
	"max":     "write {uniform: [2, 5]}",
	"exactly": "write {uniform: [4, 4]}",
	"fixed":   "write {uniform: [4, 4]}",
	"poisson": "write {normal: {mean: 4, sd: 2}}, or a table",
}

// lawKinds lists the keys of the kinds of sparsity laws, that is, of distributions of the number of
// ingredients.
var lawKinds = []string{"table", "uniform", "normal", "exponential", "mixture", "recipes"}

// Law describes the keys of a sparsity law, that is, of the distribution of the number of ingredients.
var Law = &Section{
	Name: "a sparsity law", ID: "law of n",
	About:        "The law of n is the distribution of n, the number of ingredients that a recipe uses. Without properties, draws follow the law of n exactly, under any constraints. `sparsity: recipes` means `sparsity: {recipes: true}`.",
	Keys:         lawKeys(NewKey("power", AtLeast(0), "1", "exponent of the law: a power above 1 makes the law sharper, below 1 flatter", "{recipes: true, power: 2}")),
	ExactlyOneOf: lawKinds,
	Mistakes:     lawMistakes,
}

// MixedLaw describes the keys of a sparsity law that is a component of a mixture.
var MixedLaw = &Section{
	Name: "a sparsity law", ID: "mixed law",
	About:        "Each component of a `mixture` is a law of n with a weight.",
	Keys:         lawKeys(NewKey("weight", AtLeast(0), "1", "relative weight in the mixture", "{weight: 2, uniform: [2, 3]}")),
	ExactlyOneOf: lawKinds,
	Mistakes:     lawMistakes,
}

// NormalLaw describes the keys of a sparsity law with the shape of a normal density.
var NormalLaw = &Section{
	Name: "normal", ID: "normal law", About: "The normal law of n, the number of ingredients, is bell-shaped.",
	Keys: []Key{
		NewKey("mean", Number(), "", "the most probable n", "{mean: 4, sd: 1.5}"),
		NewKey("sd", Above(0), "", "the standard deviation", "{mean: 4, sd: 0.5}"),
	},
	Required: []string{"mean", "sd"},
}

// ExponentialLaw describes the keys of an exponential sparsity law. The probability of n + 1 ingredients is the
// probability of n ingredients times a constant factor.
var ExponentialLaw = &Section{
	Name: "exponential", ID: "exponential law", About: "In an exponential law, the weight of n ingredients is e^−rate times the weight of n − 1 ingredients.",
	Keys: []Key{
		NewKey("rate", Number(), "", "above 0 for few ingredients, below 0 for many", "{rate: 0.5}"),
	},
	Required: []string{"rate"},
}

// SamplerBounds has the valid values and the default values of the settings of the sampler.
type SamplerBounds struct {
	Kernels                            []string // names of the valid kernels
	MaxChains, MaxIterations, MaxDraws int
	Chains                             int    // default number of chains
	Warmup                             int    // default number of warm-up iterations of each chain
	Thin                               int    // default number of iterations from one draw of a chain to the next
	Seed                               uint64 // default seed of the random numbers
}

// Sampler describes the keys of the settings of the sampler.
func Sampler(b SamplerBounds) *Section {
	return &Section{
		Name: "the sampler", ID: "sampler",
		About: "The keys of `sampler` set how kir samples. Flags of `kir sample` override these keys. [kernels.md](kernels.md) describes the kernels.",
		Keys: []Key{
			NewKey("kernel", Choice(append([]string{"auto"}, b.Kernels...)...), "`auto`: kir chooses by short trials", "the Markov kernel that makes the next draw", "{kernel: balanced}"),
			NewKey("chains", Integer(1, b.MaxChains), defaultText(b.Chains), "number of independent chains", "{chains: 4}"),
			NewKey("warmup", Integer(0, b.MaxIterations), defaultText(b.Warmup), "discarded iterations at the start of each chain; an upper bound if `draws` is `auto`", "{warmup: 2000}"),
			NewKey("draws", Either(Choice("auto"), Integer(1, b.MaxDraws)), "`auto`: until results are accurate enough", "number of kept draws per chain", "{draws: 20000}"),
			NewKey("time", Duration(), "`60s`", "time limit of sampling and search if `draws` is `auto`. kir keeps the draws made by then; `none` sets no limit", "{time: 5m}"),
			NewKey("thin", Integer(1, b.MaxIterations), defaultText(b.Thin), "iterations per kept draw; requires a number under `draws`", "{draws: 2000, thin: 5}"),
			NewKey("seed", Seed(), defaultText(int(b.Seed)), "seed of all random choices; the same seed gives the same draws", "{seed: 7}"),
		},
		Extra: []Object{
			{"anyOf": []Object{{"not": Object{"required": []string{"time"}}}, {"properties": Object{"draws": Object{"const": "auto"}}}, {"properties": Object{"time": Object{"const": "none"}}}}},
			{"anyOf": []Object{{"properties": Object{"thin": Object{"const": 1}}}, {"required": []string{"draws"}, "properties": Object{"draws": Object{"type": "integer"}}}}},
		},
	}
}

// Search describes the keys of the settings of the search.
var Search = &Section{
	Name: "the search", ID: "search",
	About: "The keys of `search` set the search for the shortlist, which does not change the draws.",
	Keys: []Key{
		NewKey("effort", Between(0, MaxEffort), "1", "relative length of the search; 0 turns the search off. At 1, the search makes a quarter of the chains' evaluations. With `draws: auto`, the search makes twice as many as the chains, at most 100,000", "{effort: 4}"),
		NewKey("doses", Choice("book", "any"), "`book`", "with `book`, kir suggests no amount outside the ingredient's range in the known recipes", "{doses: any}"),
	},
}

// Campaign describes the keys of the settings for choosing batches of experiments.
var Campaign = &Section{
	Name: "the campaign", ID: "campaign",
	About: "The keys of `campaign` set how `kir next` chooses batches. [campaign.md](campaign.md) describes campaigns.",
	Keys: []Key{
		NewKey("batch", Integer(1, MaxBatch), defaultText(DefaultBatch), "number of recipes in a batch", "{batch: 4}"),
		NewKey("max_new", Integer(0, MaxIngredients), "any number", "greatest number of new ingredients to buy for a batch", "{max_new: 2}"),
		NewKey("alike", Either(List(Text("condition"), 1), MapOf("conditions", Integer(1, MaxBatch), nil)), "none", "conditions that have one value in each batch, or at most the given number of values", "{batch: 8, alike: {temperature: 2}}"),
		NewKey("cost", Text("text"), "all trials cost the same", "attribute with the cost of each ingredient. kir then divides the expected improvement of a trial by the trial's cost", "{cost: abv}"),
	},
}

// Condition describes the keys of a condition.
var Condition = &Section{
	Name: "a condition", ID: "condition",
	About: "A condition has the name of a column of the recipes. kir chooses the condition's value from a range of numbers in steps, from listed numbers, or from categories. [conditions.md](conditions.md) has the formulas.",
	Keys: []Key{
		NewKey("from", Number(), "", "the least number", "{from: 150, to: 190, step: 5}"),
		NewKey("to", Number(), "", "the greatest number", "{from: 0, to: 60, step: 10}"),
		NewKey("step", Above(0), "", "difference between neighbouring numbers", "{from: 1, to: 2, step: 0.25}"),
		NewKey("values", List(Either(Number(), Text("category")), 1), "", "the numbers or categories from which kir chooses", "{values: [A, B, C]}"),
		NewKey("weights", List(Above(0), 1), "all equal", "relative probability of each value if there are no properties", "{values: [A, B, C], weights: [2, 1, 1]}"),
		NewKey("unit", Text("text"), "none", "the unit of the numbers", "{from: 150, to: 190, step: 5, unit: °C}"),
		NewKey("given", Either(Number(), Text("category")), "kir chooses", "fixes the condition, so that kir suggests recipes for this value", "{from: 20, to: 80, step: 1, given: 45}"),
	},
	AtLeastOneOf: []string{"values", "from"},
	Excludes:     map[string]string{"values": "from to step"},
	Requires:     map[string]string{"from": "to", "to": "step", "step": "from"},
	Mistakes: map[string]string{
		"min":    "write from, to and step: {from: 150, to: 190, step: 5}",
		"max":    "write from, to and step: {from: 150, to: 190, step: 5}",
		"range":  "write from, to and step: {from: 150, to: 190, step: 5}",
		"levels": "write values: {values: [A, B, C]}",
		"fixed":  "write given: {values: [lab, plant], given: plant}",
		"value":  "write given: {values: [lab, plant], given: plant}",
	},
}

func columnRoleNames() []string {
	var names []string
	for _, r := range dataset.Roles() {
		names = append(names, string(r))
	}
	return names
}

func defaultText(v int) string { return fmt.Sprint(v) }
