package view

import (
	"fmt"
	"io"

	"kir/internal/report"
	"kir/internal/terminal"
	"kir/model"
)

// Training prints the training for a person.
func Training(w io.Writer, t *report.Training) error {
	p := terminal.NewPrinter(w, terminal.Style{})
	p.Line("Label %s", terminal.Plain(t.Label))
	for _, l := range qualityLines(&t.Forest) {
		p.Hanging(2, l)
	}
	if t.Choice != nil {
		choice(p, t.Choice)
	}
	if c := t.Quality.Classes; c != nil {
		p.Heading("Recipes by class (rows) and by the class predicted without them (columns)")
		head := []string{""}
		for _, class := range t.Classes {
			head = append(head, terminal.Plain(class))
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
		p.Heading("Calibration on held-out recipes: predicted probabilities and how often they came true")
		table := terminal.NewTable(0, "predicted", "mean", "came true", "cases")
		for _, b := range reliability(t.Quality) {
			table.Row(fmt.Sprintf("%.1f to %.1f", b.Low, b.Low+0.1), fmt.Sprintf("%.2f", b.Predicted), fmt.Sprintf("%.2f", b.Observed), b.Events)
		}
		p.Table(table)
	}
	if len(t.Importances) > 0 {
		p.Heading("Importance by permutation: %s", importanceMeaning(t.Quality))
		table := terminal.NewTable(1, "feature", "importance", "±")
		for _, i := range t.Importances {
			table.Row(i.Feature, fmt.Sprintf("%.4f", i.Mean), fmt.Sprintf("%.4f", i.SE))
		}
		p.Table(table)
	}
	if t.File != "" {
		p.Heading("Saved in %s", terminal.Plain(t.File))
	}
	return p.Err
}

// choice says in a line what was chosen, and in a table what from.
func choice(p *terminal.Printer, c *model.Choice) {
	chosen, first := c.Tried[c.Chosen], c.Tried[0]
	gain := "which no other undercuts by more than its error"
	if c.Chosen > 0 {
		gain = fmt.Sprintf("%.2g ± %.1g below the plainest (%s)", chosen.Gain, chosen.GainSE, first.Name)
	}
	p.Hanging(2, fmt.Sprintf("Chosen of %d by %d × %d-fold cross-validation: %s; %s %.3g ± %.1g, %s",
		len(c.Tried), c.Repeats, c.Folds, chosen.Name, c.Loss, chosen.Loss, chosen.SE, gain))
	p.Heading("What was tried: %s, and by how much it is below that of the first", c.Loss)
	table := terminal.NewTable(1, "model", c.Loss, "±", "gain", "±")
	for _, t := range c.Tried {
		table.Row(t.Name, fmt.Sprintf("%.4f", t.Loss), fmt.Sprintf("%.4f", t.SE), fmt.Sprintf("%.4f", t.Gain), fmt.Sprintf("%.4f", t.GainSE))
	}
	p.Table(table)
}

// importanceMeaning says what is lost when a feature is permuted.
func importanceMeaning(q model.Quality) string {
	if q.Numbers != nil {
		return "rise of the mean squared error, in variances of the label"
	}
	return "loss of accuracy"
}

func reliability(q model.Quality) []model.Bin {
	if q.Classes != nil {
		return q.Classes.Reliability
	}
	return q.Numbers.Reliability
}
