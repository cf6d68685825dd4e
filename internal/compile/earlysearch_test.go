package compile

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// TestFirstLook: where compositions have to be measured, recipes that keep the rules are
// shown before that is done, and the problem is read as without it.
func TestFirstLook(t *testing.T) {
	dir := t.TempDir()
	var shelf strings.Builder
	shelf.WriteString("name,cost,heat,weight\n")
	for i := range 30 {
		fmt.Fprintf(&shelf, "i%d,%d.%03d,%d.%03d,%d.%03d\n", i, 1+i%7, 37*i%1000, 2+i%5, 71*i%1000, 1+i%11, 53*i%1000)
	}
	most := testmode.Pick(5, 4) // each number of ingredients is measured by itself
	text := fmt.Sprintf(`total: 1000
ingredients: shelf.csv
sparsity: {uniform: [3, %d]}
properties:
  cost: {blend: {attribute: cost, smaller: {from: 1, to: 8}}}
constraints:
  - limit: {attribute: heat, min: 3.1, max: 3.4}
  - limit: {attribute: weight, min: 5, max: 5.5}
  - ratio: {of: [i1, i2, i3, i4], to: [i5, i6, i7, i8], max: 0.7}
`, most)
	if err := os.WriteFile(filepath.Join(dir, "shelf.csv"), []byte(shelf.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	plain, err := Load(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Target.Space().UncountedReason() == nil {
		t.Fatal("nothing is measured")
	}
	c, err := Begin(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, best, err := c.EarlyRecipes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range best {
		x, err := mcmc.NewComposition(len(p.Ingredients), f.Parts...)
		if err != nil {
			t.Fatal(err)
		}
		score, err := p.Target.LogScore(x)
		if err != nil || math.IsInf(score, -1) || math.Abs(score-f.LogScore) > 1e-9 {
			t.Errorf("recipe %d has log score %v, and %v was said: %v", k, score, f.LogScore, err)
		}
		if k > 0 && f.LogScore > best[k-1].LogScore {
			t.Errorf("recipe %d is better than the one before", k)
		}
	}
	looked, err := c.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(best) == 0 {
		t.Error("no recipe was shown")
	}
	if string(looked.Resolved) != string(plain.Resolved) || !slices.Equal(looked.Inputs, plain.Inputs) || !slices.Equal(looked.Warnings, plain.Warnings) {
		t.Error("a first look changes the problem")
	}
	if a, b := looked.Target.Space().LogCounts(most), plain.Target.Space().LogCounts(most); !slices.Equal(a, b) {
		t.Errorf("a first look changes what is measured: %v, %v", a, b)
	}
}
