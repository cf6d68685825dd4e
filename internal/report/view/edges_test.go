package view

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/figure"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// A made run is a problem that was sampled.
type made struct {
	store   run.Store
	problem *compile.Problem
	result  *run.Result
	model   *report.Model
}

// sample runs a problem given by its files, problem.yaml among them.
func sample(t testing.TB, files map[string]string) made {
	t.Helper()
	dir := t.TempDir()
	if err := writeFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	return sampleFile(t, filepath.Join(dir, "problem.yaml"), nil)
}

// writeFiles writes files into a directory.
func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// sampleFile runs a problem file.
func sampleFile(t testing.TB, path string, override func(s *mcmc.Settings)) made {
	t.Helper()
	m, err := runFile(path, override)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// runFile is sampleFile without a test.
func runFile(path string, override func(s *mcmc.Settings)) (m made, err error) {
	effort := 0.1 // a search that finds something
	p, err := compile.Load(context.Background(), path, compile.Options{OverrideSampler: override, Effort: &effort})
	if err != nil {
		return m, err
	}
	spec := &run.Spec{Name: p.Name, Ingredients: p.Ingredients, Target: p.Target, Settings: p.Sampler, ResolvedProblem: p.Resolved, Version: "test"}
	if p.Book != nil {
		spec.IsKnownSet = func(set []int) bool {
			_, known := p.Book.RecipeWithSet(set)
			return known
		}
	}
	if spec.Question, err = p.SearchQuestion(); err != nil {
		return m, err
	}
	m = made{store: run.NewMemoryStore(), problem: p}
	if m.result, err = run.Start(context.Background(), spec, m.store, run.Options{}); err != nil {
		return m, err
	}
	trade, err := p.SearchOwnTradeOff(context.Background(), nil)
	if err != nil {
		return m, err
	}
	m.model, err = assemble.Model(context.Background(), p, m.store, m.result, trade, "test")
	return m, err
}

// sampledCocktails is the cocktail example, sampled shortly and once for all tests.
var sampledCocktails = sync.OnceValues(func() (made, error) {
	return runFile(filepath.Join("..", "..", "..", "examples", "cocktails", "problem.yaml"), func(s *mcmc.Settings) {
		s.Draws, s.Warmup = 4000, 1000
	})
})

// cocktails returns the run of the cocktail example, with a model that is the test's own.
func cocktails(t testing.TB) made {
	t.Helper()
	m, err := sampledCocktails()
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.model.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if m.model, err = report.Read(t.Context(), document{data: data}); err != nil {
		t.Fatal(err)
	}
	return m
}

// edges are problems at the edge of what a report has to show.
func edges() map[string]map[string]string {
	var many, wide, classes strings.Builder
	classes.WriteString("recipe,ingredient,amount,kind\n")
	for r := range 24 {
		for i := range 3 {
			fmt.Fprintf(&classes, "recipe %d,ingredient %d,%d,%s%d\n", r, (r*5+i*7)%9, i+1, strings.Repeat("fine ", 15), r%2)
		}
	}
	many.WriteString("recipe,ingredient,amount\n")
	for r := range 4 {
		for i := range 40 {
			fmt.Fprintf(&many, "recipe %d,%s %d,%d\n", r, "an ingredient with a long name that is longer than any line is wide: number", (i*7+r)%60, i+1)
		}
	}
	wide.WriteString("sampler: {kernel: balanced, draws: 600, warmup: 100}\ntotal: 30\ningredients: [a, b, c, d, e]\nsparsity: {uniform: [1, 5]}\nproperties:\n")
	for k := range 12 {
		fmt.Fprintf(&wide, "  a property with a name of some length, number %d: {expression: \"0.1 + share('a')\"}\n", k)
	}
	return map[string]map[string]string{
		"no properties":             {"problem.yaml": "total: 50\ningredients: {count: 2000}\nsparsity: {uniform: [3, 8]}\nsampler: {kernel: exact, draws: 500, warmup: 0}\n"},
		"one chain":                 {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nsampler: {kernel: balanced, chains: 1, draws: 500}\n"},
		"one draw":                  {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nsampler: {kernel: balanced, draws: 1, warmup: 0}\n"},
		"one ingredient":            {"problem.yaml": "total: 5\ningredients: [water]\nsparsity: {uniform: [1, 1]}\nsampler: {draws: 100}\n"},
		"100 chains":                {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nsampler: {kernel: balanced, chains: 100, draws: 30, warmup: 5}\n"},
		"40 ingredients":            {"problem.yaml": "total: 10000\nrecipes: r.csv\nsparsity: {uniform: [38, 40]}\nproperties: {old: {likeness: {}}}\nsampler: {kernel: balanced, chains: 2, warmup: 100, draws: 300}\n", "r.csv": many.String()},
		"everything is in the book": {"problem.yaml": "total: 10\nrecipes: r.csv\nsampler: {kernel: balanced, draws: 300}\nproperties: {old: {likeness: {}}}\n", "r.csv": "recipe,ingredient,amount\na,x,1\na,y,1\n"},
		"many properties":           {"problem.yaml": wide.String()},
		"long classes":              {"problem.yaml": "name: " + strings.Repeat("a long name ", 20) + "\ntotal: 10\nrecipes: r.csv\nsampler: {kernel: balanced, draws: 300}\nproperties:\n  kind: {forest: {label: kind, want: " + strings.Repeat("fine ", 15) + "1}}\n", "r.csv": classes.String()},
		"tempered":                  {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nproperties:\n  sharp: {expression: \"0.001 + share('ingredient 1')\", weight: 30}\nsampler: {kernel: tempered, warmup: 300, draws: 100, chains: 17}\n"},
		"tempered, forbidden":       {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nproperties:\n  need: {expression: \"share('ingredient 1')\"}\nsampler: {kernel: tempered, warmup: 500, draws: 500}\n"},
		"tempered, short":           {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nproperties:\n  sharp: {expression: \"0.001 + share('ingredient 1')\", weight: 30}\nsampler: {kernel: tempered, warmup: 0, draws: 20}\n"},
		"tempered, no properties":   {"problem.yaml": "total: 50\ningredients: {count: 20}\nsparsity: {uniform: [3, 8]}\nsampler: {kernel: tempered, warmup: 10, draws: 300}\n"},
	}
}

// Whatever is sampled has a page, a text of 80 columns where names allow, and
// figures.
func TestEdges(t *testing.T) {
	var text bytes.Buffer
	whole, all := true, edges()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		whole = t.Run(name, func(t *testing.T) {
			made := sample(t, all[name])
			m := made.model
			m.Timing = run.Timing{}
			if err := m.Save(context.Background(), made.store); err != nil {
				t.Fatal(err)
			}
			if _, err := report.Read(context.Background(), made.store); err != nil {
				t.Error(err)
			}
			var page bytes.Buffer
			if err := Page(&page, m); err != nil {
				t.Fatal(err)
			}
			checkPage(t, page.String())
			for _, f := range Figures(m) {
				if err := figure.WriteSVG(&bytes.Buffer{}, f); err != nil {
					t.Error(err)
				}
				svg := f.SVG()
				if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || f.Text == "" || f.Title == "" {
					t.Errorf("figure %s: %s", f.Name, svg)
				}
				if entry := strings.HasPrefix(f.Name, "best-"); !entry && !bytes.Contains(page.Bytes(), []byte(svg)) || entry && !strings.Contains(page.String(), `aria-labelledby="`+f.Name+`-title `) {
					t.Errorf("the page lacks the figure %s", f.Name)
				}
			}
			m.Best = m.Best[:min(len(m.Best), 2)]
			if shown := checkText(t, m); len(shown) < 1<<14 {
				fmt.Fprintf(&text, "== %s\n%s\n", name, shown)
			}
		}) && whole
	}
	if whole {
		golden.Compare(t, "testdata/edges.txt", text.Bytes())
	}
}

// checkText prints the model and looks at the lines.
func checkText(t *testing.T, m *report.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := Details(&b, m, "runs/it", terminal.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := Shortlist(&b, m.Best, m, terminal.Style{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if terminal.Width(line) > terminal.MaxColumns {
			t.Errorf("a line of %d columns: %s", terminal.Width(line), line)
		}
		if strings.Contains(line, "NaN") || strings.Contains(line, "%!") {
			t.Errorf("a line reads %q", line)
		}
	}
	return b.String()
}

// The model can be written and read back: unknown figures are null.
func TestModelReadsBack(t *testing.T) {
	for name, files := range edges() {
		if name == "no properties" || name == "one draw" || name == "one ingredient" {
			m := sample(t, files)
			if err := m.model.Save(context.Background(), m.store); err != nil {
				t.Fatal(err)
			}
			got, err := report.Read(context.Background(), m.store)
			if err != nil {
				t.Fatal(err)
			}
			a, err := m.model.JSON()
			if err != nil {
				t.Fatal(err)
			}
			b, err := got.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s: the summary does not read back", name)
			}
		}
	}
}

// BenchmarkPage writes the page of the cocktails.
func BenchmarkPage(b *testing.B) {
	m := cocktails(b).model
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if err := Page(&page, m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "bytes")
}

// The model does not depend on how many goroutines read the draws, nor the
// figures on the order of maps.
func TestModelIsRepeatable(t *testing.T) {
	m := cocktails(t)
	data := func(model *report.Model) []byte {
		b, err := model.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := Page(&page, model); err != nil {
			t.Fatal(err)
		}
		return append(b, page.Bytes()...)
	}
	want := data(m.model)
	for _, workers := range []int{1, 3, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			model, err := assemble.Model(context.Background(), m.problem, m.store, m.result, nil, "test")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data(model), want) {
				t.Error("the model is another")
			}
		})
	}
}
