package compile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/config"
)

const (
	moreTable    = "recipe,ingredient,amount,unit,liking\nMimosa,Champagne,8,cl,6\nMimosa,Orange,8,cl,6\nBellini,Champagne,8,cl,8\n"
	resultsTable = "id,round,recipe,ingredient,amount,unit,liking,status,time\n" +
		"1-1,1,1-1,Champagne,5,cl,7,made,2026-01-01T00:00:00Z\n1-1,1,1-1,Cassis,5,cl,7,made,2026-01-01T00:00:00Z\n" +
		"1-2,1,1-2,Gin,1,cl,,failed,2026-01-01T00:00:00Z\n1-3,1,,,,,,withdrawn,2026-01-01T00:00:00Z\n"
)

// campaign reads a problem beside tables and results.
func campaign(t *testing.T, yaml string, o Options, files map[string]string) (*Problem, error) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"problem.yaml": yaml, "recipes.csv": recipesTable, "more.csv": moreTable}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Load(context.Background(), filepath.Join(dir, "problem.yaml"), o)
}

// TestTables: recipes may be several tables, and the results beside the problem are one
// of them, named or not, once.
func TestTables(t *testing.T) {
	results := map[string]string{"problem.results.csv": resultsTable}
	likes := "properties: {a: {forest: {label: liking, maximize: true}}}\n"
	for _, c := range []struct {
		recipes string
		files   map[string]string
		want    string
	}{
		{"recipes.csv", nil, "Kir Negroni Martini"},
		{"[recipes.csv, {file: more.csv}]", nil, "Kir Negroni Martini Mimosa Bellini"},
		{"recipes.csv", results, "Kir Negroni Martini 1-1 1-2"},
		{"[problem.results.csv, recipes.csv]", results, "Kir Negroni Martini 1-1 1-2"},
		{"problem.results.csv", results, "1-1 1-2"},
		{"[recipes.csv, other.csv]", map[string]string{"other.csv": resultsTable}, "Kir Negroni Martini 1-1 1-2"},
	} {
		text := "total: 100\nrecipes: " + c.recipes + "\n"
		if strings.Contains(c.want, "Mimosa") {
			text += likes
		}
		p, err := campaign(t, text, Options{}, c.files)
		if err != nil {
			t.Errorf("%s: %v", c.recipes, err)
			continue
		}
		var names []string
		for _, r := range p.Book.Recipes {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.recipes, got, c.want)
		}
		if (p.Results() != nil) != (strings.Contains(c.want, "1-1")) {
			t.Errorf("%s: results %v", c.recipes, p.Results())
		}
		// What the problem comes to says the same without the file beside it.
		if _, err := campaign(t, string(p.Resolved), Options{}, c.files); err != nil {
			t.Errorf("%s: resolved: %v\n%s", c.recipes, err, p.Resolved)
		}
	}
	for text, want := range map[string]string{
		"total: 100\nrecipes: [recipes.csv, more.csv]\n" + strings.ReplaceAll(likes, "liking", "likin"): `problem.yaml:3:34: the recipes have no label "likin": did you mean "liking"?`,
		"total: 100\nrecipes: [recipes.csv, 7]\n":                                                       `problem.yaml:2:24: "7": there is no such file`,
		"total: 2\nrecipes: [more.csv, recipes.csv]\n":                                                  `recipes.csv:4:1: "Negroni" uses 3 ingredients`,
	} {
		if _, err := campaign(t, text, Options{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s says %v, not %s", text, err, want)
		}
	}
	if _, err := campaign(t, "total: 100\nrecipes: recipes.csv\n", Options{}, map[string]string{"problem.results.csv": moreTable}); err == nil || !strings.Contains(err.Error(), "this is no file of results") {
		t.Errorf("another table under the name of the results: %v", err)
	}
}

// TestForCampaign: what is to be learnt is named and not learnt, and may be missing.
func TestForCampaign(t *testing.T) {
	rules := "total: 100\ningredients: [Gin, Champagne, Cassis, Orange, Vermouth, Campari]\nsparsity: {uniform: [2, 3]}\nlabels: [abv]\n" +
		"properties: {a: {forest: {label: liking, maximize: true}}, b: {pairs: {}}}\n"
	if _, err := campaign(t, rules, Options{}, nil); err == nil {
		t.Error("a forest is grown of nothing")
	}
	p, err := campaign(t, strings.Replace(rules, ", b: {pairs: {}}", "", 1), Options{Campaign: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := p.Properties[0]; w.Learning == nil || w.Learning.Label != "liking" || w.Model != nil || len(p.Target.Objectives()) != 0 || p.Book != nil {
		t.Errorf("%+v, %d wishes", w, len(p.Target.Objectives()))
	}
	p, err = campaign(t, rules, Options{Campaign: true}, map[string]string{"problem.results.csv": resultsTable})
	if err != nil || len(p.Book.Recipes) != 2 || len(p.Target.Objectives()) != 1 {
		t.Errorf("%v, %+v", err, p)
	}
	text := strings.Replace(resultsTable, ",7,made", ",good,made", 2)
	if _, err = campaign(t, rules, Options{Campaign: true}, map[string]string{"problem.results.csv": text}); err == nil || !strings.Contains(err.Error(), `"good" is not a number`) {
		t.Errorf("a label that is no number: %v", err)
	}
}

// TestResultsLeaveRules: what was made changes no rule that follows from the known recipes,
// unless there are no others.
func TestResultsLeaveRules(t *testing.T) {
	text := "total: 100\nrecipes: RECIPES\nsparsity: recipes\nconstraints: [{amount: {of: \"*\", within: book}}]\n"
	results := map[string]string{"problem.results.csv": "id,round,recipe,ingredient,amount,unit,status,time\n1-1,1,1-1,Gin,1,cl,made,\n"}
	for recipes, broken := range map[string]int{"recipes.csv": 2, "problem.results.csv": 0} {
		p, err := campaign(t, strings.Replace(text, "RECIPES", recipes, 1), Options{}, results)
		if err != nil {
			t.Fatal(err)
		}
		known, err := p.KnownRecipes()
		if err != nil {
			t.Fatal(err)
		}
		breaches, err := p.BrokenRules(known[len(known)-1].Parts(), Setting{})
		if err != nil || len(breaches) != broken {
			t.Errorf("%s: %+v, %v", recipes, breaches, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// campaignKeys are the keys of a campaign.
type campaignKeys struct {
	Batch, MaxNew int
	Cost          string
}

func keysOf(c config.Campaign) campaignKeys { return campaignKeys{c.Batch, c.MaxNew, c.Cost} }

// TestCampaignKey reads how batches are chosen.
func TestCampaignKey(t *testing.T) {
	rules := "total: 100\ningredients: stock.csv\nsparsity: {uniform: [1, 3]}\n"
	stock := map[string]string{"stock.csv": "name,price,hue\nGin,3,1\nRum,4,\nLime,1,2\n"}
	for text, want := range map[string]campaignKeys{
		"": {Batch: 8, MaxNew: -1},
		"campaign: {batch: 3, max_new: 0, cost: price}\n": {Batch: 3, Cost: "price"},
		"campaign:\n": {Batch: 8, MaxNew: -1},
	} {
		p, err := campaign(t, rules+text, Options{}, stock)
		if err != nil || keysOf(p.Campaign) != want {
			t.Errorf("%q: %v, %+v", text, err, p)
			continue
		}
		again, err := campaign(t, string(p.Resolved), Options{}, stock)
		if err != nil || keysOf(again.Campaign) != want {
			t.Errorf("%q resolved: %v, %+v", text, err, again)
		}
	}
	for text, want := range map[string]string{
		"campaign: {batch: 0}\n":                "problem.yaml:4:19: the batch is 0",
		"campaign: {batch: 1001}\n":             "problem.yaml:4:19: the batch is 1001",
		"campaign: {max_new: -1}\n":             "max_new is -1",
		"campaign: {bacth: 3}\n":                `did you mean "batch"?`,
		"campaign: {cost: prize}\n":             `did you mean "price"?`,
		"campaign: {cost: hue}\n":               `"Rum"`,
		"campaign: 8\n":                         "campaign is",
		"campaign: {batch: 4, cost: [price]}\n": "the cost is a list",
	} {
		if _, err := campaign(t, rules+text, Options{}, stock); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s says %v, not %s", text, err, want)
		}
	}
	counted := "total: 100\ningredients: {count: 9}\nsparsity: {uniform: [1, 3]}\n"
	if _, err := campaign(t, counted, Options{}, map[string]string{"problem.results.csv": resultsTable}); err == nil || !strings.Contains(err.Error(), "counted ingredients have no names") {
		t.Errorf("results of counted ingredients: %v", err)
	}
}
