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

// lowerBoundSuffix and upperBoundSuffix end the headings of the columns with the bounds of an
// interval.
const lowerBoundSuffix, upperBoundSuffix = ", 90 % from", ", 90 % to"

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
			if strings.HasSuffix(head, upperBoundSuffix) {
				continue // it is in the column of the interval's lower bound
			}
			heads = append(heads, terminal.EscapeControls(strings.Replace(head, lowerBoundSuffix, ", 90 %", 1)))
			switch v := c.(type) {
			case nil:
				c = ""
			case float64:
				if c = number.FourFigures(v); strings.HasSuffix(head, lowerBoundSuffix) {
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
	p.Heading("Rules that are broken")
	broken, seen := false, false
	for _, r := range c.Recipes {
		seen = seen || r.OutOfBag
		for _, b := range r.Broken {
			broken = true
			p.WrappedHanging(2, terminal.EscapeControls(clipName(r.Recipe)+": "+breachText(b)))
		}
	}
	if !broken {
		p.Line("  none")
	}
	if seen {
		p.Line("")
		p.Line("Recipes in the book are scored by models that have not seen them.")
	}
	writeWarnings(p, c.Warnings)
	writeProperties(p, c.Properties)
	return p.Err
}

// predictedObjectives returns the names of the objectives that a model predicts, and an example of
// a prediction for each.
func predictedObjectives(c *report.Scorecard) (names []string, like map[string]report.Prediction) {
	like = make(map[string]report.Prediction)
	for _, w := range c.Properties {
		for _, r := range c.Recipes {
			if q, ok := r.Predicted[w.Name]; ok {
				names = append(names, w.Name)
				like[w.Name] = q
				break
			}
		}
	}
	return names, like
}

// predictionHeadings returns the column headings for predictions of an objective. The parameter
// like is an example of such a prediction.
func predictionHeadings(name string, like report.Prediction) []any {
	if like.Class != "" {
		name += " " + like.Class
	}
	head := []any{valueHeading(name, like.Unit)}
	if like.Expected != nil {
		head = append(head, valueHeading(name+", expected", like.Unit))
	}
	if like.Low.IsKnown() {
		head = append(head, name+lowerBoundSuffix, name+upperBoundSuffix)
	}
	return head
}

// predictionCells returns the table cells of a prediction, in the order of [predictionHeadings].
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

// breachText names a broken constraint and says by how much it is broken.
func breachText(b report.Breach) string {
	if b.What != "" && b.Value.IsKnown() && b.Bound.IsKnown() {
		way := "at most"
		if b.Value < b.Bound {
			way = "at least"
		}
		value, bound := number.Distinct(float64(b.Value), float64(b.Bound), 4)
		return b.Rule + ": " + strings.TrimSpace(clipName(b.What)+" is "+value+" "+b.Unit) + ", " + way + " " + bound
	}
	if b.Unit == "" || !b.Value.IsKnown() || !b.Bound.IsKnown() {
		return b.Rule
	}
	value, off := boundedText(b.Value, b.Unit, 4), boundedText(report.Number(math.Abs(float64(b.Value-b.Bound))), b.Unit, 3)
	way := "too much"
	if b.Value < b.Bound {
		way = "too little"
	}
	switch {
	case b.Ingredient != "":
		value = clipName(b.Ingredient) + " has " + unitsText(value)
	case b.Unit == "units":
		value = unitsText(value)
	case b.Unit == "ingredients":
		value += " used"
		way = strings.NewReplacer("much", "many", "little", "few").Replace(way)
	default:
		value = b.Unit + " " + value
	}
	return b.Rule + ": " + value + ", " + off + " " + way
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
	s.AddRow(append(head, "in the book", "rules broken")...)
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
			broken = append(broken, breachText(b))
		}
		s.AddRow(append(row, r.Book, strings.Join(broken, "; "))...)
	}
	return s
}
