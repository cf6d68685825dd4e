package view

import (
	"fmt"
	"io"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/terminal"
	"kir/model"
)

// Training writes the report on a trained model as text.
func Training(w io.Writer, t *report.Training) error {
	p := terminal.NewPrinter(w, terminal.Style{})
	p.Line("Result (label): %s", terminal.EscapeControls(t.Label))
	for _, l := range qualityLines(&t.Forest, true) {
		p.WrappedHanging(2, l)
	}
	if t.Choice != nil {
		writeModelChoice(p, t.Choice)
	}
	if c := t.Quality.Classes; c != nil {
		p.Heading("Recipes by true class (rows) and predicted class (columns), each held out in turn")
		head := []string{""}
		for _, class := range t.Classes {
			head = append(head, terminal.EscapeControls(class))
		}
		table := terminal.NewTable(1, head...)
		for k, row := range c.Confusion {
			cells := []any{t.Classes[k]}
			for _, n := range row {
				cells = append(cells, n)
			}
			table.Row(cells...)
		}
		p.Table(table)
	}
	if c, n := t.Quality.Classes, t.Quality.Numbers; c != nil || n != nil {
		p.Heading("Predicted chances of held-out recipes, and how often they came true (calibration)")
		table := terminal.NewTable(0, "predicted", "on average", "came true", "cases")
		for _, b := range reliabilityBins(t.Quality) {
			table.Row(fmt.Sprintf("%.1f to %.1f", b.Low, b.Low+0.1), fmt.Sprintf("%.2f", b.Predicted), fmt.Sprintf("%.2f", b.Observed), b.Events)
		}
		p.Table(table)
	}
	if len(t.Importances) > 0 {
		p.Heading("Importance of each input (feature) if shuffled: %s", importanceMeaning(t.Quality))
		table := terminal.NewTable(1, "feature", "importance", "±")
		for _, i := range t.Importances {
			table.Row(i.Feature, fmt.Sprintf("%.4f", i.Mean), fmt.Sprintf("%.4f", i.SE))
		}
		p.Table(table)
	}
	if len(t.Responses) > 0 {
		p.Heading("Effect of more of an ingredient in %s; the others keep their proportions", terminal.EscapeControls(t.At))
		head := "by"
		if t.Unit != "" {
			head += ", " + t.Unit
		}
		table := terminal.NewTable(1, "more of", "does", head)
		for k := range t.Responses {
			r := &t.Responses[k]
			table.Row(r.Ingredient, r.DescribeDirection(), number.ThreeFigures(float64(r.Swing)))
		}
		p.Table(table)
	}
	if t.File != "" {
		p.Heading("Saved in %s", terminal.EscapeControls(t.File))
	}
	return p.Err
}

// TrainingFigures returns the figures of the report on a trained model.
func TrainingFigures(t *report.Training) (all []*figure.Figure) {
	for _, f := range []*figure.Figure{heldOutFigure(&t.Forest, "held-out", t.Label), newImportanceFigure(&t.Forest, "importance", t.Label)} {
		if f != nil {
			all = append(all, f)
		}
	}
	return append(all, responseFigures(&t.Forest, "response", t.Label)...)
}

// writeModelChoice writes which kind of model or features was chosen in a line, and all candidates
// in a table.
func writeModelChoice(p *terminal.Printer, c *model.CandidateChoice) {
	chosen, first := c.Tried[c.Chosen], c.Tried[0]
	gain := "which no other beats by more than its error"
	if c.Chosen > 0 {
		gain = fmt.Sprintf("%s ± %s less than the simplest (%s)", number.Value(chosen.Gain), number.Error(chosen.GainSE), first.Name)
	}
	p.WrappedHanging(2, fmt.Sprintf("Chosen of %d by tests on recipes kept out (%d × %d-fold cross-validation): %s; %s %s ± %s, %s",
		len(c.Tried), c.Repeats, c.Folds, chosen.Name, c.Loss, number.Value(chosen.Loss), number.Error(chosen.SE), gain))
	p.Heading("Models tried: %s, and how much smaller it is than that of the first (gain)", c.Loss)
	table := terminal.NewTable(1, "model", c.Loss, "±", "gain", "±")
	for _, t := range c.Tried {
		table.Row(t.Name, fmt.Sprintf("%.4f", t.Loss), fmt.Sprintf("%.4f", t.SE), fmt.Sprintf("%.4f", t.Gain), fmt.Sprintf("%.4f", t.GainSE))
	}
	p.Table(table)
}

// importanceMeaning says in which quantity the importance of features is measured.
func importanceMeaning(q model.Quality) string {
	if q.Numbers != nil {
		return "rise of the mean squared error, in variances of the result"
	}
	return "loss of accuracy"
}

// reliabilityBins returns the data that compare predicted probabilities with observed shares.
func reliabilityBins(q model.Quality) []model.Bin {
	if q.Classes != nil {
		return q.Classes.Reliability
	}
	return q.Numbers.Reliability
}
