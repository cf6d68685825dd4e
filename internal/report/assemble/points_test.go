package assemble

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
)

// TestMap checks that the map has the shortlist, known recipes by their names, and few draws.
func TestMap(t *testing.T) {
	m := cocktails(t).model
	if m.Map == nil || len(m.Map.Best) != len(m.Best) || len(m.Map.Draws) == 0 || len(m.Map.Draws) > maxShownDraws {
		t.Fatalf("the map is %+v", m.Map)
	}
	book := cocktails(t).problem.Book.Recipes
	if len(m.Map.Known) != len(book) || m.Map.Known[3].Recipe != book[3].Name {
		t.Errorf("the map has %d known recipes of %d", len(m.Map.Known), len(book))
	}
	if m.Ternary != nil {
		t.Errorf("the cocktails have a ternary plot of %q", m.Ternary.Corners)
	}
}

// TestHeldOut checks that a run's report has what was measured and predicted of known recipes, by
// their names, for numbers alone.
func TestHeldOut(t *testing.T) {
	for _, w := range cocktails(t).model.Properties {
		if len(w.Forest.HeldOut) > 0 {
			t.Errorf("the class %s has held-out numbers", w.Name)
		}
	}
	var book strings.Builder
	book.WriteString("recipe,ingredient,amount,sweetness (g/l)\n")
	for r := range 24 {
		for i, amount := range []int{1 + r, 30 - r} {
			fmt.Fprintf(&book, "recipe %d,ingredient %d,%d,%d\n", r, i+r%2, amount, 10+3*r)
		}
	}
	for _, kind := range []string{"forest", "learn"} {
		m := sample(t, map[string]string{
			"recipes.csv": book.String(), "problem.yaml": "total: 31\nrecipes: recipes.csv\nproperties: {sweet: {" + kind + ": {label: \"sweetness (g/l)\", maximize: true}}}\nsampler: {kernel: balanced, chains: 2, warmup: 50, draws: 100}\n",
		}).model
		held := m.Properties[0].Forest.HeldOut
		if len(held) < 20 || m.Properties[0].Forest.Unit != "g/l" {
			t.Fatalf("%s: %d recipes are held out, in %q", kind, len(held), m.Properties[0].Forest.Unit)
		}
		off := 0.0
		for _, h := range held {
			var r int
			if _, err := fmt.Sscanf(h.Recipe, "recipe %d", &r); err != nil || float64(h.Measured) != float64(10+3*r) {
				t.Errorf("%s: %+v", kind, h)
			}
			off += math.Abs(float64(h.Value-h.Measured)) / float64(len(held))
		}
		if off > 18 { // who says the mean is off by 18
			t.Errorf("%s: held-out recipes are off by %v", kind, off)
		}
	}
}

// TestTernary checks which problems have a ternary plot, and the shares in it.
func TestTernary(t *testing.T) {
	table := "name,phase,cost\nwater,water,1\nwax,oil,2\nfat,oil,3\nsoap,emulsifier,4\nbalm,active,5\n"
	for name, c := range map[string]struct{ problem, want string }{
		"three ingredients": {"total: 10\ningredients: [a, b, c]\nsparsity: {uniform: [1, 3]}\n", "[a b c]"},
		"four ingredients":  {"total: 10\ningredients: [a, b, c, d]\nsparsity: {uniform: [1, 3]}\n", ""},
		"three groups in rules": {`total: 10
ingredients: i.csv
sparsity: {uniform: [2, 4]}
constraints:
  - group: {of: {phase: oil}, total: [1, 5]}
  - ratio: {of: {phase: emulsifier}, to: {phase: oil}, max: 1}
  - group: {of: {phase: active}, used: [0, 1]}
`, "[oil emulsifier active]"},
		"two groups in rules": {"total: 10\ningredients: i.csv\nsparsity: {uniform: [2, 4]}\nconstraints:\n  - ratio: {of: {phase: emulsifier}, to: {phase: oil}, max: 1}\n", ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"i.csv": table, "problem.yaml": c.problem} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		p, err := compile.Load(t.Context(), filepath.Join(dir, "problem.yaml"), compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		corners, cornerOf, ok := ternaryCorners(p)
		if ok != (c.want != "") || ok && fmt.Sprint(corners) != c.want {
			t.Errorf("%s: %v, %q", name, ok, corners)
		}
		if name == "three groups in rules" {
			got := ternaryShares([]mcmc.Part{{Ingredient: 0, Amount: 6}, {Ingredient: 1, Amount: 1}, {Ingredient: 2, Amount: 2}, {Ingredient: 4, Amount: 1}}, cornerOf)
			if got != [3]report.Number{0.75, 0, 0.25} {
				t.Errorf("the shares are %v", got)
			}
			if got := ternaryShares([]mcmc.Part{{Ingredient: 0, Amount: 10}}, cornerOf); got[0].IsKnown() {
				t.Errorf("a recipe without the three has the shares %v", got)
			}
		}
	}
}
