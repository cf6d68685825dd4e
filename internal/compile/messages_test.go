package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
)

// TestMessages makes the messages that the tables of the other tests leave out: those
// of what is rarely written. TestMessages of cmd/kir sees that no message is left.
func TestMessages(t *testing.T) {
	const none = "total: 20\ningredients: [Gin, Rum]\n"
	const free = none + "sparsity: {uniform: [1, 2]}\n"
	rule := func(text string) string { return headBook + "constraints:\n  - " + text + "\n" }
	property := func(text string) string {
		return "recipes: bar.csv\ningredients: bar_ingredients.csv\ntotal: 20\nproperties:\n  p: {" + text + "}\n"
	}
	with := func(name, text string) map[string]string { return map[string]string{name: text} }
	model := func(rest string) string { return property("model: {file: model.txt, " + rest + "}") }
	var many strings.Builder
	many.WriteString("name,group,abv\n")
	for i := range 2100 {
		fmt.Fprintf(&many, "i%d,a,\n", i)
	}
	// Attributes in thousandths, so that no table holds their sums, and a mean that is
	// between those that there are.
	var thousandths strings.Builder
	thousandths.WriteString("name,abv\n")
	for i := range 60 {
		fmt.Fprintf(&thousandths, "i%d,%d\n", i, 1_000_000*(7919*i%61)+2*(104_729*i%499_979))
	}
	var bounds strings.Builder // no two of them alike
	bounds.WriteString("name,abv\n")
	for i := range 5000 {
		fmt.Fprintf(&bounds, "i%d,%d\n", i, 5_000_000+i)
	}
	kept := golden.Open(t)
	for _, c := range []struct {
		yaml  string
		says  string
		files map[string]string
	}{
		{free + "properties: taste\n", "properties are ", nil},
		{free + "properties:\n  \"a\\nb\": {expression: '1'}\n", "no name for a property", nil},
		{free + "labels: {taste: {Fresh: 1}}\n", "labels are of recipes", nil},
		{free + "units: {dash: 1 cl}\n", "units are of recipes", nil},
		{none + "sparsity: {uniform: [3, 4]}\n", "no mass on any possible number", nil},
		{none + "sparsity: {uniform: [1, 2, 3]}\n", "uniform has 3 numbers", nil},
		{none + "sparsity: poisson\n", `no sparsity law "poisson"`, nil},
		{none + "sparsity: {recipes: 3}\n", `recipes is "3"`, nil},
		{none + "sparsity: {table: [1, 2]}\n", "a table is ", nil},
		{none + "sparsity: {table: {1: 2, '01': 3}}\n", "the weight of 1 stands here twice", nil},
		{headBook + "units: cl\n", "units are ", nil},
		{headBook + "units: {dash: some}\n", `the size of "dash" is not understood`, nil},
		{"total: 5\ningredients: []\n", "the list of ingredients is empty", nil},
		{"total: 5\ningredients: 7\n", `the ingredients are "7"`, nil},
		{"total: 5\nrecipes: {file: recipes.csv, columns: rating}\n", `columns are "rating"`, nil},
		{strings.Replace(headBook, "[1, 4]", "[9, 12]", 1) + "constraints:\n  - require: Gin\n", "no mass on any possible number", nil},

		{rule("require: []"), "the rule names no ingredient", nil},
		{rule("require: {group: citrus, abv: 0}"), "chosen by 2 attributes", nil},
		{rule("group: {of: [Gin, Cassis], used: [1]}"), "has 1 number", nil},
		{rule("group: {of: [Gin, Cassis], total: [5, 3]}"), "a total from 5 to 3 units", nil},
		{rule("group: {of: [Gin, Cassis]}"), "the rule bounds nothing", nil},
		{rule("amount: {of: Gin, step: abv}"), "a step is not read from a column", nil},
		{rule("amount: {of: Gin, step: 7, max: 5}"), "the step is 7 units and max 5", nil},
		{rule("amount: {of: Gin, max: abv}"), "the columns have no bound for any of them", with("shelf.csv", strings.Replace(shelfTable, "40", "", 1))},
		{rule("amount: {of: Gin, stock: 35 cl, batch: 0 cl}"), "the batch is nothing", nil},
		{rule("amount: {of: Gin, stock: abv}"), "the column has no stock of any of them", with("shelf.csv", strings.Replace(shelfTable, "40", "", 1))},
		{rule("amount: {of: Gin, stock: 35 cl, batch: -3 cl}"), "the batch is ", nil},
		{rule("amount: {of: Gin, within: shelf}"), `within is "shelf"`, nil},
		{free + "constraints:\n  - amount: {of: Gin, within: book}\n", "the book is of recipes", nil},
		{"total: 1000000000\ningredients: shelf.csv\nsparsity: {uniform: [500, 600]}\nconstraints:\n  - amount: {of: \"*\", max: abv}\n", "the rules cannot be counted", with("shelf.csv", bounds.String())},
		{"total: 1000000000\ningredients: shelf.csv\nsparsity: {uniform: [500, 600]}\nconstraints:\n  - exclude: i7\n  - amount: {of: \"*\", max: abv}\n", "the rules cannot be counted", with("shelf.csv", bounds.String())},
		{rule("amount: {of: Gin, max: a lot}"), `or a column of the ingredients file: "group", "abv"`, nil},
		{rule("amount: {of: Gin, max: abw}"), `; did you mean "abv"?`, nil},
		{rule("amount: Gin"), "amount is ", nil},
		{rule("Gin"), "a rule is ", nil},
		{rule("limit: {attribute: abv}"), "limit bounds nothing", nil},
		{rule("limits: [1]"), "limits are ", nil},
		{rule("limits: {file: limits.csv}"), "the file has no limits", with("limits.csv", "attribute,min,max\n")},
		{rule("near: {recipe: {Gin: 10, 'Gin*': 10}, changes: 1}"), "is not one ingredient, or is there twice", nil},
		{rule("near: {recipe: {}, changes: 1}"), "the recipe has no ingredients", nil},
		{free + "constraints:\n  - near: {recipe: Kir, changes: 1}\n", "no recipes to be near to", nil},
		{rule("if: {used: Gin, then: Cassis}"), `then is "Cassis"`, nil},
		{rule("if: {used: Gin, then: []}"), "then has no rule", nil},
		{rule("block: {of: [Gin, Cassis]}"), "the block has no total", nil},
		{"total: 20\ningredients: shelf.csv\nsparsity: {uniform: [4, 6]}\nconstraints:\n  - limit: {attribute: abv, min: 20000000.1, max: 20000000.15}\n", "the search found no recipe that meets every constraint", with("shelf.csv", thousandths.String())},

		{property("forest: {label: taste, want: Fresh, trees: 5, file: f.json}"), "trees has no effect", nil},
		{property("forest: {want: Fresh}"), "there is no label to learn", nil},
		{property("forest: {label: colour, want: Fresh}"), `the recipes have no label "colour"`, nil},
		{property("forest: {label: stars, between: [3]}"), "between has 1 number", nil},
		{property("forest: {label: stars, between: [4, 3]}"), "no number is between 4 and 3", nil},
		{property("forest: {label: taste, want: Fresh, add: {totals: family}}"), `two features named "total of family wine"`, map[string]string{
			"bar_ingredients.csv": bar["ingredients.csv"] + "total of family wine,wine,1,1\n"}},
		{property("forest: {label: stars, at_least: 4}"), `no recipe has a value of the label "stars"`, with("bar.csv", "recipe,ingredient,amount,unit,taste,stars\nKir,Champagne,9,cl,Fresh,\nKir,Cassis,1,cl,Fresh,\n")},
		{property("markowitz: {returns: {}, covariance: covariance.csv, risk_aversion: 2}"), "the returns name no attribute", nil},
		{model("class: [1, 1], constants: {x6: 1, temperature: 1}"), `the class "1" is named twice`, nil},
		{model("class: [], constants: {x6: 1, temperature: 1}"), "no class is wanted", nil},
		{model("class: 1, sd: 0.5, constants: {x6: 1, temperature: 1}"), "sd is for bounds, and there are none", nil},
		{model("class: 1, features: Gin"), `features are "Gin"`, nil},
		{model("class: 1, constants: 180"), `constants are "180"`, nil},
		{model("class: 1, constants: {x6: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33], temperature: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]}"), "more than 1024 combinations", nil},
		{property("likeness: {by: amounts}"), "the recipes do not tell a scale", with("bar.csv", "recipe,ingredient,amount\nA,Gin,1\nB,Gin,1\nC,Gin,1\n")},
		{strings.Replace(property(`pairs: {lift: none, favour: [{of: ["*", "*"], factor: 2}]}`), "recipes: bar.csv\n", "sparsity: {uniform: [1, 2]}\n", 1), "more than 4194304 pairs", with("bar_ingredients.csv", many.String())},
		{property(`program: {command: [sh, "a\0b"]}`), "zero byte", nil},

		// What has another form than it should.
		{none + "sparsity: {normal: {mean: 2}}\n", "has no sd", nil},
		{none + "sparsity: {exponential: {}}\n", "has no rate", nil},
		{none + "sparsity: {normal: {mean: two, sd: 1}}\n", "number", nil},
		{none + "sparsity: {uniform: [1, 2], power: -1}\n", "power", nil},
		{none + "sparsity: {mixture: [{uniform: [1, 2], weight: -1}]}\n", "weight", nil},
		{none + "sparsity: {mixture: [{unifrom: [1, 2]}]}\n", "uniform", nil},
		{none + "sparsity: {uniform: 3}\n", "uniform", nil},
		{none + "sparsity: {uniform: [one, 2]}\n", "number", nil},
		{none + "sparsity: {table: {2: some}}\n", "number", nil},
		{free + "sampler: {kernel: [a]}\n", "kernel", nil},
		{free + "sampler: {draws: many}\n", "draws", nil},
		{free + "sampler: {draws: 0}\n", "at least 1, or auto", nil},
		{free + "sampler: {draws: auto, thin: 5}\n", "leave thin out", nil},
		{free + "sampler: {thin: 5}\n", "leave thin out", nil},
		{free + "sampler: {draws: 20, time: 5m}\n", "leave one of them out", nil},
		{free + "sampler: {time: 5}\n", "60s or 5m, or none", nil},
		{free + "sampler: {time: -5s}\n", "60s or 5m, or none", nil},
		{free + "sampler: {draws: 20, thin: 0}\n", "thin", nil},
		{free + "sampler: {warmup: -1}\n", "warmup", nil},
		{free + "sampler: {chain: 3}\n", "chains", nil},
		{free + "sampler: 7\n", "sampler", nil},
		{free + "name: [a]\n", "name", nil},
		{free + "constraints: {require: Gin}\n", "list", nil},
		{"total: 20\ningredients: {file: 3, name: x}\n" + "sparsity: {uniform: [1, 2]}\n", "name", nil},
		{"total: 20\nrecipes: {sheet: A}\n", "file", nil},
		{"total: 20\nrecipes: {file: [a]}\n", "file", nil},
		{"total: 20\nrecipes: {file: recipes.csv, decimal: dot}\n", "decimal", nil},
		{"total: 20\nrecipes: {file: recipes.csv, decimal: [a]}\n", "decimal", nil},
		{"total: 20\nrecipes: {file: recipes.csv, columns: {taste: labels}}\n", "label", nil},
		{"total: 20\nrecipes: {file: recipes.csv, columns: {taste: 3}}\n", "3", nil},
		{headBook + "labels: taste\n", "labels", nil},
		{headBook + "labels: [[a]]\n", "label", nil},
		{headBook + "labels: [tast]\n", "taste", nil},

		{rule("group: {of: [Gin, Cassis], used: [a, 2]}"), "least number used", nil},
		{rule("group: {of: [Gin, Cassis], used: [1, 1.5]}"), "greatest number used", nil},
		{rule("group: {of: [Gin, Cassis], total: [a, 2]}"), "least total", nil},
		{rule("group: {of: [Gin, Cassis], total: [1, 200%]}"), "greatest total", nil},
		{rule("group: {of: [Gin, Cassis], total: 7}"), "total", nil},
		{rule("group: {of: {group: 3, abv: [1]}}"), "attributes", nil},
		{rule("group: {of: {group: [a]}, used: [1, 1]}"), "group", nil},
		{rule("limit: {attribute: abv, min: low}"), "min", nil},
		{rule("limit: {attribute: abv, of: Ginn, max: 3}"), "Gin", nil},
		{rule("limit: {attribute: [abv], max: 3}"), "attribute", nil},
		{rule("ratio: {of: Ginn, to: Vermouth, max: 3}"), "Gin", nil},
		{rule("ratio: {of: Gin, to: Vermut, max: 3}"), "Vermouth", nil},
		{rule("ratio: {of: Gin, to: Vermouth}"), "bounds nothing", nil},
		{rule("ratio: {of: Gin, to: Vermouth, min: 3, max: 2}"), "contradicts", nil},
		{rule("near: {recipe: Kir, changes: -1}"), "changes", nil},
		{rule("near: {recipe: Kir, changes: 9}"), "changes", nil},
		{rule("near: {recipe: Kir, distance: far}"), "distance", nil},
		{rule("near: {changes: 1}"), "recipe", nil},
		{rule("near: {recipe: [Kir], changes: 1}"), "recipe", nil},
		{rule("if: {used: Ginn, then: {exclude: Cassis}}"), "Gin", nil},
		{rule("if: {unused: Ginn, then: {exclude: Cassis}}"), "Gin", nil},
		{rule("needs: {if: Gin, then: [Casis]}"), "Cassis", nil},
		{rule("needs: {then: [Cassis]}"), "if", nil},
		{rule("never: [Gin, Casis]"), "Cassis", nil},
		{rule("block: {of: [Gin, Casis], total: 3}"), "Cassis", nil},
		{rule("amount: {of: Gin, min: 101%}"), "min", nil},
		{rule("amount: {of: Gin, min: -1}"), "min", nil},
		{rule("amount: {of: Gin, step: 0}"), "step", nil},
		{rule("amount: {of: Gin, stock: some, batch: 75 cl}"), "stock", nil},
		{rule("amount: {of: Gin, stock: 35 cl, batch: much}"), "batch", nil},
		{rule("amount: {of: Gin, min: abv}"), "total", with("shelf.csv", strings.Replace(shelfTable, "spirit,40", "spirit,60", 1))},
		{rule("amount: {of: [Gin, Cassis], min: 15, max: abv}"), "at least 15", with("shelf.csv", strings.Replace(shelfTable, "liqueur,20", "liqueur,2", 1))},
		{rule("limits: {file: limits.csv}"), "names no attribute", with("limits.csv", "attribute,min,max\n,1,2\n")},
		{rule("limits: {file: limits.csv}"), "bounds nothing", with("limits.csv", "attribute,min,max\nabv,,\n")},
		{rule("limits: {file: limits.csv}"), "contradicts", with("limits.csv", "attribute,min,max\nabv,3,2\n")},
		{rule("limits: {file: limits.csv}"), "low", with("limits.csv", "attribute,min,max\nabv,low,2\n")},
		{rule("limits: {file: limits.csv}"), "attribute", with("limits.csv", "thing,min,max\nabv,1,2\n")},
		{rule("limits: {file: none.csv}"), "no such file", nil},
		{rule("constituents: {file: constituents.csv}"), `no ingredient "Lemon"`, with("constituents.csv", "ingredient,constituent,share\nLemon,linalool,0.1\n")},
		{rule("constituents: {file: constituents.csv}"), "has no name", with("constituents.csv", "ingredient,constituent,share\nLemon juice,,0.1\n")},
		{rule("constituents: {file: constituents.csv}"), "is an attribute", with("constituents.csv", "ingredient,constituent,share\nLemon juice,abv,0.1\n")},
		{rule("constituents: {file: constituents.csv}"), "share", with("constituents.csv", "ingredient,constituent,share\nLemon juice,linalool,-0.1\n")},
		{rule("constituents: {file: constituents.csv}"), "is there twice", with("constituents.csv", "ingredient,constituent,share\nLemon juice,linalool,0.1\nLemon juice,linalool,0.2\n")},
		{rule("constituents: {file: constituents.csv}"), "columns", with("constituents.csv", "ingredient,share\nLemon juice,0.1\n")},

		{property("forest: {label: taste, want: Fresh, splits: some}"), "write random or best", nil},
		{property("learn: {want: Fresh}"), "there is no label to learn", nil},
		{property("learn: {label: colour, want: Fresh}"), `the recipes have no label "colour"`, nil},
		{property("learn: {label: taste, want: Fresh, log: true}"), "log is of numbers", nil},
		{property("learn: {label: stars, maximize: true, log: 1}"), "write true or false", nil},
		{property("learn: {label: stars, maximize: true, trees: 0}"), "trees", nil},
		{property("learn: {label: stars, maximize: true, seed: -1}"), "seed", nil},
		{property("learn: {label: stars, maximize: true, failed: [[a]]}"), "what says that a recipe failed", nil},
		{property("learn: {label: taste, maximize: true}"), "is not a number", nil},
		{property("learn: {label: stars, at_least: 400}"), "no recipe has a stars at least 400", nil},
		{property("process: {label: taste, want: Fresh}"), "want", nil},
		{free + "properties: {p: {learn: {label: taste, want: Fresh}}}\n", "a model is learnt from recipes", nil},
		{property("learn: {label: stars, maximize: true}"), "no recipe has a number", with("bar.csv", "recipe,ingredient,amount,unit,taste,stars\nKir,Champagne,9,cl,Fresh,failed\nKir,Cassis,1,cl,Fresh,failed\n")},
		{property("forest: {label: taste, want: Fresh, trees: 0}"), "trees", nil},
		{property("forest: {label: taste, want: Fresh, leaf: 0}"), "leaf", nil},
		{property("forest: {label: taste, want: Fresh, seed: -1}"), "seed", nil},
		{property("forest: {label: taste, want: []}"), "want", nil},
		{property("forest: {label: stars, between: [3, high]}"), "highest number", nil},
		{property("forest: {label: taste, want: Fresh, add: {totals: colour}}"), "colour", nil},
		{property("forest: {label: taste, want: Fresh, add: {means: family}}"), "family", nil},
		{property("forest: {label: taste, want: Fresh, add: {presence: 1}}"), "presence", nil},
		{property("forest: {label: taste, want: Fresh, add: {total: family}}"), "totals", nil},
		{property("blend: {attribute: cost, smaller: {from: low, to: 10}}"), "from", nil},
		{property("blend: {attribute: cost, smaller: {from: 2, to: 10}, shape: [a, b]}"), "shape", nil},
		{property("blend: {attribute: cost, smaller: {from: 2, to: 10}, floor: low}"), "floor", nil},
		{property("novelty: {by: [a]}"), "by", nil},
		{property("novelty: {by: amounts, zero: none}"), "zero", nil},
		{property("novelty: {by: amounts, scale: far}"), "scale", nil},
		{property("pairs: {lift: [a]}"), "lift", nil},
		{property("pairs: {smooth: much}"), "smooth", nil},
		{property("pairs: {favour: {of: [Gin, Rum], factor: 2}}"), "favour", nil},
		{property("pairs: {favour: [{of: [Gin, Cassis], factor: much}]}"), "factor", nil},
		{property("preference: {pairs: tasted.csv, first: none}"), "first", with("tasted.csv", bar["tasted.csv"])},
		{property("preference: {pairs: tasted.csv}"), "0 comparisons", with("tasted.csv", "pair,choice,ingredient,amount\n")},
		{property("preference: {pairs: tasted.csv}"), "the table has the columns pair, choice, ingredient, amount", with("tasted.csv", "pair,choice,what,amount\n1,better,Gin,1\n")},
		{property("preference: {pairs: tasted.csv}"), "above 0", with("tasted.csv", "pair,choice,ingredient,amount\n1,better,Gin,1\n1,worse,Gin,1\n1,worse,Cassis,some\n")},
		{property("document: {topics: topics.csv, words: {river: 1.5}}"), "whole", nil},
		{property("document: {topics: topics.csv, words: 3}"), "no such file", nil},
		{property("program: {command: sh, timeout: long}"), "timeout", nil},
		{property("program: {command: sh, timeout: 1e9}"), "1000000", nil},
		{property("program: {command: sh, processes: few}"), "processes", nil},
		{property("program: {command: sh, batch: 0}"), "batch", nil},
		{property("program: {command: sh, batch: 1025}"), "batch", nil},
		{model("class: 1, constants: {x6: a, temperature: 1}"), "constant", nil},
		{model("class: 1, constants: {x6: 1, temperature: 1}, tolerance: -1, check: check.csv"), "tolerance", nil},
		{model("class: 1, constants: {x6: 1, temperature: 1}, check: check.csv"), "neither", with("check.csv", strings.Replace(bar["check.csv"], "Cassis", "Casis", 1))},
		{model("class: 1, constants: {x6: 1, temperature: 180}, check: check.csv"), "of 20", with("check.csv", "recipe,Gin,Champagne,prediction\na,10,5,0.5\n")},
		{model("class: 1, features: {x6: {presence: Ginn}}, constants: {temperature: 1}"), "Gin", nil},
		{model("class: 1, features: {x6: {mean: colour}}, constants: {temperature: 1}"), "colour", nil},
		{model("class: 1, features: {x6: {shar: Gin}}, constants: {temperature: 1}"), "share", nil},
	} {
		files := map[string]string{"shelf.csv": shelfTable, "limits.csv": limitsTable, "constituents.csv": constituentsTable}
		files["recipes.csv"], files["bar.csv"], files["bar_ingredients.csv"] = recipesTable, bar["recipes.csv"], bar["ingredients.csv"]
		maps.Copy(files, c.files)
		files["problem.yaml"] = c.yaml
		_, err := loadFiles(t, files, "")
		kept.CheckError(t, c.says+": "+c.yaml, err)
		if bad, is := errors.AsType[*inputerr.Error](err); !is || !strings.Contains(bad.Error(), c.says) {
			t.Errorf("%s\nends with %v, and not %q", c.yaml, err, c.says)
		} else if bad.Line == 0 && bad.File == "" {
			t.Errorf("%s\nhas no place: %v", c.yaml, err)
		}
	}
}

// TestOtherFields: no kind of rule or property takes a field that it does not know.
func TestOtherFields(t *testing.T) {
	head := "total: 20\ningredients: [Gin, Rum, Lime]\nsparsity: {uniform: [1, 2]}\n"
	refused := func(kind, text string) {
		if _, err := load(t, head+text, Options{}); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
			t.Errorf("%s ends with %v", kind, err)
		}
	}
	for _, kind := range Schema().Property().ExactlyOneOf {
		if kind != "expression" { // which is a text
			refused(kind, "properties: {p: {"+kind+": {nothing: 1}}}\n")
			refused(kind+" beside", "properties: {p: {"+kind+": {}, nothing: 1}}\n")
		}
	}
	for _, kind := range Schema().Rule().ExactlyOneOf {
		if !slices.Contains([]string{"require", "exclude", "never", "block", "limits"}, kind) { // which are lists and files
			refused(kind, "constraints: [{"+kind+": {nothing: 1}}]\n")
		}
	}
}
