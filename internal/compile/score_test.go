package compile_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/dataset"
)

// TestScore: the book's own recipes score what they do by models that have not seen
// them, whatever rules they break; each broken rule is told with the figure that is
// outside, and none that is kept.
func TestScore(t *testing.T) {
	const file = "../../examples/cocktails/problem.yaml"
	outline, err := compile.ReadOutline(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(outline.Text) + "constraints:\n  - exclude: [Gin, Campari]\n  - amount: {of: Champagne, max: 50%}\n  - group: {of: [Gin, Lemon juice], total: [0, 40%]}\n"
	text = strings.Replace(text, "properties:\n", "properties:\n  idle: {learn: {label: taste, want: Fresh}, weight: 0}\n", 1)
	p, err := compile.Load(context.Background(), file, compile.Options{Text: []byte(strings.Replace(text, "sparsity: recipes", "sparsity: {uniform: [2, 4]}", 1) + "search: {effort: 0}\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	known, err := q.KnownScores()
	if err != nil {
		t.Fatal(err)
	}
	table, err := p.ReadTable(t.Context(), "../../examples/cocktails/recipes.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	scored, err := p.Score(table)
	if err != nil {
		t.Fatal(err)
	}
	if len(scored) != len(known) {
		t.Fatalf("%d scores of %d recipes", len(scored), len(known))
	}
	gin, _ := table.Ingredients.Index("Gin")
	lemon, _ := table.Ingredients.Index("Lemon juice")
	campari, _ := table.Ingredients.Index("Campari")
	champagne, _ := table.Ingredients.Index("Champagne")
	for r, s := range scored {
		if s.Scores[0] != s.Scores[1] && !math.IsNaN(s.Scores[1]) {
			t.Errorf("recipe %d scores %v as a wish that counts, and %v as one that does not", r, s.Scores[1], s.Scores[0])
		}
		if s.KnownIndex != r || s.Score != known[r] && !(math.IsNaN(s.Score) && math.IsNaN(known[r])) {
			t.Errorf("recipe %d is number %d of the book and scores %v, want %v", r, s.KnownIndex, s.Score, known[r])
		}
		amount := make(map[int]float64)
		for _, part := range s.Parts {
			amount[part.Ingredient] = float64(part.Amount)
		}
		want := map[string]float64{} // the figure outside its bounds, by the rule's text
		if len(s.Parts) > 4 {
			want["sparsity"] = math.NaN()
		}
		if n := min(amount[gin], 1) + min(amount[campari], 1); n > 0 {
			want["never use Gin, Campari"] = n
		}
		if a := amount[champagne]; a > 500 {
			want["Champagne: at most 50 %"] = a
		}
		if a := amount[gin] + amount[lemon]; a > 400 {
			want["Gin, Lemon juice: together at most 40 %"] = a
		}
		if len(s.Broken) != len(want) {
			t.Errorf("recipe %d breaks %+v, want %v", r, s.Broken, want)
		}
		for _, b := range s.Broken {
			text := b.Text
			if strings.HasPrefix(text, "sparsity:") {
				text = "sparsity"
			}
			value, ok := want[text]
			if !ok || !math.IsNaN(value) && (b.Slack == nil || b.Slack.Value != value) {
				t.Errorf("recipe %d breaks %+v with %+v, want %v", r, b, b.Slack, want)
			}
		}
	}
}
