package view

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
	"kir/internal/testonly/golden"
)

// madeOf reads what package assemble makes of its problem.
func madeOf[T any](t *testing.T, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "assemble", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	made := new(T)
	if err := json.Unmarshal(data, made); err != nil {
		t.Fatal(err)
	}
	return made
}

// What is shown of given figures is what it was, to the last letter and line: as text,
// as tables, and on the page, pictures and all.
func TestShownAsBefore(t *testing.T) {
	m := madeOf[report.Model](t, "summary.json")
	var b bytes.Buffer
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, style := range []terminal.Style{{}, {Color: true}, {ASCII: true}} {
		must(Text(&b, m, "runs/it", style))
		b.WriteString("----\n")
	}
	must(Shortlist(&b, m.Best[:2], m, terminal.Style{}))
	must(Scorecard(&b, madeOf[report.Scorecard](t, "scores.json"), terminal.Style{}))
	must(Check(&b, madeOf[report.Check](t, "check.json")))
	long := madeOf[report.Check](t, "check.json")
	for len(long.Sizes) < 40 {
		long.Sizes = append(long.Sizes, long.Sizes...)
	}
	must(Check(&b, long))
	must(Training(&b, madeOf[report.Training](t, "forest.json")))
	weighing := madeOf[report.Weighing](t, "weighing.json")
	for k := range weighing.Rows { // which JSON has as numbers
		r := &weighing.Rows[k]
		r.ExactText, r.PercentText = number.FourFigures(r.Exact), number.FourFigures(r.Percent)
	}
	must(Weighing(&b, weighing, terminal.Style{}))
	other := madeOf[report.Model](t, "summary.json")
	other.Again.Problem, other.Best = "total: 100\n", slices.Concat(other.Best[1:], other.Best[:1])
	other.Best[0].Recipe = map[string]int{"Gin": 60, "Syrup": 40}
	for k := range other.Inclusion {
		other.Inclusion[k].Probability *= report.Number(1 - float64(k)/20)
	}
	must(Difference(&b, report.Compare("a", m, "b", other), terminal.Style{}))
	ingredients, err := dataset.ReadIngredientsFile(t.Context(), "../assemble/testdata/shelf.csv", dataset.Layout{})
	must(err)
	recipes, figures := Sheets(m.Best, m, report.NewIngredientOrder(ingredients, "", ""))
	for _, s := range []*sheet.Sheet{recipes, figures, JoinSheets(recipes, figures), ScoreSheet(madeOf[report.Scorecard](t, "scores.json")), WeighingSheet(weighing)} {
		must(sheet.WriteCSV(&b, s))
	}
	golden.Compare(t, "testdata/text.txt", b.Bytes())

	b.Reset()
	must(Page(&b, m))
	must(WeighingPage(&b, weighing))
	// What is not made of the figures is compared by its files.
	page := regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>|<meta [^>]*>`).ReplaceAll(b.Bytes(), nil)
	golden.Compare(t, "testdata/page.html", regexp.MustCompile(`(<(?:path|rect|circle|text|tr|section|h2|h3|p)[ >])`).ReplaceAll(page, []byte("\n$1")))
}
