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

// from90 and to90 end the names of the columns of an interval's bounds.
const from90, to90 = ", 90 % from", ", 90 % to"

// Scorecard writes the scores of given recipes.
func Scorecard(w io.Writer, c *report.Scorecard, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	rows := ScoreSheet(c).Rows
	var t *terminal.Table
	for r, row := range rows {
		var cells []any
		var heads []string
		for k, c := range row[:len(row)-1] { // the rules broken follow below
			head := rows[0][k].(string)
			if strings.HasSuffix(head, to90) {
				continue // it is in the column of the interval's lower bound
			}
			heads = append(heads, terminal.Plain(strings.Replace(head, from90, ", 90 %", 1)))
			switch v := c.(type) {
			case nil:
				c = ""
			case float64:
				if c = number.FourFigures(v); strings.HasSuffix(head, from90) {
					c = fmt.Sprintf("%s–%s", c, number.FourFigures(row[k+1].(float64)))
				}
			}
			cells = append(cells, c)
		}
		if r == 0 {
			t = terminal.NewTable(1, heads...)
			t.SetMaxWidth(0, mostNamed)
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
			p.Hanging(2, terminal.Plain(clipName(r.Recipe)+": "+breachText(b)))
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

// predictedObjectives returns the objectives that a model predicts, and a prediction for each.
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

// predictionHead returns the column heads for predictions like a given one.
func predictionHead(name string, like report.Prediction) []any {
	if like.Class != "" {
		name += " " + like.Class
	}
	head := []any{valueHead(name, like.Unit)}
	if like.Expected != nil {
		head = append(head, valueHead(name+", expected", like.Unit))
	}
	if like.Low.Known() {
		head = append(head, name+from90, name+to90)
	}
	return head
}

// predictionCells returns the cells of a prediction.
func predictionCells(q report.Prediction) []any {
	cells := []any{cell(q.Value)}
	if q.Expected != nil {
		cells = append(cells, cell(*q.Expected))
	}
	if q.Low.Known() {
		cells = append(cells, cell(q.Low), cell(q.High))
	}
	return cells
}

// breachText names a broken constraint and the amount of the breach.
func breachText(b report.Breach) string {
	if b.What != "" && b.Value.Known() && b.Bound.Known() {
		way := "at most"
		if b.Value < b.Bound {
			way = "at least"
		}
		value, bound := number.Distinct(float64(b.Value), float64(b.Bound), 4)
		return b.Rule + ": " + strings.TrimSpace(clipName(b.What)+" is "+value+" "+b.Unit) + ", " + way + " " + bound
	}
	if b.Unit == "" || !b.Value.Known() || !b.Bound.Known() {
		return b.Rule
	}
	value, off := boundedText(b.Value, b.Unit, 4), boundedText(report.Number(math.Abs(float64(b.Value-b.Bound))), b.Unit, 3)
	way := "too much"
	if b.Value < b.Bound {
		way = "too little"
	}
	switch {
	case b.Ingredient != "":
		value = clipName(b.Ingredient) + " has " + unitsOf(value)
	case b.Unit == "units":
		value = unitsOf(value)
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
		head = append(head, valueHead(of.Name, of.Unit))
	}
	head = append(head, "score")
	for _, w := range c.Properties {
		if len(w.Values) == 0 {
			head = append(head, "score of "+w.Name)
		}
		for _, name := range w.Values {
			if len(c.Recipes) > 0 {
				head = append(head, valueHead(name, c.Recipes[0].Values[name].Unit))
			}
		}
	}
	for _, name := range names {
		head = append(head, predictionHead(name, like[name])...)
	}
	s.Add(append(head, "in the book", "rules broken")...)
	for _, r := range c.Recipes {
		row := []any{r.Recipe, r.Used}
		for _, of := range c.Problem.Conditions {
			row = append(row, r.Conditions[of.Name])
		}
		row = append(row, cell(r.Score))
		for _, w := range c.Properties {
			if len(w.Values) == 0 {
				row = append(row, cell(r.Scores[w.Name]))
			}
			for _, name := range w.Values {
				row = append(row, cell(r.Values[name].Value))
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
		s.Add(append(row, r.Book, strings.Join(broken, "; "))...)
	}
	return s
}
