package number_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shareOfTotal are the functions of packages that write text in which something is divided by
// the total of a recipe, and why that is no text of an amount.
var shareOfTotal = map[string]string{
	"internal/campaign/acquisition.go cellKey":       "where a model looks a line up",
	"internal/campaign/batch.go Shares":              "the length of a bar",
	"internal/campaign/chosenrecipe.go costDivisor":  "a mean price",
	"internal/campaign/surrogate.go newPoint":        "the features of a model",
	"internal/constraint/conflict/walk.go violation": "how far a walk is from keeping rules",
	"internal/constraint/conflict/walk.go newWalk":   "how far a walk is from keeping rules",
	"kir.go Draws": "a share as a number",
	"internal/paper/cocktail.go describeDrink":             "the total is 1,000: a digit behind the point is exact",
	"internal/compile/draft.go Write":                      "how much a unit is",
	"internal/compile/forest.go addMean":                   "a mean of an attribute",
	"internal/compile/learn_features.go FeatureSets":       "the scale of features",
	"internal/config/units.go ReadUnits":                   "percentages next to one that is no whole number of units",
	"internal/report/assemble/weighing.go Weighing":        "a mean density",
	"internal/report/assemble/weighing.go fillWeighing":    "a number of the JSON, beside which the text stands",
	"internal/report/view/dots.go amountsFigure":           "a mean amount with its error",
	"internal/report/view/ingredients.go writeIngredients": "a mean amount with its error",
	"internal/report/view/heatmap.go heatMapFigure":        "the shade of a cell",
	"internal/report/view/page.go Amount":                  "a mean amount",
	"internal/report/view/response.go newPanels":           "the axis of a chart",
	"internal/report/view/sheets.go newFiguresSheet":       "a mean cost",
	"internal/report/view/recipecolumns.go write":          "the length of a bar",
	"internal/serve/figures.go newDistribution":            "the axis of a chart",
	"internal/serve/figures.go newDraws":                   "a mean amount with its error",
	"internal/serve/figures.go groupShare":                 "a mean of draws",
	"internal/serve/measure.go formatAmounts":              "how many figures a person needs",
	"internal/serve/measure.go exactPercent":               "a percentage of a problem file, which is exact or not taken",
	"internal/rounding/weigh.go newRoundingProblem":        "what is to be rounded to a scale",
	"kir.go newResult":                                     "a number of the library",
}

// TestAmountsAreWrittenOnce: where packages that write text divide something by the total of a
// recipe, it is no amount that is written: number.Amounts alone makes text of amounts, so
// that they add up to the whole and are never rounded to less than the units they have.
func TestAmountsAreWrittenOnce(t *testing.T) {
	found := sharesOfTotal(t, os.DirFS("../.."), "kir.go", "cmd", "internal/campaign", "internal/constraint/conflict", "internal/paper", "internal/config", "internal/compile", "internal/report", "internal/serve", "internal/rounding")
	for place := range found {
		if shareOfTotal[place] == "" {
			t.Errorf("%s divides by the total of a recipe: write amounts by number.Amounts; where it is no text of an amount, say so in shareOfTotal", place)
		}
	}
	for place := range shareOfTotal {
		if !found[place] {
			t.Errorf("%s of shareOfTotal divides by no total: take it out", place)
		}
	}
	scripts, err := fs.Glob(os.DirFS("../.."), "internal/serve/assets/js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(path.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if path.Base(name) != "written.js" && dividesInScript.Match(text) {
			t.Errorf("%s divides by the total of a recipe, %q: write amounts by written.js", name, dividesInScript.Find(text))
		}
	}
}

// dividesInScript finds what is divided by a total and written.
var dividesInScript = regexp.MustCompile(`/ *(page\.problem\.|d\.)?total\b[^;\n]*toFixed|toFixed[^;\n]*/ *(page\.problem\.|d\.)?total\b`)

// TestAmountsAreWrittenOnceNotices shows that the search finds what it looks for.
func TestAmountsAreWrittenOnceNotices(t *testing.T) {
	source := `package p
func a(units, total int) string { return fmt.Sprintf("%.1f %%", 100*float64(units)/float64(total)) }
func b(p Part, m *Model) string { return big.NewRat(int64(p.Amount), int64(m.Problem.Total)).FloatString(1) }
func c(x *mcmc.Composition) float64 { return 1 / float64(x.Total()) }
func d(sum, n int) float64 { return float64(sum) / float64(n) }
`
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/p.go", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(sharesOfTotal(t, os.DirFS(dir), "."))); !slices.Equal(got, []string{"p.go a", "p.go b", "p.go c"}) {
		t.Errorf("found: %q", got)
	}
	for script, want := range map[string]bool{
		"const share = (units, total) => (100 * units / total).toFixed(1);": true, "(100 * a / page.problem.total).toFixed(1)": true,
		"const step = Math.max(1, Math.round(total / 20));": false, "units / total * width;\nfixed.toFixed(1)": false,
	} {
		if dividesInScript.MatchString(script) != want {
			t.Errorf("%q", script)
		}
	}
}

// sharesOfTotal returns the files and functions that divide by the total of a recipe.
func sharesOfTotal(t *testing.T, root fs.FS, names ...string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for _, name := range names {
		err := fs.WalkDir(root, name, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					ast.Inspect(f, func(n ast.Node) bool {
						if dividesByTotal(n) {
							found[name+" "+f.Name.Name] = true
						}
						return true
					})
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// namesTotal says whether a variable or field is called a total.
func namesTotal(name string) bool { return strings.EqualFold(name, "total") || name == "totalUnits" }

// dividesByTotal says whether something is divided by what is called total, whatever its type
// is made.
func dividesByTotal(n ast.Node) bool {
	var by ast.Expr
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.QUO {
			by = n.Y
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "NewRat" || f.Sel.Name == "SetFrac64") && len(n.Args) == 2 {
			by = n.Args[1]
		}
	}
	for {
		switch e := by.(type) {
		case *ast.CallExpr: // a conversion, or a method
			if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Total" {
				return true
			}
			if len(e.Args) != 1 {
				return false
			}
			by = e.Args[0]
		case *ast.ParenExpr:
			by = e.X
		case *ast.SelectorExpr:
			return namesTotal(e.Sel.Name)
		case *ast.Ident:
			return namesTotal(e.Name)
		default:
			return false
		}
	}
}
