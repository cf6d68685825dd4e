package compile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// loadLimits reads a problem with one property and limits of it.
func loadLimits(t *testing.T, property, limits string) (*Problem, error) {
	t.Helper()
	text := "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\nsparsity: {uniform: [1, 4]}\nproperties:\n  p: {" + property + "}\nconstraints:\n" + limits
	book := "recipe,ingredient,amount,taste,stars\n"
	for k := range 40 {
		gin, wine, lime := 2+k%7, k*5%9, k*3%8
		stars, taste := 1+0.4*float64(gin)+0.2*float64(wine)+0.1*float64(k%3), "Bitter"
		if lime > 3 {
			stars, taste = stars-1, "Fresh"
		}
		book += fmt.Sprintf("r%d,Gin,%d,%s,%.2f\nr%d,Vermouth,%d,%s,%.2f\nr%d,Champagne,%d,%s,%.2f\nr%d,Campari,3,%s,%.2f\nr%d,Cassis,1,%s,%.2f\n",
			k, gin, taste, stars, k, wine+1, taste, stars, k, lime+1, taste, stars, k, taste, stars, k, taste, stars)
	}
	return loadFiles(t, map[string]string{"problem.yaml": text, "recipes.csv": book}, "")
}

// shownOf returns a prediction as a report has it, before the correction for selection.
func shownOf(t *testing.T, w *Property) func(x *mcmc.Composition) float64 {
	t.Helper()
	c, err := w.Calibration()
	if err != nil {
		t.Fatal(err)
	}
	chances := make(map[float64]float64)
	return func(x *mcmc.Composition) float64 {
		switch {
		case w.Value != nil:
			return w.Value(x)
		case c != nil:
			p := w.Probability(x)
			v, known := chances[p]
			if !known {
				v = c.Value(p)
				chances[p] = v
			}
			return v
		case w.Class != "":
			return w.Probability(x)
		case w.Model != nil:
			return w.Model.Predict(x.Amounts()).Value
		}
		return portable.Exp(w.mcmcProperty.LogScore(x))
	}
}

// limitCases are limits of every kind of property, with what docs/rules.md says that they
// bound. Bounds are in the unit of what is shown, and shares from 0 to 1.
var limitCases = []struct {
	property, what, bounds string
	least, most            float64
}{
	{"learn: {label: stars, maximize: true}", expectedNumberName, "min: 3.4, max: 4.2", 3.4, 4.2},
	{"learn: {label: stars, minimize: true}, weight: 0", expectedNumberName, "min: 3.8", 3.8, math.Inf(1)},
	{"process: {label: stars, maximize: true}", expectedNumberName, "min: 3.3, max: 4", 3.3, 4},
	{"forest: {label: stars, at_least: 3}", expectedNumberName, "min: 3.5, max: 4.5", 3.5, 4.5},
	{"learn: {label: taste, want: Fresh}", classChanceName, `min: "45.25%"`, 0.4525, math.Inf(1)},
	{"forest: {label: taste, want: Fresh, floor: 0.6}, weight: 0", classChanceName, "max: 0.5", math.Inf(-1), 0.5},
	{"model: {file: model.txt, class: 1, constants: {temperature: 180, x6: 0}}", classChanceName, `min: "50.96%"`, 0.5096, math.Inf(1)},
	{"model: {file: model.txt, class: 0, constants: {temperature: 150, x6: 0}, floor: 0.7}", classChanceName, "max: 0.52", math.Inf(-1), 0.52},
	{"model: {file: value.txt, maximize: true, constants: {temperature: 1, x6: 0}}", modelNumberName, "min: 0.2", 0.2, math.Inf(1)},
	{"model: {file: value.txt, output: margin, between: [-1, 0.6], sd: 0.25, constants: {temperature: 1, x6: 0}}", modelNumberName, "max: 0.3", math.Inf(-1), 0.3},
	{"model: {file: value.txt, target: {from: -2, at: 0.4, to: 3}, constants: {temperature: 1, x6: 0}}", modelNumberName, "min: 0.1", 0.1, math.Inf(1)},
	{"blend: {attribute: cost, minimize: true}", blendMeanName, "max: 15", math.Inf(-1), 15},
	{"blend: {attribute: cost, maximize: true}", blendMeanName, "max: 15", math.Inf(-1), 15},
	{"blend: {attribute: cost, larger: {from: 1, to: 30}}, weight: 2", blendMeanName, "min: 12, max: 17.5", 12, 17.5},
	{"blend: {attribute: cost, smaller: {from: 1, to: 30}}", blendMeanName, "min: 12", 12, math.Inf(1)},
	{"blend: {attribute: cost, target: {from: 5, at: 12, to: 30}}", blendMeanName, "min: 13", 13, math.Inf(1)},
	{"blend: {attribute: cost, range: {from: 5, to: 16}}", blendMeanName, "max: 14", math.Inf(-1), 14},
	{"blend: {attribute: cost, normal: {mean: 12, sd: 4}}", blendMeanName, "max: 13", math.Inf(-1), 13},
	{"blend: {attribute: family, is: wine, maximize: true}", groupShareName, `max: "40%"`, math.Inf(-1), 0.4},
	{"blend: {attribute: family, is: wine, range: {from: 0.2, to: 0.8}}", groupShareName, "min: 0.3, max: 0.5", 0.3, 0.5},
	{`expression: {formula: 'mean("cost") - used', minimize: true}`, formulaValueName, "min: 9", 9, math.Inf(1)},
	{`expression: {formula: '100 * share("Gin")', maximize: true, unit: "%"}`, formulaValueName, `min: "33%"`, 33, math.Inf(1)},
	{`expression: 'share("Gin")'`, scoreName, "min: 0.33", 0.33, math.Inf(1)},
	{"markowitz: {returns: prices.csv, minimize: volatility}", yearVolatilityName, `max: "10%"`, math.Inf(-1), 10},
	{"markowitz: {returns: prices.csv, maximize: return}", yearReturnName, `min: "2.5%"`, 2.5, math.Inf(1)},
	{"markowitz: {returns: prices.csv, maximize: ratio}", returnRatioName, "min: 0.5", 0.5, math.Inf(1)},
	{"markowitz: {returns: prices.csv, risk_aversion: 2}", scoreName, "min: 1.01", 1.01, math.Inf(1)},
	{"novelty: {by: amounts}", scoreName, "min: 0.3", 0.3, math.Inf(1)},
	{"likeness: {by: amounts, floor: 0.01}", scoreName, "max: 0.7", math.Inf(-1), 0.7},
	{"pairs: {favour: [{of: [Gin, Cassis], factor: 2}]}", scoreName, "min: 1.1", 1.1, math.Inf(1)},
}

// A limit is kept where the value that is shown lies within it, for every kind of property, and
// nowhere else. The test passes over values at a bound.
func TestLimitsBoundWhatIsShown(t *testing.T) {
	for _, c := range limitCases {
		t.Run(c.property, func(t *testing.T) {
			p, err := loadLimits(t, c.property, "  - limit: {property: p, "+c.bounds+"}\n")
			if err != nil {
				t.Fatal(err)
			}
			bounds, shown := p.Target.Bounds(), shownOf(t, &p.Properties[0])
			if len(bounds) != 1 || len(p.Rules) != 1 || !strings.HasPrefix(p.Rules[0].Text, "limit of p (") || len(p.shownLimits) != 1 || p.shownLimits[0].valueScale.valueName != c.what {
				t.Fatalf("the bounds are %v, the rules %v", bounds, p.Rules)
			}
			scale := 1.0
			if p.shownLimits[0].notation == shareNotation {
				scale = 100
			}
			kept, broken, lowest, highest := 0, 0, math.Inf(1), math.Inf(-1)
			seen, stride := 0, testmode.Pick(1, 4) // a quarter of the compositions in the short form
			everyComposition(t, len(p.Ingredients), 20, func(x *mcmc.Composition) {
				if seen++; seen%stride != 0 {
					return
				}
				v := shown(x)
				if c.what == groupShareName {
					v /= 100
				}
				lowest, highest = min(lowest, v), max(highest, v)
				if near := 1e-6 * (1 + math.Abs(v)); math.Abs(v-c.least) < near || math.Abs(v-c.most) < near {
					return
				}
				inside := c.least <= v && v <= c.most
				y, toward := bounds[0].Property.LogScore(x), bounds[0].Guide.LogScore(x)
				if inside && y != 0 || !inside && !math.IsInf(y, -1) {
					t.Fatalf("%v has %v and the log score %v", x, v, y)
				}
				if inside && toward != 0 || !inside && !(toward < 0) || math.IsInf(toward, 0) {
					t.Fatalf("%v has %v and %v leads to the bound", x, v, toward)
				}
				if slack := p.shownLimits[0].slackOf(x); !(math.Abs(slack.Value-scale*v) <= 1e-6*(1+math.Abs(slack.Value))) || !near(slack.Min, scale*c.least) || !near(slack.Max, scale*c.most) {
					t.Fatalf("%v has %v, and is told to have %+v", x, v, slack)
				}
				if inside {
					kept++
				} else {
					broken++
				}
			})
			if kept == 0 || broken == 0 {
				t.Errorf("%d compositions keep the limit and %d break it: values are from %v to %v", kept, broken, lowest, highest)
			}
		})
	}
}

// near says whether two bounds are equal but for rounding.
func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// TestLimitTable holds the table of docs/rules.md against the kinds of properties: each has
// its rows, and each row names what limits of some case bound.
func TestLimitTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| property | what is bounded |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	bounded := make(map[string]map[string]bool) // what is bounded, by kind
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			t.Fatalf("the row has %d cells: %s", len(cells), row)
		}
		what, _, _ := strings.Cut(strings.TrimSpace(cells[2]), ",")
		for _, kind := range allKinds().properties {
			if strings.Contains(cells[1], "`"+kind.Name+"`") {
				if bounded[kind.Name] == nil {
					bounded[kind.Name] = make(map[string]bool)
				}
				bounded[kind.Name][what] = true
			}
		}
	}
	for _, c := range limitCases {
		kind, _, _ := strings.Cut(c.property, ":")
		if !bounded[kind][c.what] {
			t.Errorf("%s bounds %s, and the table has %v", c.property, c.what, bounded[kind])
		}
	}
	for _, kind := range allKinds().properties {
		if bounded[kind.Name] == nil {
			t.Errorf("the table does not have %s", kind.Name)
		}
	}
}

// A limit that is sure bounds the probability that a measurement is within bounds.
func TestSureLimits(t *testing.T) {
	for _, kind := range []string{"learn: {", "forest: {", "process: {", "learn: {log: true, "} {
		p, err := loadLimits(t, kind+"label: stars, maximize: true}", "  - limit: {property: p, min: 3, max: 5, sure: \"70%\"}\n")
		if err != nil {
			t.Fatal(kind, err)
		}
		same, err := loadLimits(t, kind+"label: stars, between: [3, 5]}", "  []\n")
		if err != nil {
			t.Fatal(err)
		}
		kept, broken := 0, 0
		everyComposition(t, len(p.Ingredients), 20, func(x *mcmc.Composition) {
			y := portable.Exp(same.Properties[0].mcmcProperty.LogScore(x))
			if math.Abs(y-0.7) < 1e-6 {
				return
			}
			if p.Target.Keeps(x) != (y > 0.7) {
				t.Fatalf("%s: %v is within bounds with probability %v", kind, x, y)
			}
			if y > 0.7 {
				kept++
			} else {
				broken++
			}
		})
		if kept == 0 || broken == 0 {
			t.Errorf("%s: %d keep the limit, %d break it", kind, kept, broken)
		}
	}
}

// What cannot be limited, and what no recipe keeps, is an error with a place and a way out.
func TestBadLimits(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range []struct {
		name, property, limits string
		line                   int
		says                   string
	}{
		{"misspelt", "learn: {label: stars, maximize: true}", "  - limit: {property: q, min: 3}\n", 8, "did you mean \"p\"?"},
		{"turned round", "learn: {label: stars, maximize: true}", "  - limit: {property: p, min: 4, max: 3}\n", 8, "contradicts itself"},
		{"a share in percent without the sign", "blend: {attribute: family, is: wine, maximize: true}", "  - limit: {property: p, max: 40}\n", 8, "write \"40%\" or 0.4"},
		{"a volatility without the sign", "markowitz: {returns: prices.csv, minimize: volatility}", "  - limit: {property: p, max: 10}\n", 8, "with a percent sign"},
		{"percent of a mean", "blend: {attribute: cost, minimize: true}", "  - limit: {property: p, max: \"40%\"}\n", 8, "without a percent sign"},
		{"percent of a number", "learn: {label: stars, maximize: true}", "  - limit: {property: p, min: \"40%\"}\n", 8, "the expected number of"},
		{"more than certain", "forest: {label: taste, want: Fresh}", "  - limit: {property: p, min: 40}\n", 8, "write \"40%\" or 0.4"},
		{"more than 100 %", "forest: {label: taste, want: Fresh}", "  - limit: {property: p, min: \"140%\"}\n", 8, "0 to 100 %"},
		{"rubbish", "learn: {label: stars, maximize: true}", "  - limit: {property: p, min: many}\n", 8, "write a number"},
		{"sure of a class", "forest: {label: taste, want: Fresh}", "  - limit: {property: p, min: 0.4, sure: 0.9}\n", 8, "how a measurement varies"},
		{"a logarithm", "learn: {label: stars, maximize: true, log: true}", "  - limit: {property: p, min: 3}\n", 8, "add sure"},
		{"sure of a mean", "blend: {attribute: cost, minimize: true}", "  - limit: {property: p, max: 20, sure: 0.9}\n", 8, "how a measurement varies"},
		{"out of reach", "learn: {label: stars, maximize: true}", "  - limit: {property: p, min: 40}\n", 8, "no recipe was found that keeps the limit of p (at least 40)"},
		{"not together", "blend: {attribute: cost, minimize: true}", "  - limit: {property: p, min: 20}\n  - limit: {property: p, max: 12}\n", 8, "each alone can be kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadLimits(t, c.property, c.limits)
			var bad *inputerr.Error
			if !errors.As(err, &bad) || bad.Line != c.line || bad.Hint == "" {
				t.Fatalf("the error is %v", err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the message does not say %q: %v", c.says, err)
			}
			kept.CheckError(t, c.name, err)
		})
	}
}

// A limit that one composition in millions keeps is found, and kir score says which recipes
// break it.
func TestRareLimit(t *testing.T) {
	dir := t.TempDir()
	text := "ingredients: ingredients.csv\ntotal: 1000\nsparsity: {uniform: [2, 5]}\nproperties:\n" +
		"  a: {blend: {attribute: a, minimize: true}, weight: 0}\n  b: {blend: {attribute: b, minimize: true}}\nconstraints:\n" +
		"  - limit: {property: a, min: 96.5}\n  - limit: {property: b, max: 3.2}\n"
	table := "name,a,b\n"
	for k := range 30 {
		table += fmt.Sprintf("x%d,%d,%d\n", k, (k*37)%89, 10+(k*53)%71)
	}
	table += "y,100,3\n"
	for name, content := range map[string]string{"problem.yaml": text, "ingredients.csv": table} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := mcmc.StartState(p.Target, mcmc.NewRand(7, "rare limit", 0))
	if err != nil {
		t.Fatal(err)
	}
	for k, bound := range []float64{96.5, -3.2} {
		v := p.Properties[k].Value(x.Composition)
		if sign := float64(1 - 2*k); sign*v < bound-1e-9 {
			t.Errorf("%v has %v of %s", x.Composition, v, p.Properties[k].Name)
		}
	}
	breaches, err := p.BrokenRules([]mcmc.Part{{Ingredient: 0, Amount: 500}, {Ingredient: 1, Amount: 500}}, Setting{})
	if err != nil {
		t.Fatal(err)
	}
	var broken []string
	for _, b := range breaches {
		broken = append(broken, b.Text)
	}
	if got := strings.Join(broken, "; "); got != "limit of a (at least 96.5); limit of b (at most 3.2)" || breaches[0].LimitedName != "a" || breaches[0].Slack.Value != 18.5 || breaches[1].Slack.Max != 3.2 {
		t.Errorf("broken are %s", got)
	}
}
