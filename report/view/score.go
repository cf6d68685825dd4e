package view

import (
	"fmt"
	"io"
	"math"
	"strings"

	"kir/report"
	"kir/report/number"
	"kir/report/sheet"
	"kir/report/terminal"
)

// Scorecard writes what given recipes score.
func Scorecard(w io.Writer, c *report.Scorecard, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	head := []string{"recipe", "n", "score"}
	for _, w := range c.Properties {
		head = append(head, terminal.Plain(w.Name))
	}
	for _, name := range predicted(c) {
		head = append(head, terminal.Plain(name)+" (90 %)")
	}
	t := terminal.NewTable(1, append(head, "rules broken")...)
	t.Widest(0, mostNamed)
	seen, rules := false, 0
	for _, r := range c.Recipes {
		name := r.Recipe
		if r.OutOfBag {
			name, seen = name+" *", true
		}
		row := []any{name, r.Used, number.Three(float64(r.Score))}
		for _, w := range c.Properties {
			row = append(row, number.Three(float64(r.Scores[w.Name])))
		}
		for _, w := range predicted(c) {
			text := ""
			if q, ok := r.Predicted[w]; ok {
				text = fmt.Sprintf("%s (%s–%s)", number.Three(float64(q.Value)), number.Three(float64(q.Low)), number.Three(float64(q.High)))
			}
			row = append(row, text)
		}
		broken := any("")
		if len(r.Broken) > 0 {
			broken = len(r.Broken)
			rules += len(r.Broken)
		}
		t.Row(append(row, broken)...)
	}
	p.Table(t)
	if rules > 0 {
		p.Heading("Rules that are broken")
		for _, r := range c.Recipes {
			for _, b := range r.Broken {
				p.Hanging(2, terminal.Plain(clipped(r.Recipe)+": "+breach(b)))
			}
		}
	}
	if seen {
		p.Line("")
		p.Line("* In the book: models score it by trees that have not seen it.")
	}
	properties(p, c.Properties)
	return p.Err
}

// predicted returns the wishes for numbers that a model predicts.
func predicted(c *report.Scorecard) (names []string) {
	for _, w := range c.Properties {
		for _, r := range c.Recipes {
			if _, ok := r.Predicted[w.Name]; ok {
				names = append(names, w.Name)
				break
			}
		}
	}
	return names
}

// breach says which rule is broken, and by how much.
func breach(b report.Breach) string {
	if b.Unit == "" || !b.Value.Known() || !b.Bound.Known() {
		return b.Rule
	}
	value := fmt.Sprintf("%.4g", float64(b.Value))
	off := fmt.Sprintf("%.3g", math.Abs(float64(b.Value-b.Bound)))
	way := "too much"
	if b.Value < b.Bound {
		way = "too little"
	}
	switch {
	case b.Ingredient != "":
		value = clipped(b.Ingredient) + " has " + unitsOf(value)
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

// ScoreSheet returns what given recipes score as a table.
func ScoreSheet(c *report.Scorecard) *sheet.Sheet {
	s := &sheet.Sheet{Name: "scores"}
	head := []any{"recipe", "ingredients", "score"}
	for _, w := range c.Properties {
		head = append(head, "score of "+w.Name)
	}
	for _, name := range predicted(c) {
		head = append(head, name, name+", 90 % from", name+", 90 % to")
	}
	s.Add(append(head, "in the book", "rules broken")...)
	for _, r := range c.Recipes {
		row := []any{r.Recipe, r.Used, cell(r.Score)}
		for _, w := range c.Properties {
			row = append(row, cell(r.Scores[w.Name]))
		}
		for _, w := range predicted(c) {
			if q, ok := r.Predicted[w]; ok {
				row = append(row, cell(q.Value), cell(q.Low), cell(q.High))
			} else {
				row = append(row, nil, nil, nil)
			}
		}
		var broken []string
		for _, b := range r.Broken {
			broken = append(broken, breach(b))
		}
		s.Add(append(row, r.Book, strings.Join(broken, "; "))...)
	}
	return s
}
