package compile

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/constraint"
	"kir/internal/inputerr"
	"kir/internal/search"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/model"
	"kir/rule"
)

// ratedBook has a rating, and a label of numbers that are names of classes.
const ratedBook = `recipe,ingredient,amount,unit,rating,house
A,Gin,6,cl,70,1
A,Lime,2,cl,70,1
B,Gin,3,cl,41,2
B,Vermouth,3,cl,41,2
C,Rum,5,cl,96,1
C,Lime,1,cl,96,1
D,Gin,5,cl,80,2
D,Campari,5,cl,80,2
`

// loadRated loads a problem beside that book, of ingredients of which no recipe
// uses Water.
func loadRated(t *testing.T, yaml string, o Options) (*Problem, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"problem.yaml":    "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\n" + yaml,
		"recipes.csv":     ratedBook,
		"ingredients.csv": "name,cost\nGin,9\nLime,2\nVermouth,5\nRum,8\nCampari,7\nWater,0\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(context.Background(), filepath.Join(dir, "problem.yaml"), o)
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// TestBadSearch checks, for each mistake, the place and the words that help.
func TestBadSearch(t *testing.T) {
	kept := golden.Open(t)
	property := func(s string) string { return "properties: {rating: {forest: {label: rating, " + s + "}}}\n" }
	for _, c := range []struct {
		name, yaml string
		line       int
		says       []string
	}{
		{"negative effort", "search: {effort: -1}\n", 4, []string{"effort is -1", "0 or more"}},
		{"boundless effort", "search: {effort: 1e9}\n", 4, []string{"1000"}},
		{"effort in words", "search: {effort: much}\n", 4, []string{"number"}},
		{"doses", "search: {doses: 3}\n", 4, []string{"book", "any"}},
		{"unknown key", "search: {efort: 1}\n", 4, []string{`did you mean "effort"?`}},
		{"maximize and a bound", property("maximize: true, at_least: 50"), 4, []string{"at once"}},
		{"maximize and minimize", property("maximize: true, minimize: true"), 4, []string{"at once"}},
		{"maximize false", property("maximize: false"), 4, []string{"maximize: true"}},
		{"above the book", property("at_least: 97"), 4, []string{"at least 97", "41 to 96"}},
		{"below the book", property("at_most: 40"), 4, []string{"at most 40", "41 to 96"}},
		{"between two labels", property("between: [42, 69]"), 4, []string{"between 42 and 69", "41 to 96"}},
		{"within what", "constraints: [amount: {of: Gin, within: shelf}]\n", 4, []string{"within", "book"}},
		{"within and more", "constraints: [amount: {of: Gin, within: book, max: 3}]\n", 4, []string{"max stands beside within"}},
		{"within of what none uses", "constraints: [amount: {of: Water, within: book}]\n", 4, []string{"no recipe uses Water"}},
		{"unknown kernel", "sampler: {kernel: auta}\n", 4, []string{`did you mean "auto"?`}},
	} {
		_, err := loadRated(t, c.yaml, Options{})
		kept.CheckError(t, c.name, err)
		bad, ok := err.(*inputerr.Error)
		if !ok {
			continue
		}
		for _, words := range c.says {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %q does not say %q", c.name, err, words)
			}
		}
		if bad.Line != c.line {
			t.Errorf("%s: line %d, want %d", c.name, bad.Line, c.line)
		}
	}
}

// A label of many numbers is none of classes, one of a few may be.
func TestNumbersAreNoClasses(t *testing.T) {
	if _, err := loadRated(t, "properties: {house: {forest: {label: house, want: 1}}}\n", Options{}); err != nil {
		t.Errorf("a few numbers as classes: %v", err)
	}
	var rows strings.Builder
	rows.WriteString("recipe,ingredient,amount,unit,rating\n")
	for k := range 25 {
		r := string(rune('a' + k))
		rows.WriteString(r + ",Gin,5,cl," + strconv.Itoa(k) + "\n" + r + ",Lime," + strconv.Itoa(k+1) + ",cl," + strconv.Itoa(k) + "\n")
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "recipes.csv"), []byte(rows.String()), 0o644)
	file := filepath.Join(dir, "problem.yaml")
	os.WriteFile(file, []byte("recipes: recipes.csv\ntotal: 20\nproperties: {rating: {forest: {label: rating, want: 3}}}\n"), 0o644)
	_, err := Load(context.Background(), file, Options{})
	if err == nil || !strings.Contains(err.Error(), "25 different ones, from 0 to 24") {
		t.Errorf("25 numbers as classes: %v", err)
	}
}

// Maximize has 100 trees, with best splits 300, is written out, and scores where the prediction lies
// between the least and the greatest label; minimize what is left of it.
func TestMaximize(t *testing.T) {
	up, err := loadRated(t, "properties: {rating: {forest: {label: rating, maximize: true}}}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	down, err := loadRated(t, "properties: {rating: {forest: {label: rating, minimize: true}}}\nsearch: {effort: 2, doses: any}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	best, err := loadRated(t, "properties: {rating: {forest: {label: rating, maximize: true, splits: best}}}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, m := up.Properties[0].Model.(*model.Forest).TreeCount(), best.Properties[0].Model.(*model.Forest).TreeCount(); n != 100 || m != 300 {
		t.Errorf("%d trees, and %d with best splits", n, m)
	}
	for _, c := range []struct {
		p    *Problem
		says []string
	}{
		{up, []string{"maximize: true", "effort: 1", "doses: book", "trees: 100", "splits: random"}},
		{down, []string{"minimize: true", "effort: 2", "doses: any"}},
	} {
		for _, words := range c.says {
			if !strings.Contains(string(c.p.Resolved), words) {
				t.Errorf("resolved is\n%s without %q", c.p.Resolved, words)
			}
		}
	}
	known, err := up.KnownRecipes()
	if err != nil {
		t.Fatal(err)
	}
	for r, x := range known {
		score := math.Exp(up.Properties[0].mcmcProperty.LogScore(x))
		want := (up.Properties[0].Model.Predict(x.Amounts()).Value - 41) / (96 - 41)
		if math.Abs(score-want) > 1e-6 { // labels come in parts of 2³¹
			t.Errorf("recipe %d: scores %v, and the prediction lies at %v", r, score, want)
		}
		if other := math.Exp(down.Properties[0].mcmcProperty.LogScore(x)); math.Abs(score+other-1) > 1e-6 {
			t.Errorf("recipe %d: scores %v and, minimized, %v", r, score, other)
		}
	}
}

// Within the book each ingredient has the doses of the recipes, what none uses is
// left out, and the known recipes keep the rule, which is one to be read.
func TestWithinBook(t *testing.T) {
	for _, c := range []struct {
		yaml string
		o    Options
	}{
		{"constraints:\n  - amount: {of: \"*\", within: book}\n", Options{}},
		{"", Options{AddWithinBook: true}},
	} {
		p, err := loadRated(t, c.yaml, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Rules) != 1 || !p.IsWithinBook() || p.Rules[0].Text != config.WithinBookText {
			t.Fatalf("the rules are %+v", p.Rules)
		}
		// A is Gin 15, Lime 5; B Gin 10, Vermouth 10; C Rum 17, Lime 3; D Gin 10, Campari 10.
		want := []rule.Rule{
			rule.Amount{Of: []int{0}, Min: 10, Max: 15},
			rule.Amount{Of: []int{1}, Min: 3, Max: 5},
			rule.Amount{Of: []int{2}, Min: 10, Max: 10},
			rule.Amount{Of: []int{3}, Min: 17, Max: 17},
			rule.Amount{Of: []int{4}, Min: 10, Max: 10},
			rule.Exclude{Of: []int{5}},
		}
		for k, r := range p.Rules[0].Rules {
			one := rule.Set{Ingredients: 6, Total: 20, Rules: []rule.Rule{r}}
			other := rule.Set{Ingredients: 6, Total: 20, Rules: []rule.Rule{want[k]}}
			a, err := constraint.FromRules(one)
			if err != nil {
				t.Fatal(err)
			}
			b, err := constraint.FromRules(other)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				for amount := 1; amount < 20; amount++ {
					parts := []mcmc.Part{{Ingredient: i, Amount: amount}, {Ingredient: (i + 1) % 6, Amount: 20 - amount}}
					slices.SortFunc(parts, func(x, y mcmc.Part) int { return x.Ingredient - y.Ingredient })
					if a.AreKeptBy(parts) != b.AreKeptBy(parts) {
						t.Errorf("rule %d judges %v otherwise than %+v", k, parts, want[k])
					}
				}
			}
		}
		known, err := p.KnownRecipes()
		if err != nil {
			t.Fatal(err)
		}
		for r, x := range known {
			if err := p.Target.Space().Contains(x); err != nil {
				t.Errorf("recipe %d: %v", r, err)
			}
		}
		if w := strings.Join(p.Warnings, " "); !strings.Contains(w, `No recipe uses "Water"`) {
			t.Errorf("the warnings are %q", w)
		}
		if outside, err := p.OutsideShare(t.Context(), 100); err != nil || outside != 0 {
			t.Errorf("%v of the compositions are outside, error %v", outside, err)
		}
	}
	free, err := loadRated(t, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if outside, err := free.OutsideShare(t.Context(), 100); err != nil || !(outside > 0.5) || free.IsWithinBook() {
		t.Errorf("without the rule %v are outside, error %v", outside, err)
	}
}

// TestQuestion looks at the question of a search: known recipes, their scores out of
// bag, doses, and what is refused.
func TestQuestion(t *testing.T) {
	p, err := loadRated(t, "properties:\n  rating: {forest: {label: rating, maximize: true}}\n  cost: {blend: {attribute: cost, smaller: {from: 2, to: 9}}, weight: 3}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	if q.Effort != 1 || len(q.Known) != 4 || !slices.Equal(q.Least, []int{10, 3, 10, 17, 10, 0}) || q.Niche.Attribute == nil {
		t.Errorf("the question is %+v", q)
	}
	if _, most := search.KnownAmountRanges(len(p.Ingredients), q.Known); !slices.Equal(q.Most, most) {
		t.Errorf("the greatest doses are %v and the book's %v", q.Most, most)
	}
	if !q.Refuse([]int{0, 1}) || q.Refuse([]int{0, 3}) {
		t.Error("what is refused is not what is known")
	}
	scores, err := q.KnownScores()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Properties[0].learntModel.heldOutRowScores()
	if err != nil {
		t.Fatal(err)
	}
	for r, x := range q.Known {
		if want := rows[r] * math.Exp(p.Properties[1].mcmcProperty.LogScore(x)); math.Abs(scores[r]-want) > 1e-12 {
			t.Errorf("recipe %d scores %v, want %v", r, scores[r], want)
		}
	}
	own, other, err := q.HalfTargets(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := own.LogScore(q.Known[0])
	b, _ := other.LogScore(q.Known[0])
	if a == b || own.Objectives()[1].Weight != 1 {
		t.Errorf("forests of two halves say %v and %v, and the cost has weight %v", a, b, own.Objectives()[1].Weight)
	}
	any, err := loadRated(t, "search: {doses: any}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if q, err := any.SearchQuestion(); err != nil || q.Least != nil || q.HalfTargets != nil {
		t.Errorf("the question is %+v, error %v", q, err)
	}
}

// TestOffers looks at the offers of a problem that may not be meant as it is.
func TestOffers(t *testing.T) {
	p, err := loadRated(t, "properties: {rating: {forest: {label: rating, at_least: 41}}}\nconstraints:\n  - amount: {of: Gin, min: 4}\n  - amount: {of: Rum, min: 4}\n  - require: Rum\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	offers := strings.Join(p.Hints(t.Context()), "\n")
	if !strings.Contains(offers, `require: ["Gin"]`) || strings.Contains(offers, "Rum") || !strings.Contains(offers, "4 of 4 recipes") {
		t.Errorf("the offers are\n%s", offers)
	}
	if w := strings.Join(p.Warnings, "\n"); !strings.Contains(w, "Every recipe has a rating at least 41") {
		t.Errorf("the warnings are\n%s", w)
	}
}

// The kernel that is chosen is the one that is written out.
func TestAutoKernel(t *testing.T) {
	for _, yaml := range []string{"", "sampler: {kernel: auto}\n"} {
		p, err := loadRated(t, yaml, Options{})
		if err != nil || p.Sampler.Kernel != "exact" || !p.KernelChosen || !strings.Contains(string(p.Resolved), "kernel: exact") {
			t.Errorf("kernel %q, error %v, resolved\n%s", p.Sampler.Kernel, err, p.Resolved)
		}
		if err := p.UseKernel("gibbs"); err != nil || p.Sampler.Kernel != "gibbs" || !strings.Contains(string(p.Resolved), "kernel: gibbs") {
			t.Errorf("kernel %q, error %v, resolved\n%s", p.Sampler.Kernel, err, p.Resolved)
		}
	}
	p, err := loadRated(t, "sampler: {kernel: naive}\n", Options{})
	if err != nil || p.Sampler.Kernel != "naive" || p.KernelChosen {
		t.Errorf("kernel %q, error %v", p.Sampler.Kernel, err)
	}
}

// TestSettingErrors: of a file all faulty settings are reported; one of a flag is reported once.
func TestSettingErrors(t *testing.T) {
	const faulty = "sampler: {chains: 0, warmup: -1, thin: 0, draws: 10}\n"
	_, err := loadRated(t, faulty, Options{})
	for _, want := range []string{"chains is 0", "warmup is -1", "thin is 0"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q is not reported once by %v", want, err)
		}
	}
	_, err = loadRated(t, "sampler: {chains: 4}\n", Options{OverrideSampler: func(s *mcmc.Settings) { s.Chains = 0 }})
	if err == nil || strings.Count(err.Error(), "chains is 0") != 1 {
		t.Errorf("a flag's error is reported as %v", err)
	}
}

// TestSettingNames: package config, which does not know mcmc, has the same value for draws that kir chooses.
func TestSettingNames(t *testing.T) {
	if config.AutoDraws != mcmc.AutoDraws {
		t.Errorf("auto draws are %d and %d", config.AutoDraws, mcmc.AutoDraws)
	}
}
