package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kir/internal/config"
	"kir/internal/constraint/conflict"
	"kir/internal/inputerr"
)

// A problem file that takes longer than loadTime to be read is given up, and has to end
// within endTime of that.
const (
	loadTime = 500 * time.Millisecond
	endTime  = 10 * time.Second
)

// FuzzProblem reads a problem file beside the bar's files: it is read, refused with its
// place, or given up when that is asked for, and what is read can be written and read
// again. No program runs.
func FuzzProblem(f *testing.F) {
	dir := f.TempDir()
	for name, text := range bar {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	const head = "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\n"
	for _, p := range kindsInUse {
		f.Add([]byte(head + "properties:\n  p: {" + p.yaml + "}\n"))
	}
	for _, rules := range []string{
		"amount: {of: Gin, min: \"10%\", max: 15, step: 5}", "group: {of: {family: spirit}, used: [1, 2], total: [\"10%\", \"20%\"]}", "never: [Gin, Cassis]", "needs: {if: Gin, then: [Campari]}",
		"limit: {attribute: abv, min: 3}", "near: {recipe: Kir, changes: 2}", "any: [{require: Gin}, {exclude: Cassis}]", "block: {of: [Gin, Cassis], total: \"20%\", rules: [{amount: {of: Gin, max: \"50%\"}}]}",
	} {
		f.Add([]byte(head + "sparsity: {uniform: [1, 4]}\nconstraints:\n  - " + rules + "\n"))
	}
	f.Add([]byte("name: x\ntotal: 30\ningredients: {count: 9}\nsparsity: {table: {2: 1, 3: 4}}\nsampler: {kernel: tempered, chains: 2, draws: 5}\nsearch: {effort: 0.5}\n"))
	file := filepath.Join(dir, "problem.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), loadTime)
		defer cancel()
		began := time.Now()
		o := Options{Text: text, Workers: 1, Allow: func(path string) error {
			if filepath.Dir(path) != dir {
				return errors.New("it is elsewhere")
			}
			return nil
		}}
		p, err := Load(ctx, file, o)
		if took := time.Since(began); took > loadTime+endTime {
			t.Fatalf("it is given up after %v: %v", took, err)
		}
		if err != nil {
			var bad *inputerr.Error
			var conflict *conflict.Conflict
			if !errors.As(err, &bad) && !errors.As(err, &conflict) && ctx.Err() == nil {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		defer p.Close()
		o.Text = p.Resolved
		again, err := Load(ctx, file, o)
		if err != nil && ctx.Err() == nil {
			t.Fatalf("what was resolved cannot be read: %v\n%s", err, p.Resolved)
		}
		if err == nil {
			again.Close()
		}
	})
}

// FuzzPairs reads a file of comparisons.
func FuzzPairs(f *testing.F) {
	f.Add([]byte(bar["tasted.csv"]))
	f.Add([]byte("pair,choice,ingredient,amount\na,better,Gin,1e29\na,worse,\"Gin\",1e-29\na,worse,Campari,1e29\n"))
	s := &readContext{Data: config.Data{IngredientNames: []string{"Gin", "Champagne", "Cassis", "Campari"}, Total: 20}}
	f.Fuzz(func(t *testing.T, data []byte) {
		pairs, err := readComparisons(s, strings.NewReader(string(data)), "tasted.csv")
		if bad := (*inputerr.Error)(nil); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		if err == nil && len(pairs) == 0 {
			t.Fatal("there are no pairs")
		}
		for _, p := range pairs {
			if p.Better.Total() != s.Total || p.Worse.Total() != s.Total {
				t.Fatalf("a pair of %d units and %d", p.Better.Total(), p.Worse.Total())
			}
		}
	})
}
