package compile

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
)

const shelfTable = `name,group,abv
Champagne,bubbles,12
Cassis,liqueur,20
Gin,spirit,40
Vermouth,wine,16
Campari,liqueur,25
Lemon juice,citrus,0
Lime juice,citrus,0
Orange bitters,bitters,45
`

// The limits of a law, and what ingredients consist of.
const (
	limitsTable       = "attribute,min,max\nabv,,30\nlinalool,,0.05\nabv,31,\n"
	constituentsTable = "ingredient,constituent,share\nLemon juice,linalool,0.1\nLime juice,linalool,0.2\n"
)

// loadRules reads a problem on the book and the shelf with the given rules.
func loadRules(t *testing.T, head, rules string) (*Problem, error) {
	t.Helper()
	dir := t.TempDir()
	yaml := head + "constraints:\n" + rules
	for name, text := range map[string]string{"problem.yaml": yaml, "recipes.csv": recipesTable, "shelf.csv": shelfTable, "limits.csv": limitsTable, "constituents.csv": constituentsTable} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Load(context.Background(), filepath.Join(dir, "problem.yaml"), Options{})
}

const headBook = "total: 20\nrecipes: recipes.csv\ningredients: shelf.csv\nsparsity: {uniform: [1, 4]}\n"

// TestBadRules checks the place and the words for each mistake. Rules begin on
// line 6.
func TestBadRules(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range []struct {
		name, rules  string
		line, column int
		says         []string
	}{
		{"unknown kind", "  - requires: Gin\n", 6, 5, []string{`did you mean "require"?`}},
		{"two kinds", "  - {require: Gin, exclude: Cassis}\n", 6, 5, []string{"2 kinds"}},
		{"unknown ingredient", "  - require: Ginn\n", 6, 14, []string{`"Ginn"`, `did you mean "Gin"?`}},
		{"no match", "  - exclude: \"* rum\"\n", 6, 14, []string{"no ingredient matches"}},
		{"unknown attribute", "  - group: {of: {grup: citrus}, used: [0, 1]}\n", 6, 18, []string{`did you mean "group"?`}},
		{"unknown value", "  - group: {of: {group: citrus fruit}, used: [0, 1]}\n", 6, 25, []string{`"bubbles"`}},
		{"attribute that is no number", "  - limit: {attribute: group, min: 3}\n", 2, 11, []string{"not a number"}},
		{"percent that is no unit", "  - amount: {of: Gin, min: \"12%\"}\n", 6, 28, []string{"2.4 of 20 units", "10% or 15%"}},
		{"binary exponent", "  - amount: {of: Gin, min: \"1p3%\"}\n", 6, 28, []string{"percentage"}},
		{"binary", "  - amount: {of: Gin, min: \"0b101%\"}\n", 6, 28, []string{"percentage"}},
		{"percent above 100", "  - amount: {of: Gin, min: \"120%\"}\n", 6, 28, []string{"100 %"}},
		{"rubbish for units", "  - amount: {of: Gin, min: \"a lot\"}\n", 6, 28, []string{"percentage"}},
		{"amount above the total", "  - amount: {of: Gin, min: 21}\n", 6, 28, []string{"at most 20"}},
		{"amount of nothing", "  - amount: {min: 2}\n", 6, 13, []string{"add of"}},
		{"amount without bound", "  - amount: {of: Gin}\n", 6, 13, []string{"bounds nothing"}},
		{"min above max", "  - amount: {of: Gin, min: 9, max: 3}\n", 6, 13, []string{"contradicts itself", "min is 9"}},
		{"used from above to", "  - group: {of: [Gin, Cassis], used: [2, 1]}\n", 6, 38, []string{"contradicts itself"}},
		{"more used than there are", "  - group: {of: [Gin, Cassis], used: [3, 3]}\n", 6, 38, []string{"2 ingredients"}},
		{"never of one", "  - never: [Gin]\n", 6, 12, []string{"exclude"}},
		{"needs without then", "  - needs: {if: Gin}\n", 6, 12, []string{"no then"}},
		{"needs of many", "  - needs: {if: [Gin, Cassis], then: [Campari]}\n", 6, 17, []string{"a rule for each"}},
		{"limit turned round", "  - limit: {attribute: abv, min: 9, max: 3}\n", 6, 12, []string{"contradicts itself"}},
		{"require and exclude", "  - require: Gin\n  - exclude: Gin\n", 6, 5, []string{"Gin", "line 6", "line 7"}},
		{"minima above the total", "  - require: [Gin, Cassis]\n  - amount: {of: Gin, min: 12}\n  - amount: {of: Cassis, min: 10}\n", 6, 5, []string{"22 of a total of 20", "lower them by 2"}},
		{"more required than used", "  - require: [Gin, Cassis, Campari, Vermouth, Champagne]\n", 6, 5, []string{"sparsity on line 4"}},
		{"exactly", "  - amount: {of: Gin, exactly: 3}\n", 6, 23, []string{"amount: {of: Gin, min: 30, max: 30}"}},
		{"ratio in an amount", "  - amount: {of: Gin, ratio: 2}\n", 6, 23, []string{"ratio: {of: Gin, to: Vermouth, min: 2, max: 3}"}},
		{"max of an attribute", "  - max: cost\n", 6, 5, []string{"limit: {attribute: cost, max: 12}"}},
		{"an attribute for a kind", "  - abv: {max: 30}\n", 6, 5, []string{"limit: {attribute: abv, max: 12}"}},
		{"an ingredient for a kind", "  - Gin: {max: 3}\n", 6, 5, []string{"amount: {of: Gin, min: 20, max: 40}"}},
		{"limit by max alone", "  - limit: {max: abv}\n", 6, 12, []string{"{attribute: abv, min: 10, max: 25}"}},
		{"limit misspelt", "  - limit: {attribute: abv, off: Gin, max: 3}\n", 6, 29, []string{`did you mean "of"?`}},
		{"limits without file", "  - limits: limits.csv\n", 6, 13, []string{"{file: limits.csv}"}},
		{"a constituent that nobody gave", "  - limits: {file: limits.csv}\n", 3, 1, []string{`no attribute "linalool"`}},
		{"limits that contradict", "  - limits: {file: limits.csv}\n  - constituents: {file: constituents.csv}\n", 2, 1, []string{"limits.csv line 2", "limits.csv line 4"}},
		{"constituents within", "  - if: {used: Gin, then: {constituents: {file: constituents.csv}}}\n", 6, 42, []string{"a line of their own"}},
		{"an amount from no column", "  - amount: {of: Gin, max: abw}\n", 6, 28, []string{`did you mean "abv"?`}},
		{"an amount from a column of text", "  - amount: {of: Gin, max: group}\n", 4, 5, []string{`"spirit"`, "line 6"}},
		{"stock in another unit", "  - amount: {of: Gin, stock: 35 g, batch: 750 ml}\n", 6, 30, []string{"one unit"}},
		{"stock without batch", "  - amount: {of: Gin, stock: 35 cl}\n", 6, 30, []string{"add batch"}},
		{"batch without stock", "  - amount: {of: Gin, batch: 35 cl}\n", 6, 30, []string{"add stock"}},
		{"ratio to nothing", "  - ratio: {of: Gin, max: 2}\n", 6, 12, []string{"{of: Gin, to: Vermouth, min: 2, max: 3}"}},
		{"ratio in words", "  - ratio: {of: Gin, to: Vermouth, max: \"2:1\"}\n", 6, 41, []string{"2 for two to one"}},
		{"ratio below 0", "  - ratio: {of: Gin, to: Vermouth, max: -1}\n", 6, 41, []string{"0 or more"}},
		{"near an unknown recipe", "  - near: {recipe: Negronni, changes: 1}\n", 6, 20, []string{"did you mean"}},
		{"near without bound", "  - near: {recipe: Kir}\n", 6, 11, []string{"changes"}},
		{"near a part of a recipe", "  - near: {recipe: {Gin: 3}, distance: 1}\n", 6, 20, []string{"3 units of a total of 20"}},
		{"if without then", "  - if: {used: Gin}\n", 6, 9, []string{"{used: Milk, then: {exclude: [Lemon juice]}}"}},
		{"then beside if", "  - if: {used: Gin}\n    then: {exclude: Cassis}\n", 7, 11, []string{"within"}},
		{"if of nothing", "  - if: {then: {exclude: Cassis}}\n", 6, 9, []string{"used, unused or condition"}},
		{"else", "  - if: {used: Gin, then: {exclude: Cassis}, else: {require: Cassis}}\n", 6, 46, []string{"unused"}},
		{"block of a range", "  - block: {of: [Gin, Cassis], total: [3, 4]}\n", 6, 39, []string{"group"}},
		{"block of others", "  - block: {of: [Gin, Cassis], total: 10, rules: [{require: Campari}]}\n", 6, 61, []string{"no part of the block"}},
		{"near within a block", "  - block: {of: [Gin, Cassis], total: 10, rules: [{near: {recipe: Kir, changes: 1}}]}\n", 6, 58, []string{"outside"}},
		{"steps that miss", "  - amount: {of: \"*\", step: 3}\n", 6, 5, nil},
		{"limit of a property and a column", "  - limit: {property: fresh, attribute: abv, min: 3}\n", 6, 41, []string{"has no attribute"}},
		{"limit of a property of some", "  - limit: {property: fresh, of: Gin, min: 3}\n", 6, 34, []string{"has no of"}},
		{"limit of a property without bounds", "  - limit: {property: fresh}\n", 6, 12, []string{"bounds nothing"}},
		{"limit of no property", "  - limit: {property: fresh, min: 3}\n", 6, 23, []string{"no property \"fresh\"", "weight: 0"}},
		{"sure of a column", "  - limit: {attribute: abv, min: 3, sure: 0.9}\n", 6, 43, []string{"what a property predicts"}},
		{"limit of a property in a block", "  - block: {of: [Gin, Cassis], total: 10, rules: [{limit: {property: fresh, min: 3}}]}\n", 6, 59, []string{"outside of the block"}},
		{"limit of a property behind a condition", "  - if: {used: Gin, then: {limit: {property: fresh, min: 3}}}\n", 6, 35, []string{"a line of its own"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadRules(t, headBook, c.rules)
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

// TestRuleCounts holds the counts of whole problems against known ones.
func TestRuleCounts(t *testing.T) {
	for _, c := range []struct {
		name, head, rules string
		n                 int
		want              string
	}{
		{"no rules", "total: 100\ningredients: {count: 50}\nsparsity: {uniform: [1, 5]}\n", "  []\n", 5, "7975809293760"},
		{"2 to 20 units", "total: 100\ningredients: {count: 100}\nsparsity: {uniform: [1, 20]}\n", "  - amount: {of: \"*\", min: \"2%\", max: 20}\n", 0, "499323586091939421828102219725287268000"},
		// Gin and one of the other seven, Gin 10 or 15 of 20.
		{"step", headBook, "  - require: gin*\n  - amount: {of: Gin, min: \"50%\", max: 15, step: 5}\n", 2, "14"},
		// Two of three liqueurs and spirits never: 8·7/2 pairs but 3, 19 cuts.
		{"never", headBook, "  - never: [Gin, Cassis, Campari]\n", 2, "475"},
		{"group by attribute", headBook, "  - group: {of: {group: citrus}, used: [1, 1], total: [\"10%\", \"20%\"]}\n", 2, "36"},
		// Gin 4 to 9 of 20 with one of the seven: 35 of 75 cl are 9.3 of 20.
		{"stock", headBook, "  - require: Gin\n  - amount: {of: Gin, min: 4, stock: 35 cl, batch: 75 cl}\n", 2, "42"},
		// Cassis alone in 4 and two of the other six in 16, C(6,2)·15; or Gin at most 2, and one.
		{"block", headBook, "  - block: {of: [Gin, Cassis], total: \"20%\", rules: [{amount: {of: Gin, max: \"50%\"}}]}\n", 3, "237"},
		{"column", headBook, "  - require: Gin\n  - amount: {of: Gin, max: abv}\n", 2, "133"},
		{"exclude", headBook, "  - exclude: [\"*juice\", \"* BITTERS\"]\n", 1, "5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := loadRules(t, c.head, c.rules)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := c.n, c.n
			if c.n == 0 {
				lo, hi = 1, p.Target.Space().MaxUsed()
			}
			counts, err := p.Target.Space().Counts(lo, hi)
			if err != nil {
				t.Fatal(err)
			}
			got := new(big.Int)
			for _, x := range counts {
				got.Add(got, x)
			}
			want, _ := new(big.Int).SetString(c.want, 10)
			if got.Cmp(want) != 0 {
				t.Errorf("%v compositions, want %v", got, want)
			}
		})
	}
}

// TestRulesInUse keeps of a rule or more of each kind what it says in words, how many
// compositions of 1 to 4 ingredients keep it, and what is warned of.
func TestRulesInUse(t *testing.T) {
	kept := golden.Open(t)
	for _, rules := range []string{
		"require: Gin", "require: {group: citrus}", "require: [Gin, C*]", "exclude: [\"*juice\", \"* BITTERS\"]", "never: [Gin, Cassis, Campari]",
		"amount: {of: Gin, min: 5, max: 50%}", "amount: {of: \"*\", min: 2}", "amount: {of: Gin, step: 4}", "amount: {of: Gin, min: 3, step: 5}", "amount: {of: [Gin, Cassis], max: 1}",
		"amount: {of: Gin, stock: 35 cl, batch: 75 cl}", "amount: {of: Gin, stock: 0.5 l, batch: 0.75 l}", "amount: {of: \"*\", max: abv}", "amount: {of: Gin, within: book}", "amount: {of: [Champagne, Gin], within: book}",
		"group: {of: [Gin, Cassis], used: [1, 1]}", "group: {of: {group: citrus}, used: [1, 1], total: [10%, 20%]}", "group: {of: [Gin, Cassis, Campari], total: [12, 20]}", "group: {of: [Gin, Cassis], used: [0, 1], total: [0, 10]}",
		"needs: {if: Gin, then: [Cassis, Campari]}", "needs: {if: Campari, then: Vermouth}",
		"limit: {attribute: abv, max: 18}", "limit: {attribute: abv, min: 20, max: 25}", "limit: {attribute: abv, of: [Gin, Vermouth], min: 30}", "limit: {attribute: abv, min: 44}",
		"ratio: {of: Gin, to: Vermouth, min: 2, max: 3}", "ratio: {of: Gin, to: [Vermouth, Campari], max: 0.5}", "ratio: {of: Gin, to: Vermouth, min: 1}",
		"near: {recipe: Kir, changes: 1}", "near: {recipe: Negroni, distance: 4}", "near: {recipe: {Gin: 10, Vermouth: 50%}, changes: 1, distance: 6}", "near: {recipe: Martini, changes: 0}",
		"if: {used: Gin, then: {exclude: Cassis}}", "if: {unused: Gin, then: {require: Cassis}}", "if: {used: [Gin, Campari], then: {amount: {of: Gin, min: 4}}}", "if: {used: Gin, unused: Cassis, then: {group: {of: {group: citrus}, used: [1, 2]}}}",
		"if: {used: Gin, then: {limit: {attribute: abv, max: 30}}}", "if: {used: Gin, then: [{exclude: Cassis}, {never: [Campari, Vermouth]}]}",
		"block: {of: [Gin, Cassis], total: 20%, rules: [{amount: {of: Gin, max: 50%}}]}", "block: {of: [Gin, Cassis, Campari], total: 10}",
		"limits: {file: limits.csv}\n  - constituents: {file: constituents.csv}",
	} {
		dir, files := t.TempDir(), map[string]string{"recipes.csv": recipesTable, "shelf.csv": shelfTable, "constituents.csv": constituentsTable}
		files["limits.csv"] = "attribute,min,max\nabv,,30\nlinalool,,0.05\n"
		files["problem.yaml"] = headBook + "constraints:\n  - " + rules + "\n"
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Load(context.Background(), filepath.Join(dir, "problem.yaml"), Options{})
		if err != nil {
			t.Errorf("%s: %v", rules, err)
			continue
		}
		said := strings.Join(p.Warnings, "\n")
		for _, r := range p.Rules {
			said += "\n" + r.Text
			for _, text := range r.RuleTexts {
				said += "\n  " + text
			}
		}
		said = strings.ReplaceAll(said, dir+string(filepath.Separator), "")
		if counts, err := p.Target.Space().Counts(1, 4); err != nil {
			said += "\n" + err.Error()
		} else {
			said += "\n"
			for _, x := range counts {
				said += x.String() + " "
			}
		}
		kept.CheckText(t, rules, said)
	}
}

// TestRuleWarnings: a rule that no known recipe keeps, and a size that the
// rules leave nothing of.
func TestRuleWarnings(t *testing.T) {
	p, err := loadRules(t, headBook, "  - require: Campari\n  - amount: {of: \"*\", max: 10}\n  - limit: {attribute: abv, max: 1}\n")
	if err == nil {
		t.Fatalf("a limit that nothing keeps is not told: %v", p.Warnings)
	}
	p, err = loadRules(t, headBook, "  - require: Lime juice\n  - amount: {of: \"*\", max: 10}\n")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(p.Warnings, "\n")
	for _, want := range []string{`"always use Lime juice"`, ":6:5", "recipes of 1 ingredient, but"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning says %q: %s", want, all)
		}
	}
	if strings.Contains(all, `"every ingredient: at most 50 %"`) {
		t.Errorf("a rule that a recipe keeps is warned of: %s", all)
	}
}

// TestOverlappingGroups: groups that cross are counted.
func TestOverlappingGroups(t *testing.T) {
	p, err := loadRules(t, headBook, "  - group: {of: [Gin, Cassis, Campari], used: [1, 1]}\n  - group: {of: [Campari, Vermouth, Champagne], used: [1, 1]}\n")
	if err != nil {
		t.Fatal(err)
	}
	if shares := p.Target.Space().UncountedRuleShares(); shares != nil {
		t.Fatalf("they are measured: %v", shares)
	}
	// With 2 used: Gin or Cassis and Vermouth or Champagne, or Campari and one
	// of the 3 in no group: 7 pairs, among which 20 units fall in 19 ways.
	if got := math.Exp(p.Target.Space().LogCounts(2)[2]); math.Abs(got-7*19) > 1e-9 {
		t.Errorf("%v compositions of 2, want 7·19", got)
	}
	_, err = loadRules(t, headBook, "  - limit: {attribute: abv, min: 44.9}\n  - require: Gin\n")
	var bad *inputerr.Error
	if !errors.As(err, &bad) || bad.Line != 6 || !strings.Contains(err.Error(), `"abv: at least 44.9 (mean over the recipe)"`) {
		t.Errorf("a limit out of reach: %v", err)
	}
}

// TestStepsOfLargeTotals checks that steps, which make a piece of a line for
// every other split or so, are refused where lines are long.
func TestStepsOfLargeTotals(t *testing.T) {
	_, err := loadRules(t, "total: 1000000000\nrecipes: recipes.csv\ningredients: shelf.csv\nsparsity: {uniform: [1, 4]}\n", "  - amount: {of: \"*\", step: 2}\n")
	if bad := (*inputerr.Error)(nil); !errors.As(err, &bad) || bad.Line != 6 || !strings.Contains(err.Error(), "at most 4194304") {
		t.Errorf("the error is %v", err)
	}
}

// Every rule that docs/rules.md shows is one that is read, and says itself in words.
func TestDocumentedRules(t *testing.T) {
	text, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"ingredients.csv": "name,group,phase,cost,abv,min_dose,max_dose\nGin,spirit,other,20,40,50,60%\nVodka,spirit,other,10,40,,\nMilk,dairy,other,2,0,,\n" +
			"Lime juice,citrus,other,4,0,,\nLemon juice,citrus,other,4,0,2.5,\nEgg,egg,other,4,0,,\nEgg white,egg,other,4,0,,\nOrange bitters,bitters,other,4,40,,\n" +
			"Campari,liqueur,other,15,25,,\nSweet Vermouth,wine,other,9,15,,\nWater,none,water,0,0,,\nGlycerin,none,water,4,0,,\nOil,none,oil,10,0,,\nWax,none,emulsifier,8,0,,\n",
		"recipes.csv":      "recipe,ingredient,amount,taste,temperature\nNegroni,Gin,3,Bitter,160\nNegroni,Campari,3,Bitter,160\nNegroni,Sweet Vermouth,4,Bitter,160\nWhite Lady,Gin,5,Fresh,170\nWhite Lady,Lemon juice,2,Fresh,170\nWhite Lady,Egg white,1,Fresh,170\n",
		"limits.csv":       "attribute,min,max\nlimonene,,0.1\n",
		"constituents.csv": "ingredient,constituent,share\nLime juice,limonene,0.2\n",
	}
	shown := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		kind, _, colon := strings.Cut(line, ": ")
		if !ok || !colon || strings.Contains(kind, " ") {
			continue
		}
		shown[kind] = true
		rules := "  - " + strings.Replace(line, `"90%"`, `"50%"`, 1) + "\n" // which two recipes allow
		if kind == "limits" {
			rules += "  - constituents: {file: constituents.csv}\n"
		}
		files["problem.yaml"] = "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 1000\nconditions: {temperature: {from: 150, to: 190, step: 5}}\nsparsity: {uniform: [2, 3]}\nproperties: {stable: {forest: {label: taste, want: Fresh}}}\nconstraints:\n" + rules
		p, err := loadFiles(t, files, "")
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if len(p.Rules)+len(p.TiedRules) == 0 != (kind == "constituents") {
			t.Errorf("%s: %d rules", line, len(p.Rules))
		}
		for _, r := range p.Rules {
			if r.Text == "" || len(r.Rules) == 0 && r.Predicted == nil || r.RuleTexts != nil && len(r.RuleTexts) != len(r.Rules) {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
	for _, kind := range config.ConstraintKinds() {
		if !shown[kind.Name] {
			t.Errorf("%s is not shown", kind.Name)
		}
	}
}

// The numbers of a column that is called a percentage are percentages of the total.
func TestPercentColumn(t *testing.T) {
	for name, want := range map[string]string{"max": "Gin: at most 0.5 %", "max %": "Gin: at most 5.3 %"} {
		p, err := loadFiles(t, map[string]string{
			"ingredients.csv": "name," + name + "\nGin,5.3\nRum,\n",
			"problem.yaml":    "ingredients: ingredients.csv\ntotal: 1000\nsparsity: {uniform: [1, 2]}\nconstraints:\n  - amount: {of: \"*\", max: \"" + name + "\"}\n",
		}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Rules[0].RuleTexts[0]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
