package view

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
	"kir/internal/measure"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/terminal"
	"kir/rule"
)

// randomRecipe divides a total among some of i1 to i12.
func randomRecipe(r *rand.Rand, total int) map[string]int {
	recipe := make(map[string]int)
	parts := 1 + r.IntN(min(total, 8))
	for left := total; parts > 0; parts-- {
		some := left
		if parts > 1 {
			some = 1 + min(r.IntN(left-parts+1), r.IntN(left-parts+1))
		}
		for name := ""; ; {
			if name = fmt.Sprintf("i%d", 1+r.IntN(12)); recipe[name] == 0 {
				recipe[name] = some
				break
			}
		}
		left -= some
	}
	return recipe
}

// readBack reads amounts, in a unit, as kir reads a table of recipes, and returns the units of
// a total.
func readBack(t *testing.T, texts map[string]string, unit string, total int) map[string]int {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Write([]string{"recipe", "ingredient", "amount", "unit"}))
	for name, text := range texts {
		must(w.Write([]string{"it", name, text, unit}))
	}
	w.Flush()
	of, err := dataset.Read(&b, "", dataset.Options{Layout: dataset.Layout{Delimiter: "comma", Decimal: measure.DecimalPoint}})
	must(err)
	units, err := of.Closure(0, total)
	must(err)
	recipe := make(map[string]int)
	for k, p := range of.Recipes[0].Parts {
		recipe[of.Ingredients.Names[p.Ingredient]] = units[k]
	}
	return recipe
}

// checkWritten checks that what was written of a recipe adds up to the whole and is read as
// the same recipe.
func checkWritten(t *testing.T, where string, recipe map[string]int, texts map[string]string, unit, whole string, total int) {
	t.Helper()
	sum := new(big.Rat)
	for name, text := range texts {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s: %q of %s", where, text, name)
		}
		sum.Add(sum, v)
	}
	if want, _ := new(big.Rat).SetString(whole); sum.Cmp(want) != 0 {
		t.Fatalf("%s: %v of %d are written as %v, which add up to %s of %s", where, recipe, total, texts, sum.FloatString(6), whole)
	}
	if back := readBack(t, texts, unit, total); !maps.Equal(back, recipe) {
		t.Fatalf("%s: %v of %d are written as %v, which are read as %v", where, recipe, total, texts, back)
	}
}

// found returns amounts by ingredient: what an expression finds, whose groups are called name
// and amount.
func found(text, expression string) map[string]string {
	re := regexp.MustCompile(expression)
	all := make(map[string]string)
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		all[m[re.SubexpIndex("name")]] = m[re.SubexpIndex("amount")]
	}
	return all
}

// tableAmounts returns the amounts of a row of a table.
func tableAmounts(t *testing.T, s *sheet.Sheet, row int) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := sheet.WriteCSV(&b, s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for k, name := range rows[0] {
		if strings.HasPrefix(name, "i") && name != "id" && rows[row][k] != "" {
			all[name] = rows[row][k]
		}
	}
	return all
}

// TestRecipesAreReadBack: whatever kir prints of a recipe, its amounts add up to the whole that
// is printed, and kir reads them as the recipe that it is: in campaigns and batches, shortlists
// and trade-offs, on the pages, in tables and on weighing sheets.
func TestRecipesAreReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	totals := []int{3, 7, 30, 64, 100, 200, 400, 960, 1000, 10_000, 12_345}
	measures := []campaign.Measure{{Unit: "%", WholeAmount: "100"}, {Unit: "cl", WholeAmount: "13.25"}, {Unit: "ml", WholeAmount: "200"}, {Unit: "g", WholeAmount: "1.5"}, {Unit: "oz", WholeAmount: "4.75"}, {Unit: "part", WholeAmount: "12"}, {WholeAmount: "7"}}
	const number = `(?P<amount>[0-9.]+)`
	for range 60 {
		total, m := totals[r.IntN(len(totals))], measures[r.IntN(len(measures))]
		recipes := []map[string]int{randomRecipe(r, total), randomRecipe(r, total), randomRecipe(r, total)}
		unit := regexp.QuoteMeta(m.Unit)

		// What was tried needs as many places as it needs, whatever the batch does.
		best := &campaign.Best{ID: "start", Recipe: recipes[0], Measured: map[string]float64{"liking": 60}, Trials: 1}
		standing := &campaign.Standing{Total: total, Measure: m, Best: best}
		batch := &campaign.Batch{Total: total, Measure: m, Best: best, Entries: []campaign.Entry{{ID: "3-1", Recipe: recipes[1]}, {ID: "3-2", Recipe: recipes[2]}}}
		var text, page, next bytes.Buffer
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(Standing(&text, standing, terminal.Style{}))
		must(StandingPage(&page, standing))
		must(Batch(&next, batch, terminal.Style{}))
		inLine := `(?P<name>i[0-9]+) ` + number + ` ?` + unit + `([ ,<]|$)`
		for where, printed := range map[string]string{"kir campaign": text.String(), "its page": page.String(), "kir next": next.String()} {
			_, line, _ := strings.Cut(html.UnescapeString(printed), "Best so far: ")
			line, _, _ = strings.Cut(line, "recipes tried")
			line, _, _ = strings.Cut(strings.Join(strings.Fields(line), " "), "3-1")
			checkWritten(t, where, recipes[0], found(line, inLine), m.Unit, m.WholeAmount, total)
		}
		for k, of := range strings.Split(next.String(), "\n3-")[1:] {
			checkWritten(t, "a batch", recipes[1+k], found(of, `(?m)^ +`+number+` `+unit+` +(?P<name>i[0-9]+)\b`), m.Unit, m.WholeAmount, total)
			s, err := batch.Sheet(names12())
			must(err)
			checkWritten(t, "its table", recipes[1+k], tableAmounts(t, s, 1+k), m.Unit, m.WholeAmount, total)
		}

		model := &report.Model{Problem: report.Problem{Total: total}}
		front := &report.Tradeoff{Found: 3, Objectives: []report.Objective{{Name: "cost"}}}
		for k, recipe := range recipes {
			model.Best = append(model.Best, report.Best{Recipe: recipe})
			front.Front = append(front.Front, report.FrontPoint{Index: k + 1, Recipe: recipe, Values: map[string]report.Value{"cost": {Value: 1}}})
		}
		text.Reset()
		must(Shortlist(&text, model.Best, model, terminal.Style{}))
		shortlist, _ := Sheets(model.Best, model, report.IngredientOrder{})
		for k, of := range strings.Split(text.String(), "\n\n") {
			checkWritten(t, "kir show", recipes[k], found(of, `(?m)^ +`+number+` %  (?P<name>i[0-9]+)`), "%", "100", total)
		}
		for k := range recipes {
			b := model.Best[k]
			checkWritten(t, "kir tradeoff", recipes[k], found(recipeText(b.Parts(), total), `(?P<name>i[0-9]+) `+number+` %`), "%", "100", total)
			figure := compositionFigure(model, "best", "A recipe", &b, shortlistColours(model, model.Best))
			checkWritten(t, "a bar", recipes[k], found(figure.Text, `(?P<name>i[0-9]+) `+number+` %`), "%", "100", total)
			column := make(map[string]string)
			for _, row := range shortlist.Rows[1 : len(shortlist.Rows)-1] {
				if v, ok := row[2+k].(sheet.Decimal); ok {
					column[row[0].(string)] = string(v)
				}
			}
			checkWritten(t, "the table", recipes[k], column, "%", "100", total)
			cards := (&pageView{Model: model}).newCards(model.Best, shortlistColours(model, model.Best))
			shown := make(map[string]string)
			for _, s := range cards[k].Swatch {
				shown[s.Ingredient] = strings.TrimSuffix(s.Text, " %")
			}
			checkWritten(t, "the page", recipes[k], shown, "%", "100", total)
		}

		outline := &compile.Outline{Total: total, Ingredients: names12(), Rules: rule.Set{Ingredients: 12, Total: total}}
		sheet, err := assemble.Weighing(outline, model.Best[0], "It", report.IngredientOrder{}, assemble.Scale{Batch: "100 g", Step: "0.0001"})
		must(err)
		amounts, exact, percents := make(map[string]string), make(map[string]string), make(map[string]string)
		for _, row := range sheet.Rows {
			amounts[row.Ingredient], exact[row.Ingredient], percents[row.Ingredient] = row.Amount, row.ExactText, row.PercentText
		}
		checkWritten(t, "a weighing sheet", recipes[0], amounts, "g", sheet.Sum, total)
		checkWritten(t, "what is to be weighed", recipes[0], exact, "g", "100", total)
		checkWritten(t, "its percentages", recipes[0], percents, "%", "100", total)
		if last := sheet.Rows[len(sheet.Rows)-1].RunningSum; last != sheet.Sum {
			t.Fatalf("the scale ends at %s, and the sum is %s", last, sheet.Sum)
		}
	}
}

// names12 are the ingredients of random recipes.
func names12() (names []string) {
	for k := range 12 {
		names = append(names, fmt.Sprintf("i%d", 1+k))
	}
	return names
}

// TestUnitsOfRules: units that a rule bounds are written whole, however many they are.
func TestUnitsOfRules(t *testing.T) {
	b := report.Breach{Rule: "i1: at most 12.34 %", Ingredient: "i1", Unit: "units", Value: 13579, Bound: 12340}
	if got, want := breachText(b, 100000), "i1: at most 12.34 %, here: i1 has 13.579 %, 1.239 % too much"; got != want {
		t.Errorf("a broken rule is %q, not %q", got, want)
	}
	s := report.Slack{Value: 12344, Min: report.UnknownNumber(), Max: 13579, Unit: "units", Room: 1235}
	if got, want := slackText(s, 100000), "12.344 %, 1.235 % to spare"; got != want {
		t.Errorf("a kept rule is %q, not %q", got, want)
	}
	s.Unit, s.Value, s.Room = "abv", 12.34567, 1.5
	if got := slackText(s, 100000); got != "abv 12.35, 1.5 to spare" {
		t.Errorf("a mean is %q", got)
	}
}
