package assemble

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/testonly/golden"
)

// weighingSheet is all that a weighing says.
func weighingSheet(w *report.Weighing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s by %s\n", w.Title, w.Batch, w.Unit, w.Step)
	for _, r := range w.Rows {
		fmt.Fprintf(&b, "%s %s: %s, %s in all, exactly %.6g, %.4g %%, costs %.6g\n", r.Group, r.Ingredient, r.Amount, r.RunningSum, r.Exact, r.Percent, r.Cost)
	}
	fmt.Fprintf(&b, "%s, costs %.6g\n%s", w.Sum, w.Cost, strings.Join(w.Notes, "\n"))
	return b.String()
}

// TestWeighing: recipes of volumes, masses and neither are weighed as any of them, and
// what cannot be is told with a way out.
func TestWeighing(t *testing.T) {
	record := golden.Open(t)
	for name, c := range map[string]struct{ recipes, shelf string }{
		"volumes":  {"recipe,ingredient,amount,unit\na,Gin,6,cl\na,Lime,3,cl\nb,Syrup,2,cl\nb,Gin,4,cl\n", "name,kind,cost,density,odd\nLime,juice,2,1.04,1\nGin,spirit,30,0.95,x\nSyrup,sugar,1.5,1.3,0\n"},
		"masses":   {"recipe,ingredient,amount,unit\na,Gin,60,g\na,Lime,30,g\nb,Syrup,2,cl\nb,Gin,4,cl\nc,Lime,4,g\n", "name,cost,density\nLime,2,1.04\nGin,,0.95\nSyrup,1.5,1.3\n"},
		"both":     {"recipe,ingredient,amount,unit\na,Gin,60,g\na,Lime,3,g\nb,Syrup,2,cl\nb,Gin,4,cl\n", "name,density\nLime,1.04\nGin,0.95\nSyrup,1.3\n"},
		"neither":  {"recipe,ingredient,amount\na,Gin,6\na,Lime,3\nb,Syrup,2\nb,Gin,4\n", "name,kind\nLime,juice\nGin,\nSyrup,sugar\n"},
		"no book":  {"", "name,kind\nLime,juice\nGin,spirit\nSyrup,sugar\n"},
		"no shelf": {"recipe,ingredient,amount,unit\na,Gin,6,cl\na,Lime,3,cl\nb,Syrup,2,cl\nb,Gin,4,cl\n", ""},
	} {
		for _, rules := range []string{"", "constraints: [{amount: {of: Gin, min: 45%, max: 60%}}, {amount: {of: Lime, min: 1%}}]\n"} {
			if rules != "" && name != "volumes" {
				continue
			}
			dir, text := t.TempDir(), "total: 200\nsparsity: {uniform: [1, 3]}\n"+rules
			if c.recipes != "" {
				text += "recipes: recipes.csv\n"
			}
			if c.shelf != "" {
				text += "ingredients: shelf.csv\n"
			}
			for file, text := range map[string]string{"recipes.csv": c.recipes, "shelf.csv": c.shelf, "problem.yaml": text} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			o, err := compile.ReadOutline(t.Context(), filepath.Join(dir, "problem.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			rack := report.NewIngredientOrder(o.Attributes, "", "")
			for _, s := range []Scale{
				{Batch: "700 ml", Step: "5"}, {Batch: "700ml", Step: "0,5cl"}, {Batch: "0.7 l", Step: "1", Unit: "ml"}, {Batch: "70 cl", Step: "0.5 cl", Unit: "ml"},
				{Batch: "700 ml", Step: "0.1 g"}, {Batch: "700 ml", Step: "0.5", Unit: "g"}, {Batch: "1.5 kg", Step: "1"}, {Batch: "1.5 kg", Step: "5 ml"},
				{Batch: "30 g", Step: "1 g"}, {Batch: "30 g", Step: "7 g"}, {Batch: "3 g", Step: "2 g"}, {Batch: "1 l", Step: "3 ml"}, {Batch: "100 g", Step: "1 g", Density: "odd"},
				{Batch: "100 ml", Step: "1 g", Density: "odd"}, {Batch: "100 ml", Step: "1 g", Density: "weight"}, {Batch: "100 ml", Step: "1 g", Unit: "ml"}, {Batch: "100 ml", Step: "0"},
				{Batch: "100", Step: "1"}, {Batch: "ml", Step: "1"}, {Batch: "0 ml", Step: "1"}, {Batch: "100 %", Step: "1"}, {Batch: "1 l", Step: "1 dash"}, {Batch: "1 l", Step: "1", Unit: "drops"}, {Batch: "1 l", Step: "1 drop", Unit: "l"},
			} {
				if s.Density == "" {
					s.Density = "density"
				}
				of := fmt.Sprintf("%s, %d rules, %+v", name, len(o.Rules.Rules), s)
				w, err := Weighing(o, report.Best{Recipe: map[string]int{"Gin": 101, "Lime": 66, "Syrup": 33}}, "A sour", rack, s)
				if bad := (*inputerr.Error)(nil); errors.As(err, &bad) {
					record.CheckError(t, of, bad)
				} else if err != nil {
					t.Errorf("%s: %v", of, err)
				} else {
					record.CheckText(t, of, weighingSheet(w))
				}
			}
			if _, err := Weighing(o, report.Best{Recipe: map[string]int{"Rum": 200}}, "", rack, Scale{Batch: "1 l", Step: "1"}); true {
				record.CheckError(t, fmt.Sprintf("%s, %d rules, what is no more", name, len(o.Rules.Rules)), err)
			}
		}
	}
}
