package compile

import (
	"os"
	"path/filepath"
	"testing"

	"kir/internal/dataset"
)

// Of what a recipe breaks of a rule, the figure is told that is furthest outside, and
// of those that are as far the first.
func TestBreach(t *testing.T) {
	for _, c := range []struct {
		rule, recipe string
		ingredient   int // -1: of several
		value        float64
	}{
		{"amount: {of: [Gin, Rum], max: 5}", "A,Gin,8\nA,Rum,8\nA,Rye,4\n", 0, 8},
		{"amount: {of: [Gin, Rum], max: 5}", "A,Gin,7\nA,Rum,8\nA,Rye,5\n", 1, 8},
		{"amount: {of: [Gin, Rum], max: 5}", "A,Gin,5\nA,Rum,6\nA,Rye,9\n", 1, 6},
		{"group: {of: [Gin, Rum], used: [0, 1], total: [0, 19]}", "A,Gin,1\nA,Rum,1\n", -1, 2},
		{"group: {of: [Gin, Rum], used: [0, 1], total: [0, 17]}", "A,Gin,1\nA,Rum,1\n", -1, 20},
	} {
		p, err := load(t, "total: 20\ningredients: [Gin, Rum, Rye]\nsparsity: {uniform: [1, 3]}\nconstraints:\n  - "+c.rule+"\n", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		file := filepath.Join(t.TempDir(), "book.csv")
		if err := os.WriteFile(file, []byte("recipe,ingredient,amount\n"+c.recipe), 0o644); err != nil {
			t.Fatal(err)
		}
		table, err := p.ReadTable(t.Context(), file, dataset.Layout{})
		if err != nil {
			t.Fatal(err)
		}
		scored, err := p.Score(table)
		if err != nil {
			t.Fatal(err)
		}
		if b := scored[0].Broken; len(b) != 1 || b[0].Slack == nil || b[0].Slack.Ingredient != c.ingredient || b[0].Slack.Value != c.value {
			t.Errorf("%s: %q breaks %+v", c.rule, c.recipe, b)
		}
	}
}
