package compile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/dataset"
)

// drafted reads a table for a draft, beside which its problem is to be.
func drafted(t *testing.T, name, text string, o dataset.Options) (d *Draft, out string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	d = &Draft{Table: name}
	if err := d.ReadTable(tableFrom(name, text), o); err != nil {
		t.Fatal(err)
	}
	return d, filepath.Join(dir, "problem.yaml")
}

// tableFrom is a table in memory.
func tableFrom(name, text string) Table {
	return Table{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// finished is the problem that is written, which can be sampled.
func finished(t *testing.T, d *Draft, out string) string {
	t.Helper()
	text, err := d.Finish(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDraftOfHistory: a table of prices, or of returns, becomes a portfolio, and a table of
// recipes with dates does not.
func TestDraftOfHistory(t *testing.T) {
	prices, moves := "Date,A,B,C,D,E\n", "Date,A,B,C,D,E\n"
	recipes := "Date,Gin,Rum,Lime,rating\n"
	p := []float64{100, 50, 20, 80, 30}
	for k := range 24 {
		date := fmt.Sprintf("2020-%02d-%02d", 1+k%12, 1+k/12)
		if k >= 12 {
			date = fmt.Sprintf("2021-%02d-01", k-11)
		}
		row, moved := date, date
		for i := range p {
			by := float64((k*7+i*5)%11-5) / 200
			p[i] *= 1 + by
			row += fmt.Sprintf(",%.2f", p[i])
			moved += fmt.Sprintf(",%.3f", by)
		}
		prices += row + "\n"
		moves += moved + "\n"
		recipes += fmt.Sprintf("%s,%d,%d,%d,%d\n", date, 1+k%3, k%4*3, 9-k%5*2, k%10)
	}
	for name, text := range map[string]string{"prices.csv": prices, "returns.csv": moves} {
		d, out := drafted(t, name, text, dataset.Options{})
		if d.Series == nil {
			t.Fatalf("%s is taken for recipes", name)
		}
		written := finished(t, d, out)
		for _, want := range []string{"ingredients: [A, B, C, D, E]", "\n  ratio: {markowitz: {returns: " + name + ", maximize: ratio}}", "\n  - amount: {of: \"*\", max: \"30%\"}"} {
			if !strings.Contains(written, want) {
				t.Errorf("%s has no %q:\n%s", name, want, written)
			}
		}
		d.Objectives = map[string]DraftObjective{PortfolioKey: {Direction: Frontier}}
		d.Bounds = map[string]bool{MaxShareKey: false, MinShareKey: false}
		written = finished(t, d, out)
		if !strings.Contains(written, "\n  return: ") || !strings.Contains(written, "\n  volatility: ") || !strings.Contains(written, "\ntrade: [return, volatility]\n") || strings.Contains(written, "\nconstraints:") {
			t.Errorf("the frontier is\n%s", written)
		}
	}
	d := &Draft{Table: "recipes.csv"}
	err := d.ReadTable(tableFrom("recipes.csv", recipes), dataset.Options{})
	if d.Series != nil {
		t.Errorf("recipes by date are taken for prices (%v)", err)
	}
}

// TestDraftWeak: where a label follows from nothing, what goes together is an objective, too,
// unless that is not wanted; where it follows from the amounts it is not.
func TestDraftWeak(t *testing.T) {
	table := func(label func(k int) int) string {
		text := "recipe,ingredient,amount,stars\n"
		for k := range 60 {
			for i := range 3 {
				text += fmt.Sprintf("R%d,%s,%d,%d\n", k, []string{"Gin", "Rum", "Lime", "Soda", "Rye"}[(k+i*(1+k%2))%5], 1+(k*(i+3))%7, label(k))
			}
		}
		return text
	}
	d, out := drafted(t, "book.csv", table(func(k int) int { return 1 + k*k*k*7919%101%9 }), dataset.Options{})
	if text := finished(t, d, out); !strings.Contains(text, "\n  "+pairsObjectiveYAML) || !strings.Contains(text, "\n  stars: {learn:") {
		t.Errorf("of a label that follows from nothing the draft is\n%s", text)
	}
	d, out = drafted(t, "book.csv", table(func(k int) int { return 1 + k*k*k*7919%101%9 }), dataset.Options{})
	d.NoPairs = true
	if text := finished(t, d, out); strings.Contains(text, pairsObjectiveYAML) {
		t.Errorf("without pairs the draft is\n%s", text)
	}
	d, out = drafted(t, "book.csv", table(func(k int) int { return 10 * (k % 5) }), dataset.Options{})
	if text := finished(t, d, out); strings.Contains(text, pairsObjectiveYAML) {
		t.Errorf("of a label that follows from the ingredients the draft is\n%s", text)
	}
}

// TestDraftConflict: of constraints that nobody chose and that conflict the last are left
// out; those that were chosen are an error.
func TestDraftConflict(t *testing.T) {
	text, shelf := "recipe,ingredient,amount,unit\n", "name,stock (ml),max level,note\n"
	for k := range 8 {
		text += fmt.Sprintf("R%d,Gin,%d,cl\nR%[1]d,Lime,%d,cl\n", k, 4+k%3, 2+k%2)
	}
	shelf += "Gin,700,80,a\nLime,0,50,b\n"
	in, err := dataset.ReadIngredients(strings.NewReader(shelf), "shelf.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	make := func() (*Draft, string) {
		d, out := drafted(t, "book.csv", text, dataset.Options{Ingredients: in})
		d.Ingredients = "shelf.csv"
		if err := os.WriteFile(filepath.Join(filepath.Dir(out), "shelf.csv"), []byte(shelf), 0o666); err != nil {
			t.Fatal(err)
		}
		return d, out
	}
	d, out := make()
	written := finished(t, d, out)
	if !strings.Contains(written, "\n#   - amount: {of: \"*\", stock: ") || !strings.Contains(written, "\n  - amount: {of: {max level: \"80\"}, max: 800}") {
		t.Errorf("the draft is\n%s", written)
	}
	d, out = make()
	d.Bounds = map[string]bool{StockBoundKey: true, AlwaysUsedKey: true}
	if _, err := d.Finish(t.Context(), out); !errors.As(err, new(*ConflictError)) {
		t.Errorf("what was chosen and conflicts is %v", err)
	}
}

// TestTableNames: names and recipes to leave out are read from a problem file, and what is
// wrong there is said.
func TestTableNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bar.csv"), []byte("recipe,ingredient,amount\nA,Campari,3\nA,Campri,0\nB,Campri,2\nB,Gin,1\nC,gin,4\nTotal,Gin,9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	load := func(table string) (*Problem, error) {
		return Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{Text: []byte("recipes: {file: bar.csv" + table + "}\ntotal: 100\nsparsity: {uniform: [1, 2]}\n")})
	}
	p, err := load(`, names: {gin: "Gin (2)"}, without: [Total]`)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(p.Ingredients) != "[Campari Campri Gin Gin (2)]" || len(p.Book.Recipes) != 3 {
		t.Errorf("there are %q, %d recipes", p.Ingredients, len(p.Book.Recipes))
	}
	for table, want := range map[string]string{
		", names: [a]": "names are", ", names: {a: [b]}": "which ingredient", ", without: Total": "without is", ", without: [[a]]": "a recipe",
	} {
		if _, err := load(table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v, want %q", table, err, want)
		}
	}
	p, err = load(", names: {Rye: Rum}, without: [Sum]")
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(p.Warnings, "\n")
	if !strings.Contains(told, `names has "Rye", which the table does not`) || !strings.Contains(told, `without has "Sum", which is no recipe`) {
		t.Errorf("it says %s", told)
	}
}
