package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/model"
)

const recipesTable = `recipe,ingredient,amount,unit,taste
Kir,Champagne,9,cl,Fresh
Kir,Cassis,1,cl,Fresh
Negroni,Gin,3,cl,Bitter
Negroni,Vermouth,3,cl,Bitter
Negroni,Campari,3,cl,Bitter
Martini,Gin,6,cl,Boozy
Martini,Vermouth,1,cl,Boozy
`

// load reads a problem next to the recipes above.
func load(t *testing.T, yaml string, o Options) (*Problem, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"problem.yaml": yaml, "recipes.csv": recipesTable} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Load(context.Background(), filepath.Join(dir, "problem.yaml"), o)
}

// TestBadInput checks, for each mistake, the place and the words that help.
func TestBadInput(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range []struct {
		name         string
		yaml         string
		line, column int
		says         []string
	}{
		{"not YAML", "total: [1, 2\nname: x\n", 2, 1, []string{"not YAML"}},
		{"tab", "\ttotal: 5\n", 1, 1, []string{"a tab", "spaces"}},
		{"empty", "", 0, 0, []string{"empty"}},
		{"a list", "- total\n", 1, 1, []string{"a list", "mapping"}},
		{"unknown key", "total: 5\ningredient: {count: 3}\n", 2, 1, []string{`"ingredient"`, `did you mean "ingredients"?`}},
		{"doubled key", "total: 5\ntotal: 6\n", 2, 1, []string{"total", "already defined"}},
		{"doubled inner key", "total: 5\nsampler: {seed: 1, seed: 2}\n", 2, 20, []string{"seed"}},
		{"two documents", "total: 5\n---\ntotal: 6\n", 3, 1, nil},
		{"anchor", "total: &a 5\n", 1, 8, []string{"anchors"}},
		{"alias", "name: *a\ntotal: 5\n", 1, 7, []string{"aliases"}},
		{"tag", "total: !!int 5\n", 1, 8, []string{`"!!int"`, "leave it out"}},
		{"complex key", "? total\n: 5\n", 1, 1, []string{"no key"}},
		{"nested brackets", "total: " + strings.Repeat("[", 100_000), 1, 40, []string{"32 deep"}},
		{"nested dashes", "total: 5\nlabels:\n" + strings.Repeat("- ", 100_000), 3, 65, []string{"32 deep"}},
		{"nested lines", stairs(40), 34, 35, []string{"32 deep"}},
		{"too many words", "total: 5\nlabels: [" + strings.Repeat("a, ", 70_000) + "a]\n", 2, 196609, []string{"too long", "CSV"}},
		{"leading zero", "total: 010\nrecipes: recipes.csv\n", 1, 8, []string{"two numbers", "leading 0"}},
		{"leading zero in a seed", "total: 10\nrecipes: recipes.csv\nsampler: {seed: 010}\n", 3, 17, []string{"two numbers", "leading 0"}},
		{"too many to use", "ingredients: {count: 2000000}\ntotal: 2000000\nsparsity: {uniform: [1, 2]}\n", 2, 8, []string{"2000000 ingredients", "1048576 at most", "lower the total"}},
		{"too many splits", "total: 5000000\nrecipes: recipes.csv\nproperties: {a: {expression: 'share(\"Gin\")'}}\n", 3, 30, []string{"5000000", "at most 4194304"}},
		{"too many splits of amounts", "total: 5000000\nrecipes: recipes.csv\nproperties: {a: {likeness: {by: amounts}}}\n", 3, 28, []string{"at most 4194304"}},
		{"too many laws", "ingredients: {count: 1000000}\ntotal: 1000000\nsparsity: {mixture: [" + strings.Repeat("{uniform: [1, 2]}, ", 300) + "]}\n", 3, 11, []string{"301 laws", "table"}},
		{"no total", "recipes: recipes.csv\n", 1, 1, []string{"no total"}},
		{"total 0", "total: 0\nrecipes: recipes.csv\n", 1, 8, []string{"at least 1"}},
		{"total negative", "total: -3\nrecipes: recipes.csv\n", 1, 8, []string{"at least 1"}},
		{"total not whole", "total: 1.5\nrecipes: recipes.csv\n", 1, 8, []string{"whole number"}},
		{"total not finite", "total: .inf\nrecipes: recipes.csv\n", 1, 8, []string{"finite"}},
		{"total text", "total: many\nrecipes: recipes.csv\n", 1, 8, []string{`"many"`, "number"}},
		{"total too large", "total: 1e12\nrecipes: recipes.csv\n", 1, 8, []string{"at most"}},
		{"nothing to choose from", "total: 5\n", 1, 1, []string{"neither recipes nor ingredients"}},
		{"no such book", "total: 5\nrecipes: recipe.csv\n", 2, 10, []string{"no such file", "relative to the problem file"}},
		{"book is a directory", "total: 5\nrecipes: .\n", 2, 10, []string{"directory"}},
		{"recipes number", "total: 5\nrecipes: [x]\n", 2, 11, []string{"no such file", "relative"}},
		{"no recipes", "total: 5\nrecipes: []\n", 2, 10, []string{"list", "empty"}},
		{"count without number", "total: 5\ningredients: {}\nsparsity: {uniform: [1, 2]}\n", 2, 14, []string{"count"}},
		{"count with recipes", "total: 50\nrecipes: recipes.csv\ningredients: {count: 9}\n", 3, 14, []string{"names"}},
		{"ingredient twice", "total: 5\ningredients: [a, b, a]\nsparsity: {uniform: [1, 2]}\n", 2, 14, []string{`"a"`}},
		{"unknown ingredient", "total: 50\nrecipes: recipes.csv\ningredients: [Champagne]\n", 3, 5, []string{`"Cassis"`}},
		{"total below a recipe", "total: 2\nrecipes: recipes.csv\n", 4, 1, []string{`"Negroni"`, "at least 3"}},
		{"no sparsity", "total: 5\ningredients: {count: 9}\n", 1, 1, []string{"no sparsity"}},
		{"sparsity of no recipes", "total: 5\ningredients: {count: 9}\nsparsity: recipes\n", 3, 11, []string{"the problem has none"}},
		{"unknown law", "total: 5\ningredients: {count: 9}\nsparsity: {unifrom: [1, 2]}\n", 3, 12, []string{`did you mean "uniform"?`}},
		{"two laws", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [1, 2], exponential: {rate: 1}}\n", 3, 11, []string{"2 laws"}},
		{"empty uniform", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [3, 2]}\n", 3, 21, []string{"smaller number first"}},
		{"no mass", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [6, 9]}\n", 3, 11, []string{"no mass", "1 to 5"}},
		{"no mass in a table", "total: 5\ningredients: {count: 9}\nsparsity: {table: {2: 0, 3: 0}}\n", 3, 11, []string{"no mass"}},
		{"negative weight", "total: 5\ningredients: {count: 9}\nsparsity: {table: {2: 1, 3: -1}}\n", 3, 29, []string{"weight of 3", "0 or more"}},
		{"infinite weight", "total: 5\ningredients: {count: 9}\nsparsity: {table: {2: .inf}}\n", 3, 23, []string{"finite"}},
		{"NaN weight", "total: 5\ningredients: {count: 9}\nsparsity: {table: {2: .nan}}\n", 3, 23, []string{"finite"}},
		{"table of names", "total: 5\ningredients: {count: 9}\nsparsity: {table: {two: 1}}\n", 3, 20, []string{`"two"`}},
		{"a gap", "total: 5\ningredients: {count: 9}\nsparsity: {table: {1: 1, 3: 1}}\nsampler: {kernel: accelerated}\n", 3, 11, []string{"n = 2", "accelerated"}},
		{"sd of 0", "total: 5\ningredients: {count: 9}\nsparsity: {normal: {mean: 2, sd: 0}}\n", 3, 34, []string{"above 0"}},
		{"mixture of nothing", "total: 5\ningredients: {count: 9}\nsparsity: {mixture: []}\n", 3, 21, []string{"empty"}},
		{"unknown label", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {label: tast, want: Fresh}}}\n", 3, 34, []string{`"tast"`, `did you mean "taste"?`}},
		{"unknown class", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {label: taste, want: Sweet}}}\n", 3, 47, []string{"Sweet", "Bitter, Boozy, Fresh"}},
		{"no want", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {label: taste}}}\n", 3, 26, []string{"want"}},
		{"number of a class", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {label: taste, at_least: 3}}}\n", 2, 20, []string{`"Fresh"`, "number"}},
		{"unknown kind", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forrest: {}}}\n", 3, 18, []string{`did you mean "forest"?`}},
		{"reserved name", "total: 50\nrecipes: recipes.csv\nproperties: {used: {forest: {label: taste, want: Fresh}}}\n", 3, 14, []string{"column of that name"}},
		{"negative property weight", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {label: taste, want: Fresh}, weight: -1}}\n", 3, 63, []string{"0 or more"}},
		{"unknown kernel", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [1, 2]}\nsampler: {kernel: acelerated}\n", 4, 19, []string{`did you mean "accelerated"?`}},
		{"no chains", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [1, 2]}\nsampler: {chains: 0}\n", 4, 19, []string{"at least 1"}},
		{"negative seed", "total: 5\ningredients: {count: 9}\nsparsity: {uniform: [1, 2]}\nsampler: {seed: -1}\n", 4, 17, []string{"whole number from 0"}},
		{"missing forest file", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {file: f.json, want: Fresh}}}\n", 3, 33, []string{"no such file"}},
		{"damaged forest file", "total: 50\nrecipes: recipes.csv\nproperties: {a: {forest: {file: recipes.csv, want: Fresh}}}\n", 3, 33, []string{"no forest", "kir train"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.yaml, Options{})
			var bad *inputerr.Error
			if !errors.As(err, &bad) {
				t.Fatalf("the error is %v, not one of input", err)
			}
			if bad.Line != c.line || bad.Column != c.column {
				t.Errorf("the place is %d:%d, want %d:%d, in %v", bad.Line, bad.Column, c.line, c.column, err)
			}
			kept.CheckError(t, c.name, err)
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message does not say %q: %v", want, err)
				}
			}
		})
	}
}

// stairs returns that many mappings in one another, a line each.
func stairs(steps int) string {
	var b strings.Builder
	for k := range steps {
		b.WriteString(strings.Repeat(" ", k) + "a:\n")
	}
	return b.String()
}

// TestLargeTotal checks that totals are bounded only where lines would be.
func TestLargeTotal(t *testing.T) {
	for _, property := range []string{"{forest: {label: taste, want: Fresh}}", "{pairs: {}}", "{likeness: {}}"} {
		if _, err := load(t, "total: 1000000000\nrecipes: recipes.csv\nproperties: {a: "+property+"}\n", Options{}); err != nil {
			t.Errorf("%s: %v", property, err)
		}
	}
}

// TestByteOrderMark checks that a problem may begin with one, and keeps its
// places.
func TestByteOrderMark(t *testing.T) {
	if _, err := load(t, "\ufefftotal: 50\r\nrecipes: recipes.csv\r\n", Options{}); err != nil {
		t.Error(err)
	}
	_, err := load(t, "\ufefftotal: 0\nrecipes: recipes.csv\n", Options{})
	if bad := (*inputerr.Error)(nil); !errors.As(err, &bad) || bad.Line != 1 || bad.Column != 8 {
		t.Errorf("the error is %v, want one at 1:8", err)
	}
}

func TestNoSuchProblem(t *testing.T) {
	_, err := Load(context.Background(), filepath.Join(t.TempDir(), "p.yaml"), Options{})
	var bad *inputerr.Error
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "no such file") {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	p, err := load(t, "recipes: recipes.csv\ntotal: 100\nproperties: {taste: {forest: {label: taste, want: [Fresh, Bitter], trees: 7}, weight: 2}}\n", Options{
		OverrideSampler: func(s *mcmc.Settings) { s.Chains, s.Seed = 2, 9 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(p.Ingredients); got != 5 {
		t.Errorf("%d ingredients, want 5", got)
	}
	if p.Sampler.Chains != 2 || p.Sampler.Seed != 9 || p.Sampler.Draws != mcmc.DefaultSettings().Draws {
		t.Errorf("sampler %+v", p.Sampler)
	}
	if got, want := p.Target.Law().P(2), 2.0/3; got != want {
		t.Errorf("the law gives 2 ingredients %v, want %v", got, want)
	}
	if len(p.Inputs) != 2 || p.Inputs[1].Path != "recipes.csv" || p.Inputs[1].Bytes != int64(len(recipesTable)) || len(p.Inputs[1].SHA256) != 64 {
		t.Errorf("inputs %+v", p.Inputs)
	}
	w := p.Properties[0]
	if w.Name != "taste" || w.Weight != 2 || w.Model.(*model.Forest).TreeCount() != 7 {
		t.Errorf("property %+v", w)
	}
}

// TestResolvedIsAProblem reads the resolved problem back: it must ask the same.
func TestResolvedIsAProblem(t *testing.T) {
	p, err := load(t, "name: 'a: b'\nrecipes: recipes.csv\ntotal: 100\nsparsity: {mixture: [{weight: 1, uniform: [2, 3]}, {normal: {mean: 2, sd: 1.5}}], power: 2}\nproperties: {taste: {forest: {label: taste, want: Fresh, floor: 0.01}}}\nsampler: {seed: 18446744073709551615}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := load(t, string(p.Resolved), Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, p.Resolved)
	}
	if string(q.Resolved) != string(p.Resolved) {
		t.Errorf("resolved again it is\n%s\nnot\n%s", q.Resolved, p.Resolved)
	}
	if q.Name != "a: b" || q.Sampler != p.Sampler || q.Sampler.Seed != 18446744073709551615 {
		t.Errorf("read back: %+v", q)
	}
	for n := 1; n <= 5; n++ {
		if p.Target.Law().P(n) != q.Target.Law().P(n) {
			t.Errorf("the law at %d is %v and %v", n, p.Target.Law().P(n), q.Target.Law().P(n))
		}
	}
}

// TestLaws holds laws of the number of ingredients to what they are by hand.
func TestLaws(t *testing.T) {
	e := math.Exp
	for yaml, want := range map[string][]float64{ // in any unit, of 1 to 5
		"recipes":                               {0, 2, 1, 0, 0},
		"{recipes: true}":                       {0, 2, 1, 0, 0},
		"{recipes: true, power: 3}":             {0, 8, 1, 0, 0},
		"{table: {1: 1, 3: 3}}":                 {1, 0, 3, 0, 0},
		"{table: {1: 1, 3: 3}, power: 2}":       {1, 0, 9, 0, 0},
		"{table: {1: 4, 3: 9}, power: 0.5}":     {2, 0, 3, 0, 0},
		"{uniform: [2, 4]}":                     {0, 1, 1, 1, 0},
		"{uniform: [3, 3]}":                     {0, 0, 1, 0, 0},
		"{normal: {mean: 2, sd: 1.5}}":          {e(-1. / 4.5), 1, e(-1. / 4.5), e(-4. / 4.5), e(-2)},
		"{exponential: {rate: 0.5}}":            {1, e(-0.5), e(-1), e(-1.5), e(-2)},
		"{exponential: {rate: -0.5}, power: 2}": {1, e(1), e(2), e(3), e(4)},
		"{mixture: [{weight: 3, uniform: [2, 3]}, {table: {4: 1, 5: 3}}]}":           {0, 6, 6, 1, 3},
		"{mixture: [{uniform: [2, 3]}, {weight: 0, table: {4: 1, 5: 3}}], power: 2}": {0, 1, 1, 0, 0},
	} {
		p, err := load(t, "recipes: recipes.csv\ntotal: 100\nsparsity: "+yaml+"\n", Options{})
		if err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		sum := 0.0
		for _, w := range want {
			sum += w
		}
		for n, w := range want {
			if got := p.Target.Law().P(n + 1); math.Abs(got-w/sum) > 1e-12 {
				t.Errorf("%s: the law of %d is %v, want %v", yaml, n+1, got, w/sum)
			}
		}
	}
}

// TestDraft keeps the problems that are written to start from, and each can be read.
func TestDraft(t *testing.T) {
	kept := golden.Open(t)
	long := "recipe,ingredient,amount,unit,taste,stars,note\n"
	var tasted strings.Builder
	tasted.WriteString("Drink;Gin (cl);Rum (cl);Lime (cl);rating\n")
	for k := range 24 {
		taste := []string{"Fresh", "Sour", "Dry"}[k%3]
		long += fmt.Sprintf("R%d,Gin,%d,cl,%s,%d,n%d\nR%[1]d,%[6]s,%[7]d,%[8]s,%[3]s,%[4]d,n%[5]d\n", k, 1+k%5, taste, k%7, k, []string{"Lime juice", "Rum", "Bitters"}[k%3], 1+k%4, []string{"cl", "cl", "dash"}[k%3])
		if k%4 == 0 {
			long += fmt.Sprintf("R%d,Soda,3,cl,%s,%d,n%d\n", k, taste, k%7, k)
		}
		fmt.Fprintf(&tasted, "W%d;%d,5;%d;%d;%d\n", k, 1+k%3, k%2*2, k%4, 40+k)
	}
	for name, c := range map[string]struct {
		recipes, ingredients string
		draft                Draft
		options              dataset.Options
	}{
		"long": {recipes: long, ingredients: "name,family,cost,abv\nGin,spirit,20,40\nRum,spirit,18.5,37.5\nLime juice,citrus,4,0\nBitters,bitters,60,44.7\nSoda,,0.5,0\nMilk,dairy,1,0\n",
			draft: Draft{Table: "my drinks/book one.csv", Ingredients: "shelf.csv"}},
		"long, no ingredients": {recipes: long, draft: Draft{Table: "book.csv", Units: map[string]string{"dash": "0.1 cl"}}},
		"wide":                 {recipes: tasted.String(), draft: Draft{Table: "wide.csv"}},
		"small doses":          {recipes: "recipe,Fe (%),C (%),B (%)\nA,bal.,1,0.003\nB,bal.,2,0.01\n", draft: Draft{Table: "steel.csv"}},
		"no labels":            {recipes: "recipe,ingredient,amount\nA,Gin,1\nA,Rum,2\nB,Gin,3\nC,Rum,1\nC,Gin,1\nC,Lime,1\n", draft: Draft{Table: "c.csv"}},
	} {
		dir := t.TempDir()
		d := c.draft
		if d.Ingredients != "" {
			in, err := dataset.ReadIngredients(strings.NewReader(c.ingredients), d.Ingredients, dataset.Layout{})
			if err != nil {
				t.Fatal(err)
			}
			c.options.Ingredients = in
			if err := os.WriteFile(filepath.Join(dir, d.Ingredients), []byte(c.ingredients), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if d.Units != nil {
			c.options.Units = measure.DefaultUnits()
			for name, size := range d.Units {
				var err error
				if c.options.Units, err = c.options.Units.With(name, size); err != nil {
					t.Fatal(err)
				}
			}
		}
		var err error
		if d.Book, err = dataset.Read(strings.NewReader(c.recipes), d.Table, c.options); err != nil {
			t.Fatal(err)
		}
		d.Layout = d.Layout.Merge(d.Book.GuessedLayout)
		text, err := d.Write()
		if err != nil {
			t.Fatal(err)
		}
		kept.CheckText(t, name, string(text))
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, d.Table)), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string]string{"problem.yaml": string(text), d.Table: c.recipes} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Load(context.Background(), filepath.Join(dir, "problem.yaml"), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p.Close()
	}
}

// TestDescriptors keeps what a forest may look at, and the ways to grow one.
func TestDescriptors(t *testing.T) {
	kept := golden.Open(t)
	in, err := dataset.ReadIngredients(strings.NewReader("name,family,cost,abv,maker,same\nGin,spirit,20,40,a,1\nRum,spirit,18.5,37.5,b,1\nLime,citrus,4,0,c,1\nLemon,citrus,3,,d,1\nSoda,,0.5,0,e,1\nMilk,dairy,1,0,f,1\n"), "shelf.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	all, left := AllDescriptors(in)
	kept.CheckText(t, "all", fmt.Sprintf("%+v; left are %s", all, strings.Join(left, "; ")))
	sets := []Descriptors{{}, all, {WithoutAmounts: true, Means: []string{"cost"}}, {Ratios: []string{"family"}}, {Presence: true}, {Presence: true, WithoutAmounts: true}, {Totals: []string{"family"}, Presence: true, WithoutAmounts: true},
		{Totals: []string{"famly"}}, {Means: []string{"colour"}}, {Means: []string{"family"}}, {Means: []string{"abv"}}, {Ratios: []string{"cost"}}, {Totals: []string{"family", "family"}}, {WithoutAmounts: true}}
	for k, d := range sets {
		features, words, err := d.Features(in, 30)
		said := fmt.Sprintf("%s; %v", words, err)
		for _, f := range features {
			said += fmt.Sprintf("\n%+v", f)
		}
		for _, o := range []struct {
			numeric bool
			options model.Options
		}{{false, model.Options{}}, {true, model.Options{Trees: 30}}, {false, model.Options{SmallestLeaf: 3}}, {true, model.Options{FeaturesPerSplit: 4}}, {true, model.Options{SmallestLeaf: 1}}, {false, model.Options{FeaturesPerSplit: 1}}} {
			candidates, err := d.Candidates(in, 30, o.numeric, o.options)
			if err != nil {
				said += "\n" + err.Error()
			}
			for _, c := range candidates {
				said += fmt.Sprintf("\n%s; %d features; %d trees, %d, %d", c.Name, len(c.Features), c.Options.Trees, c.Options.SmallestLeaf, c.Options.FeaturesPerSplit)
			}
		}
		kept.CheckText(t, fmt.Sprintf("%d: %+v", k, d), said)
	}
}

// TestExplain: a composition that cannot be scored is told by names.
func TestExplain(t *testing.T) {
	p := &Problem{}
	var parts []mcmc.Part
	for i := range 14 {
		p.Ingredients = append(p.Ingredients, fmt.Sprintf("i%d", i))
		parts = append(parts, mcmc.Part{Ingredient: i, Amount: i + 1})
	}
	bad := &mcmc.ScoreError{Objective: "taste", Composition: "{0: 1, 3: 4}", Parts: []mcmc.Part{{Ingredient: 0, Amount: 1}, {Ingredient: 3, Amount: 4}}, Value: math.NaN()}
	if err := p.Explain(bad); !strings.Contains(err.Error(), `1 "i0", 4 "i3"`) || strings.Contains(err.Error(), "{0") || !errors.Is(err, bad) {
		t.Error(err)
	}
	for _, shown := range []int{12, 13, 14} {
		bad.Parts = parts[:shown]
		err := p.Explain(bad)
		if want := fmt.Sprintf(" and %d more", shown-12); !strings.Contains(err.Error(), `11 "i10", 12 "i11"`) || strings.Contains(err.Error(), `"i12"`) || strings.Contains(err.Error(), want) != (shown > 12) {
			t.Errorf("%d parts: %v", shown, err)
		}
	}
	for _, other := range []error{errors.New("other"), &mcmc.ScoreError{Objective: "taste"}} {
		if err := p.Explain(other); err != other {
			t.Error(err)
		}
	}
}

// TestCommands: the programs of a problem are known before and after it is read.
func TestCommands(t *testing.T) {
	const text = "ingredients: [Gin, Rum]\ntotal: 5\nsparsity: {uniform: [1, 2]}\nproperties:\n  a: {program: {command: [go, version]}}\n  b: {expression: '1'}\n  c: {program: {command: [go, env]}}\n"
	all, err := ReadCommands(context.Background(), filepath.Join(t.TempDir(), "p.yaml"), []byte(text))
	if err != nil || len(all) != 2 || !slices.Equal(all[0].Words, []string{"go", "version"}) {
		t.Fatalf("%v, %v", all, err)
	}
	for _, text := range []string{"total: 5\n", "total: 5\nproperties: {a: {expression: '1'}}\n"} {
		if all, err := ReadCommands(context.Background(), "p.yaml", []byte(text)); len(all) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
	if _, err := ReadCommands(context.Background(), "p.yaml", []byte("properties: {a: {program: {command: []}}}\n")); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Error(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	c := all[0]
	if c.Trusted() {
		t.Error("it is trusted before it was")
	}
	if err := c.Trust(); err != nil || !c.Trusted() || all[1].Trusted() {
		t.Errorf("it is not trusted, or another is: %v", err)
	}
}

// TestNamesThatAreAlike: two spellings of what is probably one ingredient are
// told, and both are kept.
func TestNamesThatAreAlike(t *testing.T) {
	p, err := load(t, "total: 5\ningredients: [Co, CO, Rum]\nsparsity: {uniform: [1, 2]}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], `"Co" and "CO"`) || len(p.Ingredients) != 3 {
		t.Errorf("of %q it warns %q", p.Ingredients, p.Warnings)
	}
}

// endless is a property that has something running.
type endless struct {
	mcmc.ScoreFunc
	closed *int
}

func (p endless) Close() error { *p.closed++; return nil }

// TestClose: what properties have running is ended, also of those that were read
// before one that cannot be.
func TestClose(t *testing.T) {
	closed := 0
	p := &Problem{Properties: []Property{{Name: "a", mcmcProperty: endless{closed: &closed}}, {Name: "b", mcmcProperty: mcmc.ScoreFunc(nil)}, {Name: "c", mcmcProperty: endless{closed: &closed}}}}
	if err := p.Close(); err != nil || closed != 2 {
		t.Errorf("%d of 2 are closed: %v", closed, err)
	}
	root, err := yaml.Parse("p.yaml", []byte("properties: {a: {program: {command: [go]}}, b: {program: {}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := &loader{readContext: readContext{Data: config.Data{IngredientNames: []string{"Gin", "Rum"}, Total: 3, Files: &yaml.Files{Dir: t.TempDir()}}, kinds: allKinds()}, diagnostics: &config.Diagnostics{File: root.File, Root: root}}
	file, err := config.Read(root, "p.yaml", s.kinds.configKinds(), &config.Diagnostics{File: root.File, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	read, err := compileProperties(AllowPrograms(context.Background()), s, file.Properties)
	if err != nil || s.diagnostics.Err() == nil || len(read) != 1 || read[0].Name != "a" {
		t.Errorf("with the errors %v, %v there are %v", err, s.diagnostics.Err(), read)
	}
}
