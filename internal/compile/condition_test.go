package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// conditionProblem is a problem of four ingredients and a total of 6, with conditions of numbers and categories.
const conditionProblem = `ingredients: [A, B, C, D]
total: 6
sparsity: {uniform: [1, 4]}
conditions:
  t: {from: 1, to: 2, step: 0.25, weights: [1, 2, 3, 4, 5]}
  c: {values: [x, y, z], weights: [3, 1, 1]}
  g: {values: [lab, plant], given: plant}
constraints:
`

// A tiedRule is a rule of a file, and the same as a function of the amounts and the values.
type tiedRule struct {
	text  string
	keeps func(x []int, t float64, c string) bool
}

// randomTiedRule makes a rule that ties conditions to each other or to the recipe, or holds without them.
func randomTiedRule(r *rand.Rand) tiedRule {
	names, categories := []string{"A", "B", "C", "D"}, []string{"x", "y", "z"}
	i, j, bound, category := r.IntN(4), r.IntN(4), 1+0.25*float64(r.IntN(5)), categories[r.IntN(3)]
	switch r.IntN(8) {
	case 0:
		return tiedRule{fmt.Sprintf("condition: {of: t, max: %v}", bound), func(_ []int, t float64, _ string) bool { return t <= bound }}
	case 1:
		return tiedRule{fmt.Sprintf("condition: {of: c, in: [%s, x]}", category), func(_ []int, _ float64, c string) bool { return c == category || c == "x" }}
	case 2:
		return tiedRule{fmt.Sprintf("if: {condition: {of: c, is: %s}, then: {exclude: [%s]}}", category, names[i]), func(x []int, _ float64, c string) bool { return c != category || x[i] == 0 }}
	case 3:
		return tiedRule{fmt.Sprintf("if: {condition: {of: t, min: %v}, then: {amount: {of: %s, max: 2}}}", bound, names[i]), func(x []int, t float64, _ string) bool { return t < bound || x[i] <= 2 }}
	case 4:
		return tiedRule{fmt.Sprintf("if: {used: [%s, %s], then: {condition: {of: t, max: %v}}}", names[i], names[j], bound), func(x []int, t float64, _ string) bool { return x[i]+x[j] == 0 || t <= bound }}
	case 5:
		return tiedRule{fmt.Sprintf("if: {used: %s, unused: %s, condition: {of: c, is: %s}, then: {condition: {of: t, is: %v}}}", names[i], names[j], category, bound), func(x []int, t float64, c string) bool {
			return !(x[i] > 0 && x[j] == 0 && c == category) || t == bound
		}}
	case 6:
		return tiedRule{fmt.Sprintf("if: {condition: {of: t, max: %v}, then: {condition: {of: c, is: %s}}}", bound, category), func(_ []int, t float64, c string) bool { return t > bound || c == category }}
	}
	return tiedRule{fmt.Sprintf("if: {unused: %s, then: [{condition: {of: c, in: [y, %s]}}, {require: [%s]}]}", names[i], category, names[j]), func(x []int, _ float64, c string) bool {
		return x[i] > 0 || (c == "y" || c == category) && x[j] > 0
	}}
}

// The sum of the probabilities of the conditions over the allowed pairs, by size, is that of an enumeration; so is
// which pairs are allowed. A problem that allows nothing is refused.
func TestTiedRulesAreCounted(t *testing.T) {
	counted, refused := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := conditionProblem
		var rules []tiedRule
		for range 1 + r.IntN(7) {
			one := randomTiedRule(r)
			rules, text = append(rules, one), text+"  - "+one.text+"\n"
		}
		want, keeps := make([]float64, 5), func(x []int, tv float64, c string) bool {
			return !slices.ContainsFunc(rules, func(one tiedRule) bool { return !one.keeps(x, tv, c) })
		}
		p, err := Load(context.Background(), "p.yaml", Options{Text: []byte(text)})
		tValues, tWeights, cValues, cWeights := []float64{1, 1.25, 1.5, 1.75, 2}, []float64{1, 2, 3, 4, 5}, []string{"x", "y", "z"}, []float64{3, 1, 1}
		total := 0.0
		eachOf4(func(x []int) {
			n := 0
			for _, a := range x {
				n += min(a, 1)
			}
			for a, tv := range tValues {
				for b, c := range cValues {
					if keeps(x, tv, c) {
						want[n] += tWeights[a] * cWeights[b]
						total += tWeights[a] * cWeights[b]
					}
				}
			}
		})
		if total == 0 {
			if err == nil {
				t.Errorf("seed %d: nothing is allowed, and the problem is read:\n%s", seed, text)
				p.Close()
			}
			refused++
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
			continue
		}
		logs := p.Target.Space().LogCounts(p.Target.Space().MaxUsed())
		got, sum, wanted := make([]float64, 5), 0.0, 0.0
		for n := 1; n < len(logs); n++ {
			got[n] = math.Exp(logs[n])
		}
		for n := range got {
			sum, wanted = sum+got[n], wanted+want[n]
		}
		for n := 1; n <= 4; n++ {
			if math.Abs(got[n]/sum-want[n]/wanted) > 1e-9 {
				t.Errorf("seed %d: size %d has the share %v, and should have %v:\n%s", seed, n, got[n]/sum, want[n]/wanted, text)
			}
		}
		prior, random := mcmc.NewPrior(p.Target), mcmc.NewRand(seed, "test", 0)
		for range 50 {
			x, err := prior.Draw(random)
			if err != nil {
				t.Fatal(err)
			}
			amounts := []int{x.Amount(0), x.Amount(1), x.Amount(2), x.Amount(3)}
			if tv, c := p.Conditions[0].Value(x.Condition(0)).(float64), p.Conditions[1].Value(x.Condition(1)).(string); !keeps(amounts, tv, c) {
				t.Fatalf("seed %d: %v at t = %v, c = %s is drawn, and the rules forbid it:\n%s", seed, amounts, tv, c, text)
			}
		}
		counted++
		p.Close()
	}
	t.Logf("%d problems counted, %d refused", counted, refused)
	if counted < 100 || refused < 3 {
		t.Errorf("%d problems were counted and %d refused, which tells little", counted, refused)
	}
}

// eachOf4 visits the amounts of four ingredients that add up to 6.
func eachOf4(visit func(x []int)) {
	for a := range 7 {
		for b := range 7 - a {
			for c := range 7 - a - b {
				visit([]int{a, b, c, 6 - a - b - c})
			}
		}
	}
}

// Every wrong condition is an error with the place and what to write.
func TestBadConditions(t *testing.T) {
	dir := t.TempDir()
	table := "recipe,A,B,t,c,liking\n1,1,2,1.5,x,3\n2,2,2,1.5,q,4\n"
	if err := os.WriteFile(filepath.Join(dir, "r.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("1, ", 1000)
	for _, c := range []struct{ conditions, rules, want string }{
		{"t: 5", "", `:4:17: a condition is "5": write {from: 150`},
		{"t: {from: 1, to: 2}", "", "has no values"},
		{"t: {from: 2, to: 1, step: 1}", "", "to is 1, below from, 2"},
		{"t: {from: 1, to: 2, step: 0}", "", "it must be above 0"},
		{"t: {from: 1, to: 2e6, step: 1}", "", "more than 1000 values"},
		{"t: {values: [" + long + "2]}", "", "the condition has 1001 values"},
		{"t: {values: []}", "", "list at least one"},
		{"t: {values: [1, 1]}", "", "stands there twice"},
		{"t: {values: [x, x]}", "", "stands there twice"},
		{"t: {values: [1, 2], weights: [1]}", "", "there are 1 weights for 2 values"},
		{"t: {values: [1, 2], weights: [1, 0]}", "", "a weight is 0"},
		{"t: {values: [1, 2], weights: [1, -1]}", "", "weight"},
		{"c: {values: [x, y], given: z}", "", `the given value "z" is none of the values`},
		{"c: {values: [x, y], unit: g}", "", "categories have no unit"},
		{"t: {values: [1, 2], step: 1}", "", "has values, and from, to or step"},
		{"t: {min: 1}", "", "write from, to and step"},
		{"draw: {values: [1, 2]}", "", `cannot be named "draw"`},
		{"t: {values: [1, 2]}, ' t': {values: [1]}", "", `two conditions are named "t"`},
		{"t: {values: [1, 2]}", "condition: {of: q, max: 1}", `there is no condition "q": did you mean "t"?`},
		{"t: {values: [1, 2]}", "condition: {of: t}", "does not say which values"},
		{"t: {values: [1, 2]}", "condition: {of: t, max: 0}", "no value of t is allowed"},
		{"t: {values: [1, 2]}", "condition: {of: t, is: 3}", "t has no value 3"},
		{"c: {values: [x, y]}", "condition: {of: c, max: 3}", "c has no numbers"},
		{"c: {values: [x, y]}", "condition: {of: c, is: z}", `c has no value "z"`},
		{"t: {values: [1, 2], given: 2}", "condition: {of: t, max: 1}", "forbids the given value of t, 2"},
		{"c: {values: [x, y]}", "if: {then: {exclude: [A]}}", "does not say when"},
		{"A: {values: [1, 2]}", "ingredients", "A is an ingredient and a condition"},
		{"liking: {values: [1, 2]}", "", "a label and a condition"},
		{"t: {values: [1, 2]}, c: {values: [x, y]}", "", `which the condition does not list`},
	} {
		text := "recipes: r.csv\ntotal: 100\nlabels: [liking]\nconditions: {" + c.conditions + "}\n"
		if c.rules == "ingredients" {
			text = strings.Replace(text, "recipes: r.csv\ntotal: 100\nlabels: [liking]", "ingredients: [A, B]\nsparsity: {uniform: [1, 2]}\ntotal: 100", 1)
		} else if c.rules != "" {
			text += "constraints: [{" + c.rules + "}]\n"
		}
		if strings.Contains(c.want, "does not list") {
			text = strings.Replace(text, "total", "sparsity: {uniform: [1, 2]}\ntotal", 1)
		}
		p, err := Load(context.Background(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(text)})
		if err == nil {
			p.Close()
			t.Errorf("%q with %q is read", c.conditions, c.rules)
			continue
		}
		var bad *inputerr.Error
		if !strings.Contains(err.Error(), c.want) || !errors.As(err, &bad) || bad.Line == 0 || bad.Hint == "" {
			t.Errorf("%q with %q: %v; want %q with a place and a hint", c.conditions, c.rules, err, c.want)
		}
	}
}

// A formula may name a category that a given value keeps from being offered. It is checked even where the conditions
// are wrong.
func TestFormulaOfGivenCondition(t *testing.T) {
	text := "ingredients: [A, B]\ntotal: 4\nsparsity: {uniform: [1, 2]}\nconditions: {c: {values: [x, y, z], given: y}}\nproperties: {f: {expression: 'condition(\"c\") == \"x\" ? 0.25 : 0.5'}}\ncampaign: {batch: 4}\n"
	p, err := Load(context.Background(), "p.yaml", Options{Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x, err := p.Target.Space().Composition([]mcmc.Part{{Ingredient: 0, Amount: 4}}, []int32{0})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Target.Objectives()[0].Property.LogScore(x); got != math.Log(0.5) {
		t.Errorf("the formula is %v where the condition is y", math.Exp(got))
	}
	_, err = Load(context.Background(), "p.yaml", Options{Text: []byte(text + "constraints: [{condition: {of: c, is: x}}]\n")})
	if err == nil || !strings.Contains(err.Error(), "forbids the given value of c, y") {
		t.Errorf("error %v", err)
	}
	alike := strings.Replace(text, "batch: 4", "batch: 4, alike: {c: 2}", 1)
	q, err := Load(context.Background(), "p.yaml", Options{Text: []byte(alike)})
	if err != nil || !strings.Contains(strings.Join(q.Warnings, " "), "The c is given, and so the same in all of a batch: alike") {
		t.Fatalf("error %v", err)
	}
	q.Close()
	q, err = Load(context.Background(), "p.yaml", Options{Text: []byte(strings.Replace(alike, ", given: y", "", 1))})
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
}

// TestScoredConditions: kir score takes an unknown condition to be what most trials had, and a number that is not offered
// to be the nearest one that is; it says both. Without trials the value with the greatest weight is taken.
func TestScoredConditions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"r.csv": "recipe,A,B,heat,oven\na,4,6,20,fan\nb,5,5,19,deck\nc,6,4,,fan\nd,7,3,10,\n",
		"t.csv": "recipe,A,B,heat,oven\na,4,6,,deck\nb,5,5,26,\nc,1,9,30,fan\nd,2,8,-4,fan\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		recipes, want string
		warnings      []string
	}{
		{"recipes: r.csv\n", "[[1 0] [2 1] [2 1] [0 1]]", []string{
			"The heat of 1 recipe is unknown: kir scores at 20 °C.",
			"The heat of 2 recipes is not one that may be offered, 10 °C to 30 °C: kir scores at the nearest.",
			"The oven of 1 recipe is unknown: kir scores at fan.",
		}},
		{"", "[[0 0] [2 0] [2 1] [0 1]]", nil},
	} {
		p, err := Load(t.Context(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(c.recipes + "ingredients: [A, B]\ntotal: 10\nsparsity: {uniform: [1, 2]}\nconditions:\n  heat: {from: 10, to: 30, step: 10, unit: °C, weights: [2, 1, 1]}\n  oven: {values: [deck, fan]}\n")})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		table, err := p.ReadTable(t.Context(), filepath.Join(dir, "t.csv"), dataset.Layout{})
		if err != nil {
			t.Fatal(err)
		}
		scored, err := p.Score(table)
		if err != nil {
			t.Fatal(err)
		}
		var at [][]int32
		for _, s := range scored {
			at = append(at, s.Conditions)
		}
		if got := fmt.Sprint(at); got != c.want {
			t.Errorf("%sis scored at %s, and not at %s", c.recipes, got, c.want)
		}
		got, err := p.ConditionWarnings(table)
		if err != nil || c.warnings != nil && !slices.Equal(got, c.warnings) {
			t.Errorf("the warnings are %q, %v", got, err)
		}
	}
}
