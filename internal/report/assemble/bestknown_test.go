package assemble

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/report"
)

// trialsWithCost returns a problem of twelve recipes of a and b, of 5 to 60 % of a, each with a
// result y of ten times its number but for the twelfth, and a thirteenth without a result. The
// constraint is one line of the file.
func trialsWithCost(t *testing.T, twelfth, properties, constraint string) *compile.Problem {
	t.Helper()
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("recipe,ingredient,amount,unit,y,kind\n")
	for r := 1; r <= 13; r++ {
		y, kind := fmt.Sprint(10*r), []string{"bad", "good"}[r/9]
		switch r {
		case 12:
			y = twelfth
		case 13:
			y, kind = "", ""
		}
		fmt.Fprintf(&table, "r%d,a,%d,ml,%s,%s\nr%d,b,%d,ml,%s,%s\n", r, 5*r, y, kind, r, 100-5*r, y, kind)
	}
	file := filepath.Join(dir, "problem.yaml")
	for name, text := range map[string]string{
		"trials.csv": table.String(), "ingredients.csv": "name,cost\na,10\nb,0\n",
		"problem.yaml": "recipes: trials.csv\ningredients: ingredients.csv\ntotal: 100\nsparsity: {uniform: [1, 2]}\nproperties:\n" + properties + constraint,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Load(t.Context(), file, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestBestKnown: the best known recipe is the one whose own results score most, of those that keep
// the constraints, and suggestions that are predicted to score no more are marked.
func TestBestKnown(t *testing.T) {
	const y = "  y: {forest: {label: y, maximize: true, trees: 20}}\n"
	const cost = "  cost: {blend: {attribute: cost, smaller: {from: 0, to: 10}}}\n"
	const kind = "  kind: {forest: {label: kind, want: good, trees: 20}}\n"
	for _, c := range []struct {
		name, properties, constraint string
		want                         string
		score                        float64
		ties, broken                 int
	}{
		{"most", y, "", "r12", 1, 0, 0},
		{"least", strings.Replace(y, "maximize", "minimize", 1), "", "r1", 1, 0, 0},
		{"within", strings.Replace(y, "maximize: true", "between: [35, 55]", 1), "", "r4", 1, 1, 0},
		{"a class", kind, "", "r9", 1, 3, 0},
		{"allowed", y, "constraints:\n  - amount: {of: a, max: 42}\n", "r8", 7.0 / 11, 0, 0},
		{"none allowed", y, "constraints:\n  - amount: {of: a, max: 3}\n", "r12", 1, 0, 1},
		{"weighed against the cost", y + cost, "", "r10", 9.0 / 11 * 0.5, 0, 0}, // (r − 1)/11 · (1 − r/20) has its top at 10.5, and the first of equals counts
	} {
		t.Run(c.name, func(t *testing.T) {
			p := trialsWithCost(t, "120", c.properties, c.constraint)
			list := []report.Best{{Score: report.Number(c.score + 1e-9)}, {Score: report.Number(c.score)}}
			known, err := BestKnown(p, list)
			if err != nil {
				t.Fatal(err)
			}
			if known.Name != c.want || float64(known.Score) < c.score-1e-12 || float64(known.Score) > c.score+1e-12 || known.Ties != c.ties || known.Broken != c.broken {
				t.Errorf("it is %s of score %v with %d others, and breaks %d; want %s of %v with %d, %d", known.Name, known.Score, known.Ties, known.Broken, c.want, c.score, c.ties, c.broken)
			}
			if list[0].NotBetter || list[1].NotBetter != (c.broken == 0) {
				t.Errorf("not better are %v and %v", list[0].NotBetter, list[1].NotBetter)
			}
			label, ok := known.Measured[p.Properties[0].Name]
			if number := float64(label.Value); !ok || (label.Class == "") == (c.name == "a class") || label.Class == "" && fmt.Sprint("r", number/10) != c.want {
				t.Errorf("its result is %+v", label)
			}
		})
	}
	p := trialsWithCost(t, "120", cost, "")
	known, err := BestKnown(p, nil)
	if err != nil || known.Name != "r1" || len(known.Measured) > 0 || known.Predicted["cost"].Value != 0.5 {
		t.Errorf("by a formula alone it is %+v, %v", known, err)
	}
	// A recipe that failed, by a word of the file, is no best one, and hides no results of the others.
	failed := trialsWithCost(t, "ruined", "  y: {learn: {label: y, maximize: true, failed: [ruined]}}\n", "")
	if known, err = BestKnown(failed, nil); err != nil || known.Name != "r11" || known.Measured["y"].Value != 110 {
		t.Errorf("beside a failure it is %+v, %v", known, err)
	}
	if out := newReportProblem(p); out.Unit != "ml" || out.Whole != 100 {
		t.Errorf("a recipe is %v %s", out.Whole, out.Unit)
	}
}
