package view

import (
	"slices"
	"strconv"

	"kir/internal/dataset/sheet"
	"kir/internal/number"
	"kir/internal/report"
)

// Sheets returns a shortlist as two tables. The table recipes has a column for each entry and a row
// for each ingredient, with amounts in percent of the total. The table figures has a row for each
// entry and columns for scores, predictions and distances.
func Sheets(list []report.Best, m *report.Model, r report.IngredientOrder) (recipes, figures *sheet.Sheet) {
	sums := make(map[string]int)
	for _, b := range list {
		for name, amount := range b.Recipe {
			sums[name] += amount
		}
	}
	var all []report.Part
	for name, sum := range sums {
		all = append(all, report.Part{Ingredient: name, Amount: sum})
	}
	r.Order(all)
	recipes = &sheet.Sheet{Name: "recipes, percent"}
	head := []any{"ingredient", "group"}
	total := []any{"total", nil}
	for k := range list {
		head = append(head, "recipe "+strconv.Itoa(k+1))
		total = append(total, 100)
	}
	recipes.AddRow(head...)
	percents := make([]map[string]sheet.Decimal, len(list))
	for k, b := range list {
		percents[k] = sheetPercents(b, m.Problem.Total)
	}
	for _, p := range all {
		row := []any{p.Ingredient, r.GroupOf(p.Ingredient)}
		for _, of := range percents {
			if percent, ok := of[p.Ingredient]; ok {
				row = append(row, percent)
			} else {
				row = append(row, nil)
			}
		}
		recipes.AddRow(row...)
	}
	recipes.AddRow(total...)
	for _, c := range m.Problem.Conditions {
		row := []any{c.Name, c.Unit}
		for _, b := range list {
			row = append(row, b.Conditions[c.Name])
		}
		recipes.AddRow(row...)
	}
	return recipes, newFiguresSheet(list, m, r)
}

// extraPercentDigits is the number of digits added to percentages in a spreadsheet that cannot be
// written exactly.
const extraPercentDigits = 4

// sheetPercents returns a map from the name of an ingredient to its amount in percent, for a
// spreadsheet. The parameter total is the number of units of a recipe.
func sheetPercents(b report.Best, total int) map[string]sheet.Decimal {
	a := number.Percentages(total)
	a.MinDigits += extraPercentDigits
	parts := b.Parts()
	units := make([]int, len(parts))
	for k, p := range parts {
		units[k] = p.Amount
	}
	percents := make(map[string]sheet.Decimal, len(parts))
	for k, text := range a.Write(units) {
		percents[parts[k].Ingredient] = sheet.Decimal(number.Trim(text))
	}
	return percents
}

// newFiguresSheet returns a table with a row for each entry of the shortlist, and columns for
// scores, predictions and distances.
func newFiguresSheet(list []report.Best, m *report.Model, r report.IngredientOrder) *sheet.Sheet {
	s := &sheet.Sheet{Name: "figures"}
	head := []any{"recipe", "ingredients", "score"}
	var wishes, numbers []string
	for _, w := range m.Properties {
		if len(w.Values) > 0 {
			continue // its value in its own unit says more
		}
		wishes = append(wishes, w.Name)
		head = append(head, "score of "+w.Name)
	}
	for _, w := range wishes {
		if len(list) > 0 && list[0].Predicted[w] != (report.Prediction{}) {
			numbers = append(numbers, w)
			head = append(head, predictionHeadings(w, list[0].Predicted[w])...)
		}
	}
	for _, w := range m.Properties {
		for _, name := range w.Values {
			if len(list) > 0 {
				head = append(head, valueHeading(name, list[0].Values[name].Unit))
			}
		}
	}
	head = append(head, "apart", "known", "extrapolates", "nearest", "distance of nearest")
	if r.Cost != nil {
		head = append(head, "mean "+r.Cost.Name)
	}
	s.AddRow(head...)
	for k, b := range list {
		row := []any{k + 1, len(b.Recipe), numberCell(b.Score)}
		for _, w := range wishes {
			row = append(row, numberCell(b.Scores[w]))
		}
		for _, w := range numbers {
			row = append(row, predictionCells(b.Predicted[w])...)
		}
		for _, w := range m.Properties {
			for _, name := range w.Values {
				row = append(row, numberCell(b.Values[name].Value))
			}
		}
		nearest, distance := any(nil), any(nil)
		if len(b.Nearest) > 0 {
			nearest, distance = b.Nearest[0].Recipe, numberCell(b.Nearest[0].Distance)
		}
		row = append(row, numberCell(b.Apart), yesOrNo(b.Known), yesOrNo(b.Extrapolates), nearest, distance)
		if r.Cost != nil {
			mean := 0.0
			for _, p := range b.Parts() { // in a fixed order, so that the sum is always the same
				mean += r.CostOf(p.Ingredient) * float64(p.Amount) / float64(m.Problem.Total)
			}
			row = append(row, numberCell(report.Number(mean)))
		}
		s.AddRow(row...)
	}
	return s
}

// numberCell returns a number rounded to six digits as a table cell; nil if the number is unknown.
func numberCell(v report.Number) any {
	if !v.IsKnown() {
		return nil
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', 6, 64), 64)
	if err != nil {
		return float64(v)
	}
	return short
}

// yesOrNo returns "yes" or "no" for a table cell.
func yesOrNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// JoinSheets joins the two tables of [Sheets] to one table with a column for each entry. The
// columns of the table figures become rows below the rows of the table recipes.
func JoinSheets(recipes, figures *sheet.Sheet) *sheet.Sheet {
	s := &sheet.Sheet{Name: recipes.Name, Rows: slices.Clone(recipes.Rows)}
	for k := 1; k < len(figures.Rows[0]); k++ {
		row := []any{figures.Rows[0][k], "figure"}
		for _, of := range figures.Rows[1:] {
			row = append(row, of[k])
		}
		s.AddRow(row...)
	}
	return s
}
