package compile

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// ovenModel is a model of LightGBM of a share, a temperature and an input for each of two ovens.
const ovenModel = `tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=3
objective=regression
feature_names=A temperature oven_deck oven=fan
feature_infos=none none none none
tree_sizes=1 1

Tree=0
num_leaves=3
num_cat=0
split_feature=0 1
threshold=0.45 165
decision_type=2 2
left_child=1 -1
right_child=-3 -2
leaf_value=1 2 4

Tree=1
num_leaves=3
num_cat=0
split_feature=2 3
threshold=0.5 0.5
decision_type=2 2
left_child=1 -1
right_child=-3 -2
leaf_value=16 10 20

end of trees
`

const ovenProblem = `ingredients: [A, B, C]
total: 10
sparsity: {uniform: [1, 3]}
conditions:
  oven: {values: [deck, fan, gas]}
  temperature: {values: [150, 160, 170, 180]}
  unseen: {values: [1, 2]}
constraints: [{condition: {of: temperature, max: 170}}]
`

// TestModelOfConditions: inputs of an imported model that are called as a condition, or as a category of one, have its
// value; scores of all values at once and of a table of predictions are those of the model.
func TestModelOfConditions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("oven.txt", ovenModel)
	write("check.csv", "recipe,A,B,temperature,oven_deck,oven=fan,prediction\na,4,6,150,1,0,21\nb,5,5,150,0,0,20\nc,4,6,170,0,1,12\n")
	write("wrong.csv", "recipe,A,B,temperature,oven_deck,oven=fan,prediction\na,4,6,150,1,0,22\n")
	write("bare.csv", "recipe,A,B,temperature,prediction\na,4,6,150,22\n")
	write("other.csv", "recipe,A,B,temperature,oven_deck,oven=fan,prediction\na,4,6,155,1,0,21\n")
	load := func(property string) (*Problem, error) {
		return Load(context.Background(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(ovenProblem + "properties: {y: {model: {file: oven.txt, " + property + "}}}\n")})
	}
	p, err := load("maximize: {from: 10, to: 30}, check: check.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := &p.Properties[0]
	values := map[int32]float64{0: 20, 1: 10, 2: 16}
	for a := range 11 {
		for oven := range int32(3) {
			for heat := range int32(3) {
				for unseen := range int32(2) {
					parts := []mcmc.Part{{Ingredient: 1, Amount: 10}}
					if a > 0 {
						parts = []mcmc.Part{{Ingredient: 0, Amount: a}}
						if a < 10 {
							parts = append(parts, mcmc.Part{Ingredient: 1, Amount: 10 - a})
						}
					}
					x, err := p.Target.Space().Composition(parts, []int32{oven, heat, unseen})
					if err != nil {
						t.Fatal(err)
					}
					want := values[oven] + 4
					if a <= 4 {
						want = values[oven] + map[bool]float64{true: 2, false: 1}[heat == 2]
					}
					if got := w.Value(x); math.Abs(got-want) > 1e-12 {
						t.Fatalf("%v is %v, and not %v", x, got, want)
					}
					s := w.mcmcProperty.(mcmc.LineProperty).Scorer(x)
					s.Reset()
					for c, n := range []int{3, 3, 2} {
						var pieces mcmc.PiecewiseConstant
						s.(mcmc.ConditionScorer).Values(c, &pieces)
						at := 0
						for v := range n {
							if at+1 < pieces.Len() {
								if start, _ := pieces.Piece(at + 1); start <= v {
									at++
								}
							}
							y := x.Clone()
							if err := y.SetCondition(c, v); err != nil {
								t.Fatal(err)
							}
							if _, score := pieces.Piece(at); score != w.mcmcProperty.LogScore(y) {
								t.Fatalf("%v: value %d of condition %d is scored %v, and alone %v", x, v, c, score, w.mcmcProperty.LogScore(y))
							}
						}
					}
					if s.LogScore() != w.mcmcProperty.LogScore(x) {
						t.Fatalf("%v is scored %v after its values, and was %v", x, s.LogScore(), w.mcmcProperty.LogScore(x))
					}
				}
			}
		}
	}
	limited := strings.Replace(ovenProblem, "max: 170}}]", "max: 170}}, {limit: {property: y, min: 20.5}}]", 1) + "properties: {y: {model: {file: oven.txt, maximize: true}}}\n"
	q, err := Load(context.Background(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(limited)})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for oven, allowed := range []bool{true, false, false} {
		x, err := q.Target.Space().Composition([]mcmc.Part{{Ingredient: 1, Amount: 10}}, []int32{int32(oven), 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		if score, err := q.Target.LogScore(x); err != nil || (score > math.Inf(-1)) != allowed {
			t.Errorf("oven %d keeps the limit with %v, %v", oven, score, err)
		}
	}
	for property, want := range map[string]string{
		"maximize: true, check: wrong.csv":            "the model says 22 here, and as its inputs are mapped it is 21",
		"maximize: true, check: bare.csv":             `there is no column "oven_deck", which a condition gives`,
		"maximize: true, check: other.csv":            "the conditions of the row are none that may be offered",
		"maximize: true, features: {oven_deck: oven}": `the model takes "oven" as a number, and the condition has categories`,
	} {
		if q, err := load(property); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", property, err)
			if q != nil {
				q.Close()
			}
		}
	}
	many := strings.Replace(ovenProblem, "{values: [150, 160, 170, 180]}", "{from: 150, to: 169, step: 0.05}", 1) + "properties: {y: {model: {file: oven.txt, maximize: true}}}\n"
	if q, err := Load(context.Background(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(many)}); err == nil || !strings.Contains(err.Error(), "more than 1024 combinations of conditions") {
		t.Errorf("of many combinations: %v", err)
		if q != nil {
			q.Close()
		}
	}
}

// TestModelOfConditionsIsSampled: draws of an imported model of conditions follow its law, by a count of all pairs.
func TestModelOfConditionsIsSampled(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oven.txt"), []byte(ovenModel), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Load(context.Background(), filepath.Join(dir, "p.yaml"), Options{Text: []byte(ovenProblem + "properties: {y: {model: {file: oven.txt, maximize: {from: 10, to: 30}}}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	k, err := mcmc.NewKernel("balanced", p.Target)
	if err != nil {
		t.Fatal(err)
	}
	r := mcmc.NewRand(1, "ovens", 0)
	x, _, err := mcmc.StartState(p.Target, r)
	if err != nil {
		t.Fatal(err)
	}
	// P(oven) is in proportion to the sum of scores over the compositions of each n, of which all weigh 1/|X_n|.
	want := make([]float64, 3)
	sum := 0.0
	for a := range 11 {
		for b := range 11 - a {
			var parts []mcmc.Part
			for i, amount := range []int{a, b, 10 - a - b} {
				if amount > 0 {
					parts = append(parts, mcmc.Part{Ingredient: i, Amount: amount})
				}
			}
			count := map[int]float64{1: 3, 2: 27, 3: 36}[len(parts)]
			for oven := range int32(3) {
				for heat := range int32(3) {
					c, err := p.Target.Space().Composition(parts, []int32{oven, heat, 0})
					if err != nil {
						t.Fatal(err)
					}
					y := math.Exp(p.Properties[0].mcmcProperty.LogScore(c)) / count
					want[oven] += y
					sum += y
				}
			}
		}
	}
	const draws = 20_000
	var tally mcmc.Tally
	got := make([]float64, 3)
	for range draws {
		if err := k.Advance(r, x, 8, &tally); err != nil {
			t.Fatal(err)
		}
		got[x.Composition.Condition(0)]++
	}
	for oven := range got {
		p := want[oven] / sum
		// Draws eight iterations apart are nearly independent: six standard errors of half as many draws leave a false
		// alarm of 1e-8.
		if se := math.Sqrt(p * (1 - p) / (draws / 2)); math.Abs(got[oven]/draws-p) > 6*se {
			t.Errorf("oven %d: %s of the draws, and not %.4f ± %.4f", oven, fmt.Sprint(got[oven]/draws), p, se)
		}
	}
}

// TestConstantsWithSeveralValues: a constant with a list is a condition of the input's name: the same as one under
// conditions, and recipes need no column of it. Two models share it.
func TestConstantsWithSeveralValues(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"oven.txt": ovenModel, "r.csv": "recipe,A,B\na,4,6\nb,5,5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	load := func(text string) (*Problem, error) {
		return Load(t.Context(), filepath.Join(dir, "p.yaml"), Options{Text: []byte("recipes: r.csv\ningredients: [A, B, C]\ntotal: 10\nsparsity: {uniform: [1, 3]}\n" + text)})
	}
	const model = "model: {file: oven.txt, maximize: {from: 10, to: 30}"
	p, err := load("properties:\n  y: {" + model + ", constants: {temperature: [180, 150], oven_deck: 1, oven=fan: [0]}}}\n" +
		"  z: {" + model + ", constants: {temperature: [150, 180], oven_deck: 0, oven=fan: missing}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	again, err := load("conditions: {temperature: {values: [150, 180]}}\nproperties:\n  y: {" + model + ", constants: {oven_deck: 1, oven=fan: 0}}}\n")
	if err == nil || !strings.Contains(err.Error(), "no column for the condition") {
		t.Errorf("a condition without a column: %v", err)
		again.Close()
	}
	if again, err = Load(t.Context(), filepath.Join(dir, "q.yaml"), Options{Text: p.Resolved}); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, p := range []*Problem{p, again} {
		if len(p.Conditions) != 1 || p.Conditions[0].Name != "temperature" || !slices.Equal(p.Conditions[0].Numbers, []float64{150, 180}) {
			t.Fatalf("the conditions are %+v", p.Conditions)
		}
		for heat, want := range [][]float64{{21, 17}, {22, 18}} {
			x, err := p.Target.Space().Composition([]mcmc.Part{{Ingredient: 0, Amount: 3}, {Ingredient: 1, Amount: 7}}, []int32{int32(heat)})
			if err != nil {
				t.Fatal(err)
			}
			for k := range p.Properties {
				if got := p.Properties[k].Value(x); got != want[k] {
					t.Errorf("%s at %s is %v, and not %v", p.Properties[k].Name, p.Conditions[0].Text(heat), got, want[k])
				}
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"properties: {y: {" + model + ", constants: {temperature: [150, missing], oven_deck: 1, oven=fan: 0}}}}\n", "missing is one of several values"},
		{"properties: {y: {" + model + ", constants: {temperature: [150, 150], oven_deck: 1, oven=fan: 0}}}}\n", "150 stands there twice"},
		{"conditions: {temperature: {values: [1, 2]}}\nproperties: {y: {" + model + ", constants: {temperature: [150, 180], oven_deck: 1, oven=fan: 0}}}}\n", `"temperature" has values here and under conditions`},
		{"properties:\n  y: {" + model + ", constants: {temperature: [150, 180], oven_deck: 1, oven=fan: 0}}}\n  z: {" + model + ", constants: {temperature: [150, 181], oven_deck: 1, oven=fan: 0}}}\n", `"temperature" has other values in line 6`},
	} {
		p, err := load(c.text)
		if err == nil || strings.Count(err.Error(), c.want) != 1 {
			t.Errorf("%s\nis said to be wrong by %v, and not by %s", c.text, err, c.want)
			p.Close()
		}
	}
}
