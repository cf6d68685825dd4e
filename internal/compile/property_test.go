package compile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// bar are files that every kind of property can be made of.
var bar = map[string]string{
	"ingredients.csv": `name,family,cost,return
Champagne,wine,30,0.08
Cassis,liqueur,12.5,0.03
Gin,spirit,20,0.05
Vermouth,wine,8,0.02
Campari,liqueur,15,0.04
`,
	"gaps.csv": `name,family,cost
Champagne,wine,30
Cassis,,12.5
Gin,spirit,
Vermouth,wine,8
Campari,liqueur,dear
`,
	"recipes.csv": `recipe,ingredient,amount,unit,taste,stars
Kir,Champagne,9,cl,Fresh,4
Kir,Cassis,1,cl,Fresh,4
Negroni,Gin,3,cl,Bitter,5
Negroni,Vermouth,3,cl,Bitter,5
Negroni,Campari,3,cl,Bitter,5
Martini,Gin,6,cl,Boozy,3
Martini,Vermouth,1,cl,Boozy,3
`,
	"returns.csv": "name,return\nCassis,0.03\nGin,0.05\nVermouth,0.02\nCampari,0.04\nChampagne,0.08\n",
	"prices.csv":  "day,Gin,Cassis,Vermouth,Campari,Champagne\n2024-01-31,100,10,5,2,30\n2024-02-29,101,10.3,5,1.9,32\n2024-03-31,104,9.8,5.2,2,31\n2024-04-30,103,10,5.1,2.1,33\n",
	"covariance.csv": `name,Champagne,Cassis,Gin,Vermouth,Campari
Champagne,0.04,0.01,0,0,0
Cassis,0.01,0.09,0.02,0,0
Gin,0,0.02,0.05,0,0.01
Vermouth,0,0,0,0.02,0
Campari,0,0,0.01,0,0.03
`,
	"topics.csv": `topic,river,bank,money,water
Champagne,0.4,0.3,0,0.3
Cassis,0,0.3,0.6,0.1
Gin,0.25,0.25,0.25,0.25
Vermouth,0.1,0.1,0.1,0.7
Campari,0.7,0.1,0.1,0.1
`,
	"tasted.csv": "pair,choice,ingredient,amount\n1,better,Champagne,9\n1,better,Cassis,1\n1,worse,Gin,1\n2,worse,Campari,0.5\n2,better,Gin,3\n",
	"words.csv":  "word,count\nriver,3\nbank,2\nmoney,0\nwater,1\n",
	"model.txt":  strings.Replace(barModel, "OBJECTIVE", "binary sigmoid:1", 1),
	"value.txt":  strings.Replace(barModel, "OBJECTIVE", "regression", 1),
	"check.csv":  "recipe,Gin,Champagne,Cassis,temperature,prediction\na,10,10,0,180,0.5\nb,0,0.8,0.2,180,0.425557483\nc,0,0.8,0.2,150,0.6681877722\n",
}

// barModel is a model of LightGBM: of shares, a flag, a total, a mean and two numbers
// that no composition has.
const barModel = `tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=6
objective=OBJECTIVE
feature_names=Gin presence_of_cassis total_of_family_wine cost temperature used x6
feature_infos=none none none none none none none
tree_sizes=1 1

Tree=0
num_leaves=3
num_cat=0
split_feature=0 4
threshold=0.25 170
decision_type=2 2
left_child=1 -1
right_child=-3 -2
leaf_value=0.5 -0.5 1

Tree=1
num_leaves=5
num_cat=0
split_feature=2 3 1 5
threshold=0.5 18.5 0.5 1.5
decision_type=2 2 2 2
left_child=2 -2 -1 -4
right_child=1 -3 3 -5
leaf_value=-1 0.7 0.2 -0.9 -0.8

end of trees
`

// loadFiles loads a problem with one property beside the bar's files, of which
// some may be replaced.
func loadFiles(t *testing.T, files map[string]string, property string) (*Problem, error) {
	t.Helper()
	dir := t.TempDir()
	all := maps.Clone(bar)
	maps.Copy(all, files)
	if all["problem.yaml"] == "" {
		all["problem.yaml"] = "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\nproperties:\n  p: {" + property + "}\n"
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(AllowPrograms(context.Background()), filepath.Join(dir, "problem.yaml"), Options{})
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// kindsInUse are a property or more of each kind, with what is said of it.
var kindsInUse = []struct{ yaml, about string }{
	{"forest: {label: taste, want: Fresh, trees: 5}", "taste Fresh"},
	{"forest: {label: stars, at_least: 4, trees: 5, floor: 0.01, add: {totals: family, presence: true}}", "stars at least 4, from amounts and 3 totals by family and 8 presence flags"},
	{"forest: {label: stars, between: [3, 4], trees: 5, features: 7, leaf: 1, add: {totals: [family]}}", "stars between 3 and 4, from amounts and 3 totals by family"},
	{"forest: {label: taste, want: Fresh, trees: 5, add: {totals: family, means: [cost, return], ratios: family, amounts: false}}", "taste Fresh, from 3 totals by family and the mean of cost and the mean of return and 3 ratios by family"},
	{"forest: {label: stars, maximize: true, trees: 5, add: {presence: true, amounts: false}}", "stars as large as possible, from 5 presence flags"},
	{"blend: {attribute: cost, smaller: {from: 10, to: 35}}", "mean cost: as small as possible, from 35 (worst) to 10 (best)"},
	{"blend: {attribute: cost, minimize: true}", "mean cost: as small as possible; the rules allow from "},
	{"blend: {attribute: family, is: wine, maximize: true, shape: 2, floor: 0}", "share of family wine: as large as possible; the rules allow from 0 % to "},
	{`expression: {formula: 'mean("cost") - 20', maximize: true, unit: €/kg}`, `mean("cost") - 20: as large as possible; the rules allow from `},
	{"markowitz: {returns: prices.csv, maximize: ratio}", "ratio, a year, from prices over 3 periods: as large as possible; the rules allow from "},
	{"markowitz: {returns: returns.csv, covariance: covariance.csv, minimize: volatility}", "volatility: as small as possible; the rules allow from "},
	{"blend: {attribute: cost, larger: {from: 2, to: 30}, shape: 0.5, floor: 0.1}", "mean cost: as large as possible, from 2 (worst) to 30 (best)"},
	{"blend: {attribute: cost, target: {from: 5, at: 20, to: 32}, shape: [1, 2]}", "mean cost: near 20, and between 5 and 32"},
	{"blend: {attribute: cost, range: {from: 10, to: 25}, floor: 0.001}", "mean cost: from 10 to 25"},
	{"blend: {attribute: family, is: [wine, spirit], normal: {mean: 0.5, sd: 0.2}}", "share of family wine or spirit: near 0.5, give or take 0.2"},
	{"pairs: {}", "how common its pairs of ingredients are in your recipes, on average"},
	{"pairs: {lift: product, smooth: 0.5, favour: [{of: [Gin, Vermouth], factor: 2}], avoid: [{of: [{family: wine}, {family: wine}], factor: 0}]}", "how common its pairs of ingredients are in your recipes, multiplied; 1 pair to favour; 1 pair to avoid"},
	{`pairs: {lift: none, avoid: [{of: ["C*", {family: wine}], factor: 0.5}]}`, "pairs of ingredients; 5 pairs to avoid"},
	{"novelty: {floor: 0.1}", "far from the recipes in the book by overlap of ingredients"},
	{"novelty: {by: amounts, to: Kir, scale: 4, zero: 0.65}", "far from Kir by amounts (Aitchison distance over 4; none is 0.65 units)"},
	{"likeness: {by: amounts}", "near the recipes in the book by amounts"},
	{"likeness: {to: [Kir, Negroni], floor: 0.01}", "near Kir, Negroni by overlap of ingredients"},
	{"markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}, weight: 50", "return minus 2 × its variance"},
	{"markowitz: {returns: {attribute: return}, covariance: covariance.csv, risk_aversion: 0}", "return minus 0 × its variance"},
	{"markowitz: {returns: prices.csv}", "return minus 1.5 × its variance, a year, from prices over 3 periods"},
	{"document: {topics: topics.csv, words: words.csv}", "likelihood of 6 words, 3 different ones, under the mixture"},
	{"document: {topics: topics.csv, words: {river: 1, water: 2}}", "likelihood of 3 words, 2 different ones, under the mixture"},
	{"preference: {pairs: tasted.csv, groups: family}", "liked better in 2 comparisons; of those left out"},
	{"preference: {pairs: tasted.csv, first: 1}, weight: 3", "liked better in 1 comparison"},
	{"model: {file: model.txt, class: 1, constants: {temperature: 180}, features: {x6: {share: {family: wine}}}}", `probability of 1 of "model.txt": as probable as can be`},
	{"model: {file: model.txt, class: 1, constants: {temperature: [150, 180], x6: missing}, check: check.csv, floor: 0.01}", `probability of 1 of "model.txt"`},
	{"model: {file: value.txt, maximize: true, features: [Gin, {presence: Cassis}, {share: {family: wine}}, {mean: cost}, temperature, used, {percent: Gin}], constants: {temperature: 150}}", `value of "value.txt": maximize, from -0.5 to 1.7`},
	{"model: {file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 1, x6: 0}}", `value of "value.txt": minimize, from 2 to -2`},
	{"model: {file: value.txt, output: margin, at_least: 0, sd: 0.5, constants: {temperature: 1, x6: 0}}", `margin of "value.txt": at least 0, give or take 0.5`},
	{"model: {file: value.txt, between: [-1, 3], constants: {temperature: 1, x6: 0}}", `value of "value.txt": between -1 and 3`},
	{"model: {file: value.txt, at_most: 0, constants: {temperature: 1, x6: 0}}", `value of "value.txt": at most 0`},
	{"model: {file: value.txt, target: {from: -2, at: 0.4, to: 3}, constants: {temperature: 1, x6: 0}, floor: 0.01}", `value of "value.txt": near 0.4, and between -2 and 3`},
	{"model: {file: value.txt, output: margin, between: [-1, 0.6], sd: 0.25, constants: {temperature: 1, x6: 0}}", `margin of "value.txt": between -1 and 0.6, give or take 0.25`},
	{"forest: {label: taste, want: [Fresh, Bitter], trees: 5, add: {amounts: true, presence: false}}", "taste Fresh or Bitter"},
	{"forest: {label: stars, minimize: true, trees: 5, seed: 3}", "stars as small as possible"},
	{"forest: {label: stars, at_most: 4, trees: 5, leaf: 2}", "stars at most 4"},
	{`expression: 'mean("cost") < 25 ? 1 : 0.2 + share("family", "wine")'`, `mean("cost") < 25 ? 1 : 0.2 + share("family", "wine")`},
}

// valuesOfFirst returns the number of values of the only condition of a problem, 1 if it has none.
func valuesOfFirst(p *Problem) int {
	if len(p.Conditions) == 0 {
		return 1
	}
	return p.Conditions[0].Len()
}

// TestKinds reads each kind of property, checks what is said of it, that the
// resolved problem asks the same, and that it can be sampled.
func TestKinds(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range kindsInUse {
		t.Run(c.yaml, func(t *testing.T) {
			p, err := loadFiles(t, nil, c.yaml)
			if err != nil {
				t.Fatal(err)
			}
			w := p.Properties[0]
			if !strings.HasPrefix(w.About, c.about) {
				t.Errorf("it is about %q, want %q", w.About, c.about)
			}
			_, said, _ := strings.Cut(string(p.Resolved), "properties:\n")
			said, _, _ = strings.Cut(said, "sampler:\n")
			said = w.About + "\n" + said
			for _, parts := range [][]mcmc.Part{{{Ingredient: 0, Amount: 18}, {Ingredient: 1, Amount: 2}}, {{Ingredient: 2, Amount: 7}, {Ingredient: 3, Amount: 7}, {Ingredient: 4, Amount: 6}}, {{Ingredient: 1, Amount: 1}, {Ingredient: 3, Amount: 19}}, {{Ingredient: 2, Amount: 20}}, {{Ingredient: 0, Amount: 4}, {Ingredient: 1, Amount: 4}, {Ingredient: 2, Amount: 4}, {Ingredient: 3, Amount: 4}, {Ingredient: 4, Amount: 4}}} {
				x, err := mcmc.NewComposition(5, parts...)
				if err != nil {
					t.Fatal(err)
				}
				for v := range valuesOfFirst(p) {
					if len(p.Conditions) > 0 {
						if x, err = p.Target.Space().Composition(parts, []int32{int32(v)}); err != nil {
							t.Fatal(err)
						}
					}
					said += fmt.Sprintf(" %.9g", math.Exp(w.mcmcProperty.LogScore(x)))
				}
			}
			kept.CheckText(t, c.yaml, said)
			if kind, _, _ := strings.Cut(c.yaml, ":"); w.Kind != kind || !slices.ContainsFunc(allKinds().properties, func(k propertyKind) bool { return k.Name == kind }) {
				t.Errorf("its kind is %q", w.Kind)
			}
			q, err := loadFiles(t, map[string]string{"problem.yaml": string(p.Resolved)}, "")
			if err != nil {
				t.Fatalf("resolved: %v in\n%s", err, p.Resolved)
			}
			if string(q.Resolved) != string(p.Resolved) {
				t.Errorf("resolved again it is\n%s\nnot\n%s", q.Resolved, p.Resolved)
			}
			total := 0.0
			for k, p := range []*Problem{p, q} {
				sum := 0.0
				settings := mcmc.Settings{Kernel: "balanced", Chains: 1, Draws: 100, Thin: 1, Seed: 1}
				sampler, err := settings.Sampler(p.Target)
				if err != nil {
					t.Fatal(err)
				}
				_, err = mcmc.Stream(t.Context(), sampler, settings, 0, func(_, _ int, x *mcmc.State) error {
					y := x.AppendScores(nil)[0]
					if !(y > 0) || math.IsInf(y, 0) {
						return fmt.Errorf("a draw scores %v", y)
					}
					sum += y
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if k == 1 && sum != total {
					t.Errorf("the draws score %v, those of the resolved problem %v", total, sum)
				}
				total = sum
			}
		})
	}
}

// What a program is asked with is written out.
func TestResolvedProgram(t *testing.T) {
	for yaml, want := range map[string]string{
		"program: {command: [go, version], timeout: 2.5, processes: 3, batch: 7}": "timeout: 2.5\n      processes: 3\n      batch: 7\n",
		"program: {command: go}": fmt.Sprintf("timeout: 60.0\n      processes: 1\n      batch: %d\n", defaultProgramBatch),
	} {
		p, err := loadFiles(t, nil, yaml)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(p.Resolved), want) {
			t.Errorf("%s is resolved to\n%s", yaml, p.Resolved)
		}
	}
}

// history is a table of prices with a last line.
func history(last string) map[string]string {
	return map[string]string{"prices.csv": "day,Gin,Cassis,Vermouth,Campari,Champagne\n2024-01-02,100,10,5,2,30\n2024-01-03,101,10,5,2,30\n2024-01-04,101,11,5,2,30\n" + last}
}

// TestBadProperties checks, for each mistake, the file, the place and the words
// that help.
func TestBadProperties(t *testing.T) {
	kept := golden.Open(t)
	// A property begins at 5:7.
	const at = 7
	column := func(yaml, of string) int { return at + strings.Index(yaml, of) }
	files := func(name, text string) map[string]string { return map[string]string{name: text} }
	type place struct {
		file         string
		line, column int
	}
	in := func(yaml, of string) place { return place{"problem.yaml", 5, column(yaml, of)} }
	replaced := func(name, from, to string) map[string]string {
		text := strings.Replace(bar[name], from, to, 1)
		if text == bar[name] {
			panic("nothing was replaced in " + name)
		}
		return files(name, text)
	}
	for _, c := range []struct {
		yaml  string
		files map[string]string
		of    string // where in the YAML, or
		place place
		says  []string
	}{
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}}, pairs: {}", place: place{"problem.yaml", 5, 6}, says: []string{"2 kinds"}},
		{yaml: "blend: cost", of: "cost", says: []string{"mapping"}},
		{yaml: "model: {class: 1}", of: "{class", says: []string{"no file"}},
		{yaml: "model: {file: none.txt, class: 1}", of: "none", says: []string{"no such file"}},
		{yaml: "model: {file: words.csv, class: 1}", of: "words", says: []string{"no model", "ONNX", "LightGBM"}},
		{yaml: "model: {file: model.txt, class: 1}", of: "{file", says: []string{`"temperature", "x6"`, "Champagne", "features", "constants"}},
		{yaml: "model: {file: model.txt, class: 2, constants: {x6: 1, temperature: 1}}", of: "2,", says: []string{`no class "2"`}},
		{yaml: "model: {file: model.txt}", of: "{file", says: []string{"class", `"0", "1"`}},
		{yaml: "model: {file: model.txt, class: 1, maximize: true, constants: {x6: 1, temperature: 1}}", of: "true", says: []string{"numbers"}},
		{yaml: "model: {file: model.txt, output: odds, class: 1}", of: "odds", says: []string{"margin"}},
		{yaml: "model: {file: value.txt, class: 1}", of: "1}", says: []string{"no classes"}},
		{yaml: "model: {file: value.txt, constants: {x6: 1, temperature: 1}}", of: "{file", says: []string{"nothing is asked", "maximize"}},
		{yaml: "model: {file: value.txt, at_least: 1, sd: 0, constants: {x6: 1, temperature: 1}}", of: "0, const", says: []string{"above 0"}},
		{yaml: "model: {file: value.txt, target: {from: 3, at: 2, to: 4}, constants: {x6: 1, temperature: 1}}", of: "{from", says: []string{"must be lower"}},
		{yaml: "model: {file: value.txt, target: {from: 1, at: 2, to: 4}, sd: 1, constants: {x6: 1, temperature: 1}}", of: "1, const", says: []string{"sd is for bounds"}},
		{yaml: "model: {file: value.txt, maximize: {from: 3, to: 2}, constants: {x6: 1, temperature: 1}}", of: "{from", says: []string{"nothing to maximize"}},
		{yaml: "model: {file: model.txt, class: 1, constants: {x6: 1, temperature: 1, pressure: 2}}", of: "2}", says: []string{"pressure", "temperature"}},
		{yaml: "model: {file: model.txt, class: 1, constants: {x6: [], temperature: 1}}", of: "[]", says: []string{"no value"}},
		{yaml: "model: {file: model.txt, class: 1, features: {x7: {share: Gin}}}", of: "x7", says: []string{"no input"}},
		{yaml: "model: {file: model.txt, class: 1, features: [Gin]}", of: "[Gin", says: []string{"lists 1", "7 inputs", "presence_of_cassis"}},
		{yaml: "model: {file: model.txt, class: 1, features: {x6: {share: Gin, units: Gin}}}", of: "{share", says: []string{"2 things"}},
		{yaml: "model: {file: model.txt, class: 1, features: [Gin, 1, used, cost, temperature, used, x6], constants: {temperature: 1, x6: 1}}", of: "1, used", says: []string{`presence_of_cassis" is "1"`, "constants"}},
		{yaml: "model: {file: model.txt, class: 1, features: {x6: 7}, constants: {temperature: 1, x6: 1}}", of: "7}", says: []string{`input "x6" is "7"`, "{share: Gin}"}},
		{yaml: "model: {file: model.txt, class: 1, amounts: grams}", of: "grams", says: []string{"share", "percent"}},
		{yaml: "model: {file: model.txt, class: 1, tolerance: 1, constants: {x6: 1, temperature: 1}}", of: "1, const", says: []string{"nothing to check"}},
		{yaml: "model: {file: model.txt, class: 1, amounts: percent, constants: {x6: 1, temperature: [150, 180]}, check: check.csv}", place: place{"check.csv", 2, 15}, says: []string{"the model says 0.5", "trained on", "temperature"}},
		{yaml: "model: {file: model.txt, class: 1, constants: {x6: 1, temperature: 150}, check: check.csv}", place: place{"check.csv", 2, 11}, says: []string{"temperature"}},
		{yaml: "model: {file: model.txt, class: 1, constants: {x6: 1, temperature: [150, 180]}, check: check.csv}", files: replaced("check.csv", "0.8,0.2,180", "0.81,0.19,180"), place: place{"check.csv", 3, 5}, says: []string{"16.2 of 20 units"}},
		{yaml: "blend: {attribute: cost, smaler: {from: 2, to: 10}}", of: "smaler", says: []string{`did you mean "smaller"?`}},
		{yaml: "blend: {smaller: {from: 2, to: 10}}", of: "{smaller", says: []string{"no attribute"}},
		{yaml: "blend: {attribute: price, smaller: {from: 2, to: 10}}", of: "price", says: []string{"family", "cost"}},
		{yaml: "blend: {attribute: cost}", of: "{attr", says: []string{"0 ways", "larger"}},
		{yaml: "blend: {attribute: cost, larger: {from: 1, to: 2}, range: {from: 1, to: 2}}", of: "{attr", says: []string{"2 ways"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 10, to: 2}}", of: "{from", says: []string{"must be lower"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 10}}", of: "{from", says: []string{"has no to"}},
		{yaml: "blend: {attribute: cost, target: {from: 1, at: 20, to: 10}}", of: "{from", says: []string{"at is 20 and to is 10"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}, shape: 0.0}", of: "0.0}", says: []string{"above 0"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}, shape: [1, 2]}", of: "[1", says: []string{"two for a target"}},
		{yaml: "blend: {attribute: cost, range: {from: 2, to: 10}, shape: 1}", of: "1}", says: []string{"range has no shape"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}, floor: 2}", of: "2}", says: []string{"0 to 1"}},
		{yaml: "blend: {attribute: cost, normal: {mean: 2, sd: 0}}", of: "{mean", says: []string{"above 0"}},
		{yaml: "blend: {attribute: family, is: beer, larger: {from: 0, to: 1}}", of: "beer", says: []string{`"beer"`, "liqueur"}},
		{yaml: "blend: {attribute: family, is: [], larger: {from: 0, to: 1}}", of: "[]", says: []string{"empty"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}}", files: replaced("ingredients.csv", "12.5", ""), place: place{"ingredients.csv", 3, 16}, says: []string{`"Cassis" has no cost`, "line 5"}},
		{yaml: "blend: {attribute: cost, smaller: {from: 2, to: 10}}", files: replaced("ingredients.csv", "12.5", "dear"), place: place{"ingredients.csv", 3, 16}, says: []string{`"dear" is not a number`}},

		{yaml: "forest: {label: taste, want: Fresh, add: {totals: colour}}", of: "colour", says: []string{"no attribute", "family"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {totals: [family, ' family']}}", of: "' family'", says: []string{"twice"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {presence: 3}}", of: "3}", says: []string{"true or false"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {total: family}}", of: "total", says: []string{`did you mean "totals"?`}},
		{yaml: "forest: {label: taste, want: Fresh, add: {means: family}}", place: place{"ingredients.csv", 2, 11}, says: []string{`"wine" is not a number`}},
		{yaml: "forest: {label: taste, want: Fresh, add: {means: cost}}", files: replaced("ingredients.csv", "12.5", ""), place: place{"ingredients.csv", 3, 16}, says: []string{`"Cassis" has no cost`, "line 5"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {means: [cost, proof]}}", of: "proof", says: []string{"no attribute", "cost"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {means: [cost, cost]}}", of: "cost]", says: []string{"twice"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {means: cost}}", files: map[string]string{"ingredients.csv": "name,cost\nChampagne,3\nCassis,3\nGin,3\nVermouth,3\nCampari,3\n"}, of: "cost}", says: []string{"3 for all ingredients", "leave it out"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {ratios: family}}", files: map[string]string{"ingredients.csv": "name,family\nChampagne,a\nCassis,a\nGin,\nVermouth,a\nCampari,a\n"}, of: "family}", says: []string{`"family" has 1 value`, "take totals"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {amounts: false}}", of: "{amounts", says: []string{"nothing that the forest could look at", "totals"}},
		{yaml: "forest: {label: taste, want: Fresh, add: {amounts: 0}}", of: "0}", says: []string{"true or false"}},
		{yaml: "forest: {label: taste, want: Fresh, features: 6}", of: "6}", says: []string{"at most 5"}},
		{yaml: "forest: {label: taste, want: Fresh, floor: -1}", of: "-1", says: []string{"0 or more"}},

		{yaml: "preference: {}", of: "{}", says: []string{"pairs"}},
		{yaml: "preference: {pairs: none.csv}", of: "none", says: []string{"no such file"}},
		{yaml: "preference: {pairs: tasted.csv, groups: colour}", of: "colour", says: []string{"no attribute", "family"}},
		{yaml: "preference: {pairs: tasted.csv, first: 3}", of: "3}", says: []string{"there are 2"}},
		{yaml: "preference: {pairs: words.csv}", place: place{"words.csv", 1, 1}, says: []string{"no column is called", "pair"}},
		{yaml: "preference: {pairs: tasted.csv}", files: replaced("tasted.csv", "1,worse,Gin", "1,worst,Gin"), place: place{"tasted.csv", 4, 3}, says: []string{"better or worse"}},
		{yaml: "preference: {pairs: tasted.csv}", files: replaced("tasted.csv", "worse,Gin", "worse,Ginn"), place: place{"tasted.csv", 4, 9}, says: []string{`did you mean "Gin"`}},
		{yaml: "preference: {pairs: tasted.csv}", files: replaced("tasted.csv", "Gin,3", "Gin,-3"), place: place{"tasted.csv", 6, 14}, says: []string{"above 0"}},
		{yaml: "preference: {pairs: tasted.csv}", files: replaced("tasted.csv", "2,worse", "3,worse"), place: place{"tasted.csv", 0, 0}, says: []string{`"3" has no better one`}},
		{yaml: "preference: {pairs: tasted.csv}", files: replaced("tasted.csv", "1,better,Cassis", "1,better,Champagne"), place: place{"tasted.csv", 3, 10}, says: []string{"twice"}},

		{yaml: "pairs: {lift: sum}", of: "sum", says: []string{"mean, product or none"}},
		{yaml: "pairs: {lift: none}", of: "{lift", says: []string{"nothing to score"}},
		{yaml: "pairs: {smooth: 0}", of: "0}", says: []string{"above 0"}},
		{yaml: "pairs: {lift: none, smooth: 1}", of: "1}", says: []string{"no"}},
		{yaml: "pairs: {favour: [{of: [Gin, Vermut], factor: 2}]}", of: "Vermut", says: []string{`did you mean "Vermouth"?`}},
		{yaml: "pairs: {favour: [{of: [Gin], factor: 2}]}", of: "[Gin", says: []string{"two sides"}},
		{yaml: "pairs: {favour: [{of: [Gin, Gin], factor: 2}]}", of: "[Gin", says: []string{"with itself"}},
		{yaml: "pairs: {favour: [{of: [Gin, Cassis], factor: 0.5}]}", of: "0.5", says: []string{"avoid"}},
		{yaml: "pairs: {avoid: [{of: [Gin, Cassis], factor: 2}]}", of: "2}", says: []string{"favour"}},
		{yaml: "pairs: {avoid: [{of: [Gin, Cassis]}]}", of: "{of", says: []string{"no factor"}},
		{yaml: "pairs: {avoid: [{of: [Gin, {colour: red}], factor: 0.5}]}", of: "colour", says: []string{"no attribute"}},

		{yaml: "novelty: {by: taste}", of: "taste", says: []string{"overlap"}},
		{yaml: "novelty: {to: Manhattan}", of: "Manh", says: []string{"Kir", "Negroni"}},
		{yaml: "likeness: {to: [Kir, Martni]}", of: "Martni", says: []string{`did you mean "Martini"?`}},
		{yaml: "likeness: {to: [Kir, ' Kir']}", of: "' Kir'", says: []string{"twice"}},
		{yaml: "likeness: {to: []}", of: "[]", says: []string{"empty"}},
		{yaml: "novelty: {scale: 1}", of: "1}", says: []string{"by: amounts"}},
		{yaml: "novelty: {by: amounts, scale: 0}", of: "0}", says: []string{"above 0"}},
		{yaml: "novelty: {by: amounts, zero: 2}", of: "2}", says: []string{"0.000001 to 1"}},
		{yaml: "novelty: {floor: 7}", of: "7}", says: []string{"0 to 1"}},

		{yaml: "markowitz: {returns: returns.csv, risk_aversion: 2}", of: "{returns", says: []string{"no covariance"}},
		{yaml: "blend: {attribute: cost, minimize: false}", of: "false", says: []string{"minimize: true"}},
		{yaml: "blend: {attribute: cost, minimize: true, maximize: true}", of: "{attribute", says: []string{"2 ways"}},
		{yaml: "blend: {attribute: cost, minimize: true, shape: 0}", of: "0}", says: []string{"above 0"}},
		{yaml: "expression: {formula: 'used'}", of: "{formula", says: []string{"minimize: true"}},
		{yaml: "expression: {minimize: true}", of: "{minimize", says: []string{"no formula"}},
		{yaml: "expression: {formula: 'used +', minimize: true}", of: "+'", says: []string{"complete it"}},
		{yaml: "expression: {formula: 'used', minimize: true, maximize: true}", of: "{formula", says: []string{"exclude"}},
		{yaml: "markowitz: {returns: prices.csv, maximize: volatility}", of: "volatility", says: []string{"minimize: volatility"}},
		{yaml: "markowitz: {returns: prices.csv, maximize: return, risk_aversion: 2}", of: "{returns", says: []string{"a property for each"}},
		{yaml: "markowitz: {returns: {attribute: return}}", of: "{returns", says: []string{"no covariance"}},
		{yaml: "markowitz: {returns: returns.csv, covariance: covariance.csv, periods: 12}", of: "12}", says: []string{"the covariance is given"}},
		{yaml: "markowitz: {returns: prices.csv, as: gains}", files: history(""), of: "gains", says: []string{"percent"}},
		{yaml: "markowitz: {returns: prices.csv, periods: 0}", files: history(""), of: "0}", says: []string{"252"}},
		{yaml: "markowitz: {returns: prices.csv}", files: history("2024-01-05,1,2,3,4,x\n"), place: place{"prices.csv", 5, 20}, says: []string{"not a number"}},
		{yaml: "markowitz: {returns: prices.csv}", files: history("2024-01-04,1,2,3,4,5\n"), place: place{"prices.csv", 5, 1}, says: []string{"twice"}},
		{yaml: "markowitz: {returns: prices.csv}", files: history("2024-01-05,1,2%,3,4,5\n"), place: place{"prices.csv", 2, 12}, says: []string{"percent sign"}},
		{yaml: "markowitz: {returns: prices.csv, as: prices}", files: history("2024-01-05,1,0,3,4,5\n"), place: place{"prices.csv", 5, 14}, says: []string{"above 0"}},
		{yaml: "markowitz: {returns: prices.csv, as: returns}", files: history("2024-01-05,1,-2,3,4,5\n"), place: place{"prices.csv", 5, 14}, says: []string{"as: percent"}},
		{yaml: "markowitz: {returns: prices.csv}", files: history("soon,1,2,3,4,5\n"), of: "{returns", says: []string{"periods: 252"}},
		{yaml: "markowitz: {returns: prices.csv}", files: files("prices.csv", "day,Gin,Cassis,Vermouth,Campari,Champagne\n2024-01-02,1,2,3,4,5\n2024-01-03,1,2,3,4,5\n"), of: "prices.csv", says: []string{"two returns"}},
		{yaml: "markowitz: {returns: prices.csv}", files: files("prices.csv", "day,Gim,Cassis,Vermouth,Campari,Champagne\n2024-01-02,1,2,3,4,5\n"), place: place{"prices.csv", 1, 1}, says: []string{`did you mean "Gim"?`}},
		{yaml: "markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: -2}", of: "-2", says: []string{"0 or more"}},
		{yaml: "markowitz: {returns: return.csv, covariance: covariance.csv, risk_aversion: 2}", of: "return.csv", says: []string{"no such file"}},
		{yaml: "markowitz: {returns: {attribute: ret}, covariance: covariance.csv, risk_aversion: 2}", of: "ret}", says: []string{"no attribute"}},
		{yaml: markowitz, files: replaced("returns.csv", "name,return", "name,mean"), place: place{"returns.csv", 1, 1}, says: []string{`"return"`, "mean"}},
		{yaml: markowitz, files: replaced("returns.csv", "Gin", "Gim"), place: place{"returns.csv", 3, 1}, says: []string{`"Gim"`, `did you mean "Gin"?`}},
		{yaml: markowitz, files: replaced("returns.csv", "Gin,0.05\n", ""), place: place{"returns.csv", 0, 0}, says: []string{`"Gin"`, "not there"}},
		{yaml: markowitz, files: replaced("returns.csv", "0.05", "high"), place: place{"returns.csv", 3, 5}, says: []string{`"high"`, `"return" of "Gin"`}},
		{yaml: markowitz, files: replaced("returns.csv", "0.05", "0.05,7"), place: place{"returns.csv", 3, 10}, says: []string{"3 columns", "2 columns"}},
		{yaml: markowitz, files: replaced("returns.csv", "Gin", "Cassis"), place: place{"returns.csv", 3, 1}, says: []string{"twice", "line 2"}},
		{yaml: markowitz, files: files("returns.csv", ""), place: place{"returns.csv", 1, 1}, says: []string{"empty"}},
		{yaml: markowitz, files: files("returns.csv", "name,return\n"), place: place{"returns.csv", 1, 1}, says: []string{"no row"}},
		{yaml: markowitz, files: files("returns.csv", "name\nGin\n"), place: place{"returns.csv", 1, 1}, says: []string{"no columns"}},
		{yaml: markowitz, files: files("returns.csv", "name"+strings.Repeat(",a", 1<<18)), place: place{"returns.csv", 1, 1}, says: []string{"columns"}},
		{yaml: "document: {topics: topics.csv, words: {river: 1, ' river': 2}}", of: "' river'", says: []string{"twice"}},
		{yaml: markowitz, files: files("returns.csv", "name,return\nG\xffn,1\n"), place: place{"returns.csv", 2, 1}, says: []string{"did you mean"}},
		{yaml: markowitz, files: files("returns.csv", "name,return\nGé\"n,1\n"), place: place{"returns.csv", 2, 3}, says: []string{"a quote inside a field"}},
		{yaml: markowitz, files: replaced("covariance.csv", "Campari,0,0,0.01,0,0.03\n", ""), place: place{"covariance.csv", 1, 1}, says: []string{"not square", "4 rows and 5 columns"}},
		{yaml: markowitz, files: replaced("covariance.csv", "Champagne,Cassis", "Champagne,Casis"), place: place{"covariance.csv", 1, 16}, says: []string{`did you mean "Cassis"?`}},
		{yaml: markowitz, files: replaced("covariance.csv", "0.01,0.09", "0.011,0.09"), place: place{"covariance.csv", 3, 8}, says: []string{"not symmetric", "0.011", "0.01"}},
		{yaml: markowitz, files: replaced("covariance.csv", "0.01,0.09", "0.01,-0.09"), place: place{"covariance.csv", 3, 13}, says: []string{"negative"}},
		{yaml: markowitz, files: replaced("covariance.csv", "0.01,0.09", "0.01,0.001"), place: place{"covariance.csv", 3, 8}, says: []string{"more than the variances", "0.0063"}},
		{yaml: markowitz, files: files("covariance.csv", indefinite), place: place{"covariance.csv", 0, 0}, says: []string{"positive semidefinite", "-0.8"}},

		{yaml: "document: {words: words.csv}", of: "{words", says: []string{"no topics"}},
		{yaml: document, files: replaced("topics.csv", "0.4,0.3", "0.4,0.2"), place: place{"topics.csv", 2, 1}, says: []string{`"Champagne"`, "sum to 0.9"}},
		{yaml: document, files: replaced("topics.csv", "0.4,0.3", "0.8,-0.1"), place: place{"topics.csv", 2, 15}, says: []string{"negative"}},
		{yaml: document, files: replaced("topics.csv", "Gin", "Rum"), place: place{"topics.csv", 4, 1}, says: []string{`"Rum"`}},
		{yaml: document, files: replaced("topics.csv", "bank", "river"), place: place{"topics.csv", 1, 13}, says: []string{"two columns"}},
		{yaml: document, files: replaced("words.csv", "bank", "banks"), place: place{"words.csv", 3, 1}, says: []string{`did you mean "bank"?`}},
		{yaml: document, files: replaced("words.csv", "2", "2.5"), place: place{"words.csv", 3, 1}, says: []string{"2.5", "whole number"}},
		{yaml: document, files: files("words.csv", "word,count\nriver,0\n"), of: "words.csv", says: []string{"no words"}},
		{yaml: "document: {topics: topics.csv, words: {rivr: 1}}", of: "rivr", says: []string{`did you mean "river"?`}},
		{yaml: "document: {topics: topics.csv, words: {river: some}}", of: "some", says: []string{"number"}},

		{yaml: `expression: 'share("Gim")'`, of: `"Gim"`, says: []string{`did you mean "Gin"?`}},
		{yaml: `expression: "1 + shar('Gin')"`, of: "shar", says: []string{`did you mean "share"?`}},
		{yaml: `expression: 1 + mean("price")`, of: `"price"`, says: []string{"no attribute", "cost"}},
		{yaml: `expression: 'share("family", "wines")'`, of: `"wines"`, says: []string{`did you mean "wine"?`}},
		{yaml: `expression: "share(\"Gim\")"`, of: `"share`, says: []string{"character 7"}},
		{yaml: `expression: [1]`, of: "[1]", says: []string{"formula in quotes"}},
		{yaml: `expression: 'mean("cost")'`, files: replaced("ingredients.csv", "12.5", ""), place: place{"ingredients.csv", 3, 16}, says: []string{"Cassis"}},

		{yaml: "program: {timeout: 3}", of: "{timeout", says: []string{"no command"}},
		{yaml: "program: {command: []}", of: "[]", says: []string{"empty"}},
		{yaml: "program: {command: [no-such-program-anywhere]}", of: "no-such", says: []string{"PATH"}},
		{yaml: "program: {command: ./scorer}", of: "./scorer", says: []string{"relative to the problem file"}},
		{yaml: "program: {command: [sh, {a: 1}]}", of: "{a", says: []string{"text"}},
		{yaml: "program: {command: sh, timeout: 0}", of: "0}", says: []string{"0.001"}},
		{yaml: "program: {command: sh, processes: 0}", of: "0}", says: []string{"at least 1"}},
	} {
		name := c.yaml
		for file := range c.files {
			name += " with " + file
		}
		t.Run(name, func(t *testing.T) {
			want := c.place
			if c.of != "" {
				want = in(c.yaml, c.of)
			}
			_, err := loadFiles(t, c.files, c.yaml)
			var bad *inputerr.Error
			if !errors.As(err, &bad) {
				t.Fatalf("the error is %v, not one of input", err)
			}
			if filepath.Base(bad.File) != want.file || bad.Line != want.line || bad.Column != want.column {
				t.Errorf("the place is %s:%d:%d, want %v, in %v", filepath.Base(bad.File), bad.Line, bad.Column, want, err)
			}
			kept.CheckError(t, strings.TrimPrefix(t.Name(), "TestBadProperties/"), err)
			for _, words := range c.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the message does not say %q: %v", words, err)
				}
			}
		})
	}
}

const (
	markowitz = "markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}"
	document  = "document: {topics: topics.csv, words: words.csv}"

	// Three assets that all move against each other: the eigenvalues of the
	// correlations are 1.9, 1.9 and −0.8.
	indefinite = `name,Champagne,Cassis,Gin,Vermouth,Campari
Champagne,1,-0.9,-0.9,0,0
Cassis,-0.9,1,-0.9,0,0
Gin,-0.9,-0.9,1,0,0
Vermouth,0,0,0,1,0
Campari,0,0,0,0,1
`
)

// A formula that goes over several lines is blamed where it is wrong.
func TestExpressionInBlock(t *testing.T) {
	_, err := loadFiles(t, map[string]string{"problem.yaml": `ingredients: [Gin, Lime]
total: 10
sparsity: {uniform: [1, 2]}
properties:
  p:
    expression: |
      let s = share("Gin");
      s > 0.5 ? 1 : share("Lme")
`}, "")
	var bad *inputerr.Error
	if !errors.As(err, &bad) || bad.Line != 8 || bad.Column != 27 {
		t.Errorf("the error is %v", err)
	}
}

// A property of recipes needs recipes, one of attributes a file that has them.
func TestPropertiesWithoutBook(t *testing.T) {
	for property, says := range map[string]string{
		"pairs: {}":                           "nothing to score pairs by",
		"pairs: {lift: mean}":                 "the problem has none",
		"novelty: {}":                         "the problem has none",
		"forest: {label: taste, want: Fresh}": "the problem has none",
		"blend: {attribute: cost, larger: {from: 1, to: 2}}":          "in a CSV file",
		`expression: 'mean("cost")'`:                                  "in a CSV file",
		"forest: {label: taste, want: Fresh, add: {totals: family}}":  "in a CSV file",
		`pairs: {avoid: [{of: ["ingredient 1", beer], factor: 0.5}]}`: `no ingredient "beer"`,
		"document: {topics: topics.csv, words: {river: 1}}":           "not one of the problem's ingredients",
	} {
		_, err := loadFiles(t, map[string]string{"problem.yaml": "ingredients: {count: 3}\ntotal: 10\nsparsity: {uniform: [1, 2]}\nproperties: {p: {" + property + "}}\n"}, "")
		var bad *inputerr.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v", property, err)
		}
	}
}

// Every property that docs/properties.md shows is one that is read.
func TestDocumentedProperties(t *testing.T) {
	text, err := os.ReadFile("../../docs/properties.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"ingredients.csv": "name,family,cost,abv,return\nGin,spirit,20,40,0.1\nMilk,dairy,2,0,0.1\nLime juice,citrus,4,0,0.2\nCampari,liqueur,15,25,0.1\nVermouth,wine,9,15,0\n",
		"recipes.csv":     "recipe,ingredient,amount,taste,stars\nNegroni,Gin,3,Bitter,5\nNegroni,Campari,3,Bitter,5\nNegroni,Vermouth,3,Bitter,5\nGimlet,Gin,5,Fresh,4\nGimlet,Lime juice,2,Fresh,4\nMilk punch,Milk,5,Fresh,2\nMilk punch,Gin,1,Fresh,2\n",
		"scorer.py":       "",
		"tasted.csv":      "pair,choice,ingredient,amount\n",
		"rating.json":     `{"version":[2,1,0],"learner":{"feature_names":["Gin","Milk"],"gradient_booster":{"name":"gbtree","model":{"tree_info":[0],"trees":[{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[0,0,0],"split_conditions":[0.5,3,4],"default_left":[1,0,0]}]}},"learner_model_param":{"base_score":"5E-1","num_class":"0","num_feature":"2","num_target":"1"},"objective":{"name":"reg:squarederror"}}}`,
		"predictions.csv": "recipe,Gin,Milk,prediction\na,1,3,3.5\nb,2,2,4.5\n",
	}
	for name, from := range map[string]string{"returns.csv": bar["returns.csv"], "prices.csv": bar["prices.csv"], "covariance.csv": bar["covariance.csv"], "topics.csv": bar["topics.csv"]} {
		files[name] = strings.NewReplacer("Champagne", "Lime juice", "Cassis", "Milk").Replace(from)
	}
	for pair := range 20 {
		files["tasted.csv"] += fmt.Sprintf("%d,better,Gin,%d\n%[1]d,worse,Milk,1\n", pair, pair+1)
	}
	shown := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, rest, ok := strings.Cut(line, ": {")
		if !ok || strings.ContainsAny(name, " `|{") || name == "" {
			continue
		}
		shown++
		files["problem.yaml"] = "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 1000\nproperties:\n  " + line + "\n"
		if strings.HasPrefix(rest, "program") {
			files["problem.yaml"] = strings.Replace(files["problem.yaml"], "python3", "go", 1) // any program that is there
		}
		if _, err := loadFiles(t, files, ""); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if shown < 15 {
		t.Errorf("%d properties are shown", shown)
	}
}
