package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"kir/internal/compile"
	"kir/internal/config"
)

// questionOn returns the question whose text has the given part, the text of its chosen answer, and its answers by text.
func questionOn(t *testing.T, v *SetupView, part string) (chosen string, answers map[string]answer) {
	t.Helper()
	at := slices.IndexFunc(v.Questions, func(q QuestionView) bool { return strings.Contains(q.Text, part) })
	if at < 0 {
		var texts []string
		for _, q := range v.Questions {
			texts = append(texts, q.Text)
		}
		t.Fatalf("no question has %q: %q, faults %+v", part, texts, v.Faults)
	}
	answers = make(map[string]answer)
	for _, a := range v.Questions[at].Answers {
		answers[a.Text] = a.Send
		if a.Chosen {
			chosen += a.Text
		}
	}
	return chosen, answers
}

// TestBeginAnswersStay: each question stays when it is answered, the other answers stay with it, and each answer is taken
// back by another click: the problem is then what it was.
func TestBeginAnswersStay(t *testing.T) {
	long := "recipe,ingredient,amount,unit,age,liking\n"
	for k := range 9 {
		recipe := string(rune('A' + k))
		long += fmt.Sprintf("%s,%s,3,cl,7,%d\n%[1]s,Bitters,2,dash,%[4]d,%[3]d\n", recipe, []string{"Campari", "Campri", "campari"}[k%3], k, 7+21*(k%2))
	}
	for name, test := range map[string]struct {
		table string
		asks  map[string][2]string // by part of a question: the answer that holds, and another
	}{
		"long": {long, map[string][2]string{
			`Are "Campari" and "Campri" the same?`: {"Two ingredients", "The same"}, `Are "Campari" and "campari" the same?`: {"The same", "Two ingredients"},
			"How much is 1 dash?": {"0.9 ml", "1.8 ml"},
		}},
		"total": {"recipe,ingredient,amount,total\nA,Gin,3,5\nA,Lime,2,5\nB,Gin,4,5\nB,Lime,1,5\nC,Gin,1,6\nC,Lime,5,6\n", map[string][2]string{`"total" is the sum`: {"Left out", "A result"}}},
		"wide": {"recipe,Gin,Lime,oven temperature (°C),pH,stars,liking\nA,60,30,200,5,<1,1\nB,50,30,220,6,2,2\nC,40,40,200,5,3,3\nD,50,30,200,5,3,3\nE,50,30,220,5,3,3\nF,50,20,200,6,3,3\nMean,50,33,208,5,2,2\n", map[string][2]string{
			`Is "Mean" a recipe`: {"Leave it out", "A recipe"}, `"pH": Did you set it`: {"Measured", "Set"}, "oven temperature (°C)\": Did you set": {"Set", "Measured"}, "such as \"<1\"": {"A result", "Left out"}, `"liking" is taken`: {"A result", "Left out"},
		}},
		"turned":  {"Asset,A1,A2,A3\nSn,96.5,,50\nAg,3.5,40,\nPb,,60,50\nSum,100,100,100\n", map[string][2]string{"names the ingredients": {"A column is a recipe", "A row is a recipe"}, `"Sum"`: {"Left out", "A result"}}},
		"decimal": {"recipe,Gin,Rum\nA,\"1,500\",\"2,000\"\nB,\"2,500\",\"1,000\"\n", map[string][2]string{"comma": {"The decimal mark is the point", "The decimal mark is the comma"}}},
		"letters": {"recipe,Gin,Rum\nM\xfcller,1,2\nB,2,3\n", map[string][2]string{"Are all letters right?": {"Western (Windows)", "Cyrillic (Windows)"}}},
	} {
		c := newBeginner(t, SetupOptions{})
		first := c.gives("bar.csv", test.table)
		for part, want := range test.asks {
			before, answers := questionOn(t, first, part)
			if before != want[0] {
				t.Errorf("%s, %s: %q holds, want %q", name, part, before, want[0])
			}
			if want[1] == "" {
				continue
			}
			after := c.says(answers[want[1]])
			if chosen, _ := questionOn(t, after, part); chosen != want[1] {
				t.Errorf("%s, %s: after the click %q holds, want %q", name, part, chosen, want[1])
			}
			if after.Text == first.Text {
				t.Errorf("%s, %s: %q changes nothing of the problem", name, part, want[1])
			}
			for other, wants := range test.asks {
				if other != part && part != "names the ingredients" {
					if chosen, _ := questionOn(t, after, other); chosen != wants[0] {
						t.Errorf("%s: when %s is answered, %q holds of %s, want %q", name, part, chosen, other, wants[0])
					}
				}
			}
			back := answers[want[0]]
			again := c.says(back)
			if chosen, _ := questionOn(t, again, part); chosen != want[0] {
				t.Errorf("%s, %s: taken back %q holds, want %q", name, part, chosen, want[0])
			}
		}
	}
}

// TestBeginKeepsObjectives: what is to be optimised stays when a column, a condition or the ingredients are settled, and
// the usual objective is there again where no result that was chosen is.
func TestBeginKeepsObjectives(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	c.gives("bar.csv", "recipe,Gin,Lime,haze,pH,liking\nA,60,40,2,5,1\nB,50,50,3,6,2\nC,40,60,4,5,3\nD,55,45,5,5,3\nE,45,55,6,5,3\nF,50,50,7,6,3\n")
	c.says(answer{Do: "goal", Name: "liking"})
	c.says(answer{Do: "goal", Name: "haze", Objective: compile.DraftObjective{Direction: config.Minimize}})
	for _, a := range []answer{{Do: "set", Name: "pH", On: true}, {Do: "column", Name: "liking", Value: "label"}} {
		if v := c.says(a); !strings.Contains(v.Text, "\n  haze: {learn: {label: haze, minimize: true}}") {
			t.Errorf("after %+v the problem is\n%s", a, v.Text)
		}
	}
	if v := c.says(answer{Do: "column", Name: "haze", Value: "ignore"}); !strings.Contains(v.Text, "\n  liking: {learn") {
		t.Errorf("without haze the problem is\n%s", v.Text)
	}
	if v := c.says(answer{Do: "column", Name: "haze", Value: "label"}); !strings.Contains(v.Text, "\n  haze: {learn: {label: haze, minimize: true}}") {
		t.Errorf("with haze again the problem is\n%s", v.Text)
	}
}

// TestBeginOffersSheet: a sheet of prices is offered by name with its columns and used after a click, when a name that
// nearly matches is settled; both are taken back. Answers about a sheet are there when it is shown again.
func TestBeginOffersSheet(t *testing.T) {
	f := excelize.NewFile()
	for sheet, rows := range map[string][][]any{
		"Sheet1": {{"Drink", "Ingredient", "Amount", "Unit"}, {"A", "Gin", 3, "cl"}, {"A", "Lime", 1, "cl"}, {"A", "Angostura", 2, "dash"}, {"B", "Gin", 2, "cl"}, {"B", "Lime", 3, "cl"}},
		"Prices": {{"Ingredient", "EUR/l"}, {"Gin", 30}, {"Lime", 4}, {"Angostura bitters", 80}},
		"Old":    {{"Drink", "Ingredient", "Amount", "Unit"}, {"X", "Gin", 3, "cl"}, {"X", "Rum", 1, "cl"}},
	} {
		if _, err := f.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for k, row := range rows {
			if err := f.SetSheetRow(sheet, fmt.Sprint("A", k+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	c := newBeginner(t, SetupOptions{})
	v := c.gives("bar.xlsx", b.String())
	if strings.Contains(v.Text, "\ningredients:") || len(v.Tables) != 1 || !strings.Contains(strings.Join(v.Notes, "\n"), `Sheet "Prices" lists 2 of 3 ingredients, with "EUR/l"; it lacks "Angostura".`) {
		t.Fatalf("unasked it says %q and writes\n%s", v.Notes, v.Text)
	}
	const near, offer = `Is "Angostura" the "Angostura bitters" of sheet "Prices"?`, `Sheet "Prices" lists all 3 ingredients, with "EUR/l".`
	chosen, answers := questionOn(t, v, near)
	if chosen != "Two ingredients" {
		t.Errorf("of the names %q holds", chosen)
	}
	apart := answers["Two ingredients"]
	v = c.says(answers["The same"])
	chosen, answers = questionOn(t, v, offer)
	if chosen != "Leave it out" || strings.Contains(v.Text, "\ningredients:") || !strings.Contains(v.Text, "\n# ingredients: {file: bar.xlsx, sheet: Prices}") {
		t.Errorf("of the sheet %q holds; the problem is\n%s", chosen, v.Text)
	}
	v = c.says(answers["Use it"])
	if chosen, _ = questionOn(t, v, offer); chosen != "Use it" || len(v.Tables) != 2 || !strings.Contains(v.Text, "\ningredients: {file: bar.xlsx, sheet: Prices}") || !strings.Contains(v.Text, "limit: {attribute: EUR/l") {
		t.Errorf("of the sheet %q holds; the problem is\n%s", chosen, v.Text)
	}
	_, sizes := questionOn(t, v, "How much is 1 dash?")
	v = c.says(sizes["1.8 ml"])
	used := v.Text
	if !strings.Contains(used, `units: {dash: "1.8 ml"}`) || !strings.Contains(used, "\ningredients:") {
		t.Errorf("the problem is\n%s", used)
	}
	for range 2 {
		if v = c.says(answer{Do: "sheet", Value: "None"}); v.Ready || len(v.Faults) == 0 {
			t.Errorf("of no sheet the problem is\n%s", v.Text)
		}
	}
	if v = c.says(answer{Do: "sheet", Value: "Sheet1"}); v.Text != used {
		t.Errorf("after a sheet that is not there the problem is\n%s\nand was\n%s", v.Text, used)
	}
	if v = c.says(answer{Do: "sheet", Value: "Old"}); strings.Contains(v.Text, "dash") || !strings.Contains(v.Summary, "1 recipe") {
		t.Errorf("of the other sheet the problem is\n%s", v.Text)
	}
	if v = c.says(answer{Do: "sheet", Value: "Sheet1"}); v.Text != used {
		t.Errorf("when the first sheet is shown again the problem is\n%s\nand was\n%s", v.Text, used)
	}
	// Without the name the sheet lacks an ingredient, so it is not used until the name is settled again.
	if v = c.says(apart); !v.Ready || strings.Contains(v.Text, "\ningredients:") {
		t.Errorf("with two names the problem is\n%s\n%+v", v.Text, v.Faults)
	}
	_, answers = questionOn(t, v, near)
	if v = c.says(answers["The same"]); v.Text != used {
		t.Errorf("with one name again the problem is\n%s", v.Text)
	}
	_, answers = questionOn(t, v, offer)
	if v = c.says(answers["Leave it out"]); strings.Contains(v.Text, "\ningredients:") || len(v.Tables) != 1 {
		t.Errorf("without the sheet the problem is\n%s", v.Text)
	}
	c.says(answers["Use it"])
	if status, text := c.goes(); status != http.StatusOK {
		t.Errorf("it says %d, %s", status, text)
	}
}

// TestBeginOffersAsides: prices that stand in the table itself are offered, and written beside it as a table of the
// ingredients after a click.
func TestBeginOffersAsides(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	v := c.gives("bar.csv", "Ingredient;A;B;C;EUR/kg\nGin;60;50;40;12,5\nLime;10;30;20;4\nSoda;30;20;40;1,25\n")
	const offer = `The column "EUR/kg" describes the ingredients.`
	chosen, answers := questionOn(t, v, offer)
	if chosen != "Leave it out" || strings.Contains(v.Text, "\ningredients:") || len(v.Tables) != 1 {
		t.Errorf("unasked %q holds; the problem is\n%s", chosen, v.Text)
	}
	v = c.says(answers["Use it"])
	if chosen, _ = questionOn(t, v, offer); chosen != "Use it" || len(v.Tables) != 2 || !strings.Contains(v.Text, "\ningredients: {file: ingredients.csv, decimal: point}") {
		t.Errorf("%q holds; the problem is\n%s", chosen, v.Text)
	}
	if v = c.says(answers["Leave it out"]); strings.Contains(v.Text, "\ningredients:") {
		t.Errorf("taken back the problem is\n%s", v.Text)
	}
	v = c.says(answers["Use it"])
	if status, text := c.goes(); status != http.StatusOK {
		t.Fatalf("it says %d, %s", status, text)
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(v.ProblemPath), "ingredients.csv")); err != nil || string(text) != "name,EUR/kg\nGin,12.5\nLime,4\nSoda,1.25\n" {
		t.Errorf("it wrote %q, %v", text, err)
	}
}

// TestBeginOffersDilutions: ingredients that are dilutions are offered, and their constituents written beside the problem
// as a table after a click.
func TestBeginOffersDilutions(t *testing.T) {
	const table = "recipe,Ambroxan 10 % in DPG,Hedione,DPG\nA,20,50,30\nB,10,60,30\nC,30,50,20\n"
	const offer = `The ingredient "Ambroxan 10 % in DPG" is a dilution. Use a table of what dilutions consist of (constituents)?`
	for name, file := range map[string]string{"bar.csv": "constituents.csv", "constituents.csv": "constituents-2.csv"} {
		c := newBeginner(t, SetupOptions{})
		v := c.gives(name, table)
		chosen, answers := questionOn(t, v, offer)
		if chosen != "Leave it out" || strings.Contains(v.Text, "constituents:") {
			t.Errorf("unasked %q holds; the problem is\n%s", chosen, v.Text)
		}
		v = c.says(answers["Use it"])
		if chosen, _ = questionOn(t, v, offer); chosen != "Use it" || !strings.Contains(v.Text, "\n  - constituents: {file: "+file+"} # ") || !strings.Contains(v.Text, "\n#   - limit: {attribute: DPG, max: ") {
			t.Errorf("%q holds; the problem is\n%s", chosen, v.Text)
		}
		if v = c.says(answers["Leave it out"]); strings.Contains(v.Text, "constituents:") {
			t.Errorf("taken back the problem is\n%s", v.Text)
		}
		v = c.says(answers["Use it"])
		if status, text := c.goes(); status != http.StatusOK {
			t.Fatalf("it says %d, %s", status, text)
		}
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(v.ProblemPath), file)); err != nil || string(text) != "ingredient,constituent,share\nAmbroxan 10 % in DPG,Ambroxan,0.1\nAmbroxan 10 % in DPG,DPG,0.9\nDPG,DPG,1\n" {
			t.Errorf("it wrote %q, %v", text, err)
		}
	}
}
