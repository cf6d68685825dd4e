package view

import (
	"fmt"
	"io"
	"math"
	"strings"

	"kir/internal/dataset/sheet"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// lowerBoundHeadingSuffix and upperBoundHeadingSuffix are the ends of the headings of the columns
// with the lower and the upper ends of intervals.
const lowerBoundHeadingSuffix, upperBoundHeadingSuffix = ", 90 % from", ", 90 % to"

// Scorecard writes the scores of given recipes as text.
func Scorecard(w io.Writer, c *report.Scorecard, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	rows := ScoreSheet(c).Rows
	var t *terminal.Table
	for r, row := range rows {
		var cells []any
		var heads []string
		for k, c := range row[:len(row)-1] { // the rules broken follow below
			head := rows[0][k].(string)
			if strings.HasSuffix(head, upperBoundHeadingSuffix) {
				continue // it is in the column of the interval's lower bound
			}
			heads = append(heads, terminal.EscapeControls(strings.Replace(head, lowerBoundHeadingSuffix, ", 90 % range", 1)))
			switch v := c.(type) {
			case nil:
				c = ""
			case float64:
				if c = number.FourFigures(v); strings.HasSuffix(head, lowerBoundHeadingSuffix) {
					c = fmt.Sprintf("%s–%s", c, number.FourFigures(row[k+1].(float64)))
				}
			}
			cells = append(cells, c)
		}
		if r == 0 {
			t = terminal.NewTable(1, heads...)
			t.SetMaxWidth(0, maxNameLength)
		} else {
			t.Row(cells...)
		}
	}
	p.Table(t)
	p.Heading("Broken constraints")
	broken, seen := false, false
	for _, r := range c.Recipes {
		seen = seen || r.OutOfBag
		for _, b := range r.Broken {
			broken = true
			p.WrappedHanging(2, terminal.EscapeControls(shortenName(r.Recipe)+": "+breachText(b, c.Problem.Total)))
		}
	}
	if !broken {
		p.Line("  none")
	}
	if seen {
		p.Line("")
		p.Line("Your known recipes are judged by models that have not seen them (held out).")
	}
	writeWarnings(p, c.Warnings)
	writeProperties(p, c.Properties, false)
	return p.Err
}

// predictedObjectives returns the names of the objectives that models predict. The result examples
// maps each name to the prediction for one of the recipes.
func predictedObjectives(c *report.Scorecard) (names []string, examples map[string]report.Prediction) {
	examples = make(map[string]report.Prediction)
	for _, w := range c.Properties {
		for _, r := range c.Recipes {
			if q, ok := r.Predicted[w.Name]; ok {
				names = append(names, w.Name)
				examples[w.Name] = q
				break
			}
		}
	}
	return names, examples
}

// predictionHeadings returns the headings of the table columns for predictions of an objective. The
// parameter example is such a prediction; it shows which columns are needed.
func predictionHeadings(name string, example report.Prediction) []any {
	heading := "predicted " + name
	if example.Class != "" {
		name = "chance of " + name + " " + example.Class
		heading = name
	}
	head := []any{valueHeading(heading, example.Unit)}
	if example.Expected != nil {
		head = append(head, valueHeading(name+", expected", example.Unit))
	}
	if example.Low.IsKnown() {
		head = append(head, name+lowerBoundHeadingSuffix, name+upperBoundHeadingSuffix)
	}
	return head
}

// predictionCells returns the table cells of a prediction, for the columns of [predictionHeadings].
func predictionCells(q report.Prediction) []any {
	cells := []any{numberCell(q.Value)}
	if q.Expected != nil {
		cells = append(cells, numberCell(*q.Expected))
	}
	if q.Low.IsKnown() {
		cells = append(cells, numberCell(q.Low), numberCell(q.High))
	}
	return cells
}

// breachText names a broken constraint and says how far the recipe is from the bound. A recipe has
// total units.
func breachText(b report.Breach, total int) string {
	if b.What != "" && b.Value.IsKnown() && b.Bound.IsKnown() {
		way := "at most"
		if b.Value < b.Bound {
			way = "at least"
		}
		value, bound := number.Distinct(float64(b.Value), float64(b.Bound), 4)
		return b.Rule + ", here: " + strings.TrimSpace(shortenName(b.What)+" is "+value+" "+b.Unit) + ", " + way + " " + bound
	}
	if b.Unit == "" || !b.Value.IsKnown() || !b.Bound.IsKnown() {
		return b.Rule
	}
	value, off := constraintNumberText(b.Value, b.Unit, total, 4), constraintNumberText(report.Number(math.Abs(float64(b.Value-b.Bound))), b.Unit, total, 3)
	way := "too much"
	if b.Value < b.Bound {
		way = "too little"
	}
	switch {
	case b.Ingredient != "":
		value = shortenName(b.Ingredient) + " has " + value
	case b.Unit == "units":
	case b.Unit == "ingredients":
		value += " used"
		way = strings.NewReplacer("much", "many", "little", "few").Replace(way)
	default:
		value = b.Unit + " " + value
	}
	return b.Rule + ", here: " + value + ", " + off + " " + way
}

// ScoreSheet returns the scores of given recipes as a table.
func ScoreSheet(c *report.Scorecard) *sheet.Sheet {
	s := &sheet.Sheet{Name: "scores"}
	names, like := predictedObjectives(c)
	head := []any{"recipe", "ingredients"}
	for _, of := range c.Problem.Conditions {
		head = append(head, valueHeading(of.Name, of.Unit))
	}
	head = append(head, "score")
	for _, w := range c.Properties {
		if len(w.Values) == 0 {
			head = append(head, "score of "+w.Name)
		}
		for _, name := range w.Values {
			if len(c.Recipes) > 0 {
				head = append(head, valueHeading(name, c.Recipes[0].Values[name].Unit))
			}
		}
	}
	for _, name := range names {
		head = append(head, predictionHeadings(name, like[name])...)
	}
	s.AddRow(append(head, "known as", "rules broken")...)
	for _, r := range c.Recipes {
		row := []any{r.Recipe, r.Used}
		for _, of := range c.Problem.Conditions {
			row = append(row, r.Conditions[of.Name])
		}
		row = append(row, numberCell(r.Score))
		for _, w := range c.Properties {
			if len(w.Values) == 0 {
				row = append(row, numberCell(r.Scores[w.Name]))
			}
			for _, name := range w.Values {
				row = append(row, numberCell(r.Values[name].Value))
			}
		}
		for _, w := range names {
			if q, ok := r.Predicted[w]; ok {
				row = append(row, predictionCells(q)...)
			} else {
				row = append(row, make([]any, len(predictionCells(like[w])))...)
			}
		}
		var broken []string
		for _, b := range r.Broken {
			broken = append(broken, breachText(b, c.Problem.Total))
		}
		s.AddRow(append(row, r.Book, strings.Join(broken, "; "))...)
	}
	return s
}
