package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/model"
)

// wholly writes down all that a problem is read as, and what it says of compositions
// and of the recipes of its book.
func wholly(t *testing.T, p *Problem) string {
	t.Helper()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	o := p.Outline()
	say("%s, %d of %v; auto %t, within %t; %+v %+v", p.Name, p.Total, p.Ingredients, p.KernelChosen, p.IsWithinBook(), p.Sampler, p.Search)
	say("outline %q %d %v, %d rules, book %t, attributes %t", o.Name, o.Total, o.Ingredients, len(o.Rules.Rules), o.Book == p.Book, o.Attributes != nil)
	for k := range o.Rules.Rules {
		say("rule %q %q", o.Rules.Describe(k), o.Rules.Text(k))
	}
	for _, in := range p.Inputs {
		say("input %+v", in)
	}
	var commands []string
	for _, c := range p.Commands() {
		commands = append(commands, c.Lines()...)
	}
	say("commands %v\noffers %s\nwarnings %s\nresolved\n%s", commands, strings.Join(p.Hints(t.Context()), "\n"), strings.Join(p.Warnings, "\n"), p.Resolved)
	known, err := p.KnownRecipes()
	say("known %v %v", known, err)
	xs := known
	if len(xs) == 0 && len(p.Ingredients) > 1 {
		x, err := mcmc.NewComposition(len(p.Ingredients), mcmc.Part{Ingredient: 0, Amount: 1}, mcmc.Part{Ingredient: 1, Amount: p.Total - 1})
		if err != nil {
			t.Fatal(err)
		}
		xs = []*mcmc.Composition{x}
	}
	for _, w := range p.Properties {
		say("%s, a %s, weight %v: %s, %+v", w.Name, w.Kind, w.Weight, w.About, w.HeldOut)
		for _, x := range xs {
			if w.Value != nil {
				say("value %.7g", w.Value(x))
			}
		}
	}
	for _, x := range xs {
		if state, err := mcmc.NewState(p.Target, x); err != nil {
			say("score: %v", p.Explain(err))
		} else {
			say("score %.7g", state.AppendScores(nil))
		}
	}
	if p.Book != nil {
		of, err := p.Score(p.Book)
		for _, s := range of {
			say("scored %v %d %.7g %.7g, %d broken", s.Parts, s.KnownIndex, s.Scores, s.Score, len(s.Broken))
			for _, breach := range s.Broken {
				say("  %s %+v", breach.Text, breach.Slack)
			}
		}
		share, bad := p.OutsideShare(t.Context(), 0)
		say("scored %v; outside %v %v", err, share, bad)
	}
	q, err := p.SearchQuestion()
	if err != nil {
		say("question %v", err)
	} else {
		say("question %v %d, %v to %v, %+v, halves %t", q.Effort, len(q.Known), q.Least, q.Most, q.Niche, q.HalfTargets != nil)
		for _, set := range [][]int{{0}, {0, 1}, {0, 1, 2}} {
			if q.LacksAlwaysUsed != nil {
				say("%v lacks %t", set, q.LacksAlwaysUsed(set))
			}
			if q.Refuse != nil {
				say("%v refused %t", set, q.Refuse(set))
			}
		}
		if q.HalfTargets != nil {
			own, other, err := q.HalfTargets(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range xs {
				one, errOne := own.LogScore(x)
				two, errTwo := other.LogScore(x)
				say("halves %.7g %.7g %v %v", one, two, errOne, errTwo)
			}
		}
		if q.KnownScores != nil {
			scores, err := q.KnownScores()
			say("known score %.7g %v", scores, err)
		}
	}
	return strings.ReplaceAll(b.String(), filepath.Dir(p.File), "DIR")
}

// gins is a book of recipes that all have gin.
func gins() string {
	var b strings.Builder
	b.WriteString("recipe,ingredient,amount,taste,stars\n")
	for k := range 14 {
		taste := []string{"Fresh", "Boozy"}[k%2]
		fmt.Fprintf(&b, "G%d,Gin,%d,%s,%d\nG%[1]d,%[5]s,%[6]d,%[3]s,%[4]d\n", k, 2+k%5, taste, 1+k%4, []string{"Champagne", "Cassis", "Vermouth"}[k%3], 1+k%4)
		if k%4 == 1 {
			fmt.Fprintf(&b, "G%d,Campari,1,%s,%d\n", k, taste, 1+k%4)
		}
	}
	return b.String()
}

// TestProblemsStay keeps all that problems of many forms are read as.
func TestProblemsStay(t *testing.T) {
	kept := golden.Open(t)
	head := "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\n"
	gin := "recipes: gins.csv\ningredients: ingredients.csv\ntotal: 20\n"
	grown := func(table, label string, total int, numeric bool, names ...string) string {
		options := dataset.Options{}
		if len(names) > 0 {
			in, err := dataset.NewIngredients(names...)
			if err != nil {
				t.Fatal(err)
			}
			options.Ingredients = in
		}
		b, err := dataset.Read(strings.NewReader(table), "book.csv", options)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := b.Label(label)
		candidates := []model.Candidate{{Name: "few", Options: model.Options{Trees: 5, Splits: model.BestSplits, Seed: 2}}, {Name: "more", Options: model.Options{Trees: 9, Splits: model.BestSplits, Seed: 2}}}
		if numeric {
			candidates = candidates[:1]
		}
		f, err := GrowForest(context.Background(), b, l, total, numeric, candidates, 1)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	all := []string{"Champagne", "Cassis", "Gin", "Vermouth", "Campari"}
	forests := map[string]string{
		"gins.csv": gins(), "f.json": grown(gins(), "taste", 20, false, all...), "stars.json": grown(gins(), "stars", 20, true, all...), "other.json": grown(bar["recipes.csv"], "taste", 20, false, all...), "total.json": grown(gins(), "taste", 10, false, all...), "order.json": grown(gins(), "taste", 20, false, "Gin", "Champagne", "Cassis", "Vermouth", "Campari"), "more.json": grown(gins(), "taste", 20, false, append(all, "Water")...),
	}
	from := func(file, rest string) string {
		return gin + "properties:\n  p: {forest: {file: " + file + ", " + rest + "}}\n"
	}
	for name, text := range map[string]string{
		"recipes": head, "all gins": gin, "counted": "total: 5\ningredients: {count: 4}\nsparsity: {uniform: [1, 2]}\nname: four\n", "no attributes": "total: 5\ningredients: [a, b, c]\nsparsity: {normal: {mean: 2, sd: 1}}\n", "recipes alone": "recipes: recipes.csv\ntotal: 10\nlabels: [taste]\n", "a layout": "recipes: {file: recipes.csv, delimiter: comma}\ningredients: {file: ingredients.csv, decimal: point}\ntotal: 20\n",
		"a forest that learns":       gin + "properties:\n  taste: {forest: {label: taste, want: Fresh, trees: 6}, weight: 2}\n  stars: {forest: {label: stars, at_least: 2, at_most: 3, trees: 4}}\nconstraints:\n  - amount: {of: Cassis, min: 15}\n  - require: Gin\n",
		"it says and does not count": gin + "properties:\n  taste: {forest: {label: taste, want: Fresh, trees: 6}, weight: 0}\n  even: {expression: '1'}\n",
		"it is asked of anybody":     gin + "properties:\n  taste: {forest: {label: taste, want: Fresh, trees: 6}, weight: 0}\nsearch: {effort: 0.5, doses: any}\nsampler: {chains: 2, draws: 100, seed: 9, thin: 3, warmup: 7, kernel: balanced}\n",
		"a file":                     from("f.json", "want: Fresh"), "a file of numbers": from("stars.json", "between: [2, 3]"), "a file, another label": from("f.json", "want: Fresh, label: stars"), "a file, that label": from("f.json", "want: [Fresh, Boozy], label: taste, floor: 0.1"), "another book's": from("other.json", "want: Fresh"), "another total's": from("total.json", "want: Fresh"), "another order's": from("order.json", "want: Fresh"), "one more": from("more.json", "want: Fresh"), "a number of classes": from("f.json", "at_least: 3"),
		"a file without a book":       "ingredients: ingredients.csv\ntotal: 20\nsparsity: {uniform: [1, 3]}\nproperties:\n  p: {forest: {file: f.json, want: Fresh}}\n",
		"rules":                       gin + "constraints:\n  - amount: {of: \"*\", min: 2}\n  - amount: {of: [Gin, Cassis], within: book}\n  - group: {of: {family: wine}, used: [0, 1], total: [0, \"60%\"]}\n  - limit: {attribute: cost, max: 21.5}\n  - never: [Cassis, Campari]\n  - ratio: {of: Gin, to: Vermouth, min: 0.5}\n  - amount: {of: Gin, stock: 9}\n  - near: {recipe: G1, changes: 2}\n",
		"no such list of ingredients": "ingredients: {file: none.csv}\ntotal: 20\n", "no such recipes": "recipes: {file: none.csv, delimiter: comma}\ntotal: 20\n", "ingredients that are none": "ingredients: {file: gins.csv, decimal: point}\ntotal: 20\n", "recipes that are none": "recipes: {file: returns.csv}\ntotal: 20\n", "no file": "ingredients: {decimal: point}\ntotal: 20\n", "nothing": "total: 20\n", "a number": "ingredients: 3\ntotal: 20\n", "an empty name": "ingredients: [a, ' ']\ntotal: 20\n", "a name twice": "ingredients: [a, b, a]\ntotal: 20\n", "counted, with recipes": "recipes: gins.csv\ningredients: {count: 3}\ntotal: 20\n", "counted to 0": "ingredients: {count: 0}\ntotal: 20\n",
		"a block": gin + "constraints:\n  - block: {of: [Gin, Cassis], total: \"50%\", rules: [{amount: {of: Gin, min: \"40%\"}}]}\n", "doses within a block": gin + "constraints:\n  - block: {of: [Gin, Cassis], total: \"50%\", rules: [{amount: {of: Gin, within: book}}]}\n", "near within a block": gin + "constraints:\n  - block: {of: [Gin, Cassis], total: \"50%\", rules: [{near: {recipe: G1, changes: 1}}]}\n", "within and a dose": gin + "constraints:\n  - amount: {of: Gin, within: book, max: 3}\n",
		"rules alike": gin + "constraints:\n  - require: Gin\n  - exclude: Campari\n  - require: Gin\n  - amount: {of: Gin, max: 3}\n  - amount: {of: Gin, min: 5}\n",
		"a batch":     gin + "constraints:\n  - amount: {of: [Gin, Cassis, Campari], stock: 100 ml, batch: 300 ml}\n",
		"no batch":    gin + "constraints:\n  - amount: {of: Gin, stock: 100 ml}\n", "two units": gin + "constraints:\n  - amount: {of: Gin, stock: 100 g, batch: 300 ml}\n", "a stock in no unit": gin + "constraints:\n  - amount: {of: Gin, stock: 100, batch: 300 ml}\n", "no stock": gin + "constraints:\n  - amount: {of: [Gin, Cassis], stock: 0}\n", "a stock of units": gin + "constraints:\n  - amount: {of: Cassis, stock: 7}\n", "a stock that is none": gin + "constraints:\n  - amount: {of: Gin, stock: lots}\n", "a huge stock": gin + "constraints:\n  - amount: {of: Gin, stock: 1e30}\n",
		"many things":    gin + "properties:\n  cost: {blend: {attribute: cost, smaller: {from: 10, to: 35}, floor: 0.05}, weight: 0.5}\n  risk: {markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}}\n  new: {novelty: {floor: 0.1}}\n  like: {likeness: {to: [G1, G2]}}\n  near: {preference: {pairs: tasted.csv}}\n  words: {expression: 'share(\"family\", \"wine\") + 0.1'}\n  pairs: {pairs: {}}\n",
		"a long formula": gin + "properties:\n  words: {expression: '" + strings.Repeat("0.001 + ", 60) + "share(\"Gin\")'}\n",
	} {
		if !strings.Contains(text, "\nname: ") {
			text += "name: it\n"
		}
		files := map[string]string{"problem.yaml": text}
		for name, text := range forests {
			files[name] = text
		}
		p, err := loadFiles(t, files, "")
		if err != nil {
			said := regexp.MustCompile(`\S*TestProblemsStay\d+[/\\]\d+`).ReplaceAllString(err.Error(), "DIR")
			kept.CheckText(t, name, said)
			continue
		}
		kept.CheckText(t, name, wholly(t, p))
	}
}

// TestDraftsStay keeps drafts of books whose columns are of all kinds.
func TestDraftsStay(t *testing.T) {
	kept := golden.Open(t)
	shelf := "name,family,maker,kind,cost,odd,all,some\n"
	table := "recipe,ingredient,amount,cost,bad,one,own,yes\n"
	for k := range 26 {
		shelf += fmt.Sprintf("I%d,%s,M%d,k%d,%d,o%d,x,%s\n", k, []string{"spirit", "citrus", "", "wine"}[k%4], k%13, k%2, k*k%17, k, []string{"2", "5", ""}[k%3])
		for i := range 1 + k%23 {
			table += fmt.Sprintf("R%d,I%d,%d,%d.5,%s,one,v%d,%s\n", k, (k+i*5)%26, 1+(k*i)%7, k%5, []string{"bad", "bad", "good"}[k%3], k, []string{"no", "yes", ""}[k%3])
		}
	}
	read := func(text string, o dataset.Options) *dataset.Book {
		b, err := dataset.Read(strings.NewReader(text), "book.csv", o)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	in, err := dataset.ReadIngredients(strings.NewReader(shelf), "shelf.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	left := dataset.Layout{Columns: map[string]dataset.Role{"own": dataset.IgnoredColumn, "one": dataset.IgnoredColumn}}
	for name, d := range map[string]Draft{
		"attributes":   {Table: "b.csv", Ingredients: "shelf.csv", Book: read(table, dataset.Options{Ingredients: in})},
		"left out":     {Table: "b.csv", Layout: left, Book: read(table, dataset.Options{Layout: left})},
		"a dose alone": {Table: "b.csv", Book: read("recipe,ingredient,amount\nA,Gin,1\n", dataset.Options{})},
		"costs":        {Table: "b.csv", Book: read("recipe,Gin,Rum,cost\nA,1,2,€3\nB,1,1,€4\nC,2,1,€5\nD,2,1,\n", dataset.Options{})},
		"many notes":   {Table: "b.csv", Book: read("recipe,ingredient,amount\n"+strings.Repeat("A1,Gin,about 1 cl\nA2,Rum,1-2 cl\n", 1)+"A3,Rye,dash\nTotal,Rum,1 cl\nSum,Gin,2 cl\nAll,Gin,1 cl\n", dataset.Options{})},
	} {
		text, err := d.Write()
		kept.CheckText(t, name, fmt.Sprintf("%v\n%s", err, text))
	}
}

// TestGrownAgain: a forest that is asked for again is the same one, until more are kept
// than can be; of other options or other data it is another.
func TestGrownAgain(t *testing.T) {
	b, err := dataset.Read(strings.NewReader(gins()), "book.csv", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	taste, _ := b.Label("taste")
	data, err := forestData(nil, b, taste, 20, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(g *ModelCache, data *model.Data, o model.Options) *model.Forest {
		f, err := g.grow(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	g := new(ModelCache)
	first := grow(g, data, model.Options{Trees: 1, Seed: 1})
	if grow(g, data, model.Options{Trees: 1, Seed: 1, Workers: 2}) != first {
		t.Error("a forest was grown twice")
	}
	half, _ := data.SplitIntoHalves(1)
	if grow(g, half, model.Options{Trees: 1, Seed: 1}) == first || grow(nil, data, model.Options{Trees: 1, Seed: 1}) == first {
		t.Error("a forest of other data, or of what keeps none, is the same")
	}
	for k := range maxCachedModels - 2 {
		grow(g, data, model.Options{Trees: 1, Seed: uint64(k + 2)})
	}
	if len(g.models) != maxCachedModels || grow(g, data, model.Options{Trees: 1, Seed: 1}) != first {
		t.Errorf("%d forests are kept", len(g.models))
	}
	grow(g, data, model.Options{Trees: 1, Seed: 99})
	if len(g.models) != 1 || grow(g, data, model.Options{Trees: 1, Seed: 1}) == first {
		t.Errorf("%d forests are kept, and the first is among them", len(g.models))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.grow(ctx, half, model.Options{Trees: 3, Seed: 7}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
