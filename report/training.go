package report

import (
	"fmt"
	"io"

	"kir/forest"
)

// Training is what is said of a forest that was grown.
type Training struct {
	Forest
	Seed     uint64 `json:"seed"`
	Features int    `json:"features_per_split"`
	Leaf     int    `json:"smallest_leaf"`
	Deepest  int    `json:"deepest_tree"`
	File     string `json:"file,omitempty"` // where it was saved
}

// NewTraining says what there is to say of a forest and the file it was saved
// in, if any.
func NewTraining(f *forest.Forest, file string) *Training {
	o := f.Options()
	return &Training{
		Forest: *forestOf(f), Seed: o.Seed,
		Features: o.FeaturesPerSplit, Leaf: o.SmallestLeaf, Deepest: f.Shape().Deepest, File: file,
	}
}

// WriteText prints the training for a person.
func (t *Training) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("Label %s", Plain(t.Label))
	for _, l := range qualityLines(t.Trees, t.Rows, t.Quality) {
		p.hanging(2, l)
	}
	if c := t.Quality.Classes; c != nil {
		p.heading("Recipes by class (rows) and by the class predicted out of bag (columns)")
		head := []string{""}
		for _, class := range t.Classes {
			head = append(head, Plain(class))
		}
		table := NewTable(head...)
		for k, row := range c.Confusion {
			cells := []any{t.Classes[k]}
			for _, n := range row {
				cells = append(cells, n)
			}
			table.Row(cells...)
			table.AlignRight(k + 1)
		}
		p.table(table)
	}
	if c, n := t.Quality.Classes, t.Quality.Numbers; c != nil || n != nil {
		p.heading("Calibration out of bag: predicted probabilities and how often they came true")
		table := NewTable("predicted", "mean", "came true", "cases")
		table.AlignRight(0, 1, 2, 3)
		for _, b := range reliability(t.Quality) {
			table.Row(fmt.Sprintf("%.1f to %.1f", b.Low, b.Low+0.1), fmt.Sprintf("%.2f", b.Predicted), fmt.Sprintf("%.2f", b.Observed), b.Events)
		}
		p.table(table)
	}
	if len(t.Importances) > 0 {
		p.heading("Importance by permutation: %s", importanceMeaning(t.Quality))
		table := NewTable("feature", "importance", "±")
		table.AlignRight(1, 2)
		for _, i := range t.Importances {
			table.Row(i.Feature, fmt.Sprintf("%.4f", i.Mean), fmt.Sprintf("%.4f", i.SE))
		}
		p.table(table)
	}
	if t.File != "" {
		p.heading("Saved in %s", Plain(t.File))
	}
	return p.err
}

// importanceMeaning says what is lost when a feature is permuted.
func importanceMeaning(q forest.Quality) string {
	if q.Numbers != nil {
		return "rise of the mean squared error, in variances of the label"
	}
	return "loss of accuracy"
}

func reliability(q forest.Quality) []forest.Bin {
	if q.Classes != nil {
		return q.Classes.Reliability
	}
	return q.Numbers.Reliability
}
