package problem

import (
	"context"
	"fmt"
	"math"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// directedTrees is how many trees a forest of best splits has that is asked for the
// largest or the smallest. What a search finds is best by luck, too, and more trees take some
// of it away: see docs/search.md.
const directedTrees = 300

// maxClasses is up to how many different numbers a label may have whose values
// are named as classes.
const maxClasses = 20

// A learnt is what there is to know of a property that was learnt when its promises are
// checked.
type learnt struct {
	data    *model.Data // what it has learnt from; nil of a model from a file
	recipes []int       // of the book, by row of the data
	want    model.Want
	// heldOut returns y of each row of the data as what has not seen it says; NaN where
	// there is nothing.
	heldOut func() ([]float64, error)
	// predicted returns what is predicted of each row of the data by what has not seen
	// it, all NaN where there is nothing; nil of classes.
	predicted func() ([]model.Prediction, error)
	// again returns the property that is learnt of some of the data, asked for the same
	// on the scale of the whole.
	again func(ctx context.Context, part *model.Data) (mcmc.Property, error)
}

// forestLearnt returns what there is to know of a forest's score.
func forestLearnt(f *model.Forest, data *model.Data, recipes []int, score *model.Score, least float64) *learnt {
	return &learnt{
		data: data, recipes: recipes,
		want: score.Want(),
		heldOut: func() ([]float64, error) {
			scores, err := f.OutOfBag(score, data.Rows)
			for r := range scores {
				scores[r] = math.Max(least, scores[r]) // NaN stays NaN
			}
			return scores, err
		},
		predicted: func() ([]model.Prediction, error) {
			if !f.Numeric() {
				return nil, nil
			}
			return f.HeldOut(data.Rows)
		},
		again: func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			want := score.Want()
			if len(data.Numbers) > 0 {
				want = want.Over(span(data.Numbers))
			}
			o := f.Options()
			o.Importances = false
			again, err := model.Grow(ctx, part, o)
			if err != nil {
				return nil, err
			}
			of, err := again.Score(want)
			if err != nil {
				return nil, err
			}
			return property.NewForest(of, least), nil
		},
	}
}

// outOfBag returns y of each recipe of a book as what has not seen it says; NaN where
// there is nothing, since the recipe has no label.
func (w *learnt) outOfBag(p *Problem) ([]float64, error) {
	rows, err := w.heldOut()
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(p.recipes))
	for r := range scores {
		scores[r] = math.NaN()
	}
	for row, r := range w.recipes {
		scores[r] = rows[row]
	}
	return scores, nil
}

// Unseen returns what is predicted of recipes of the book by what has not seen them, by
// their places in the book; nil where nothing is predicted, or nobody knows what was
// seen.
func (w *Property) Unseen() (map[int]model.Prediction, error) {
	if w.learnt == nil || w.learnt.data == nil {
		return nil, nil
	}
	rows, err := w.learnt.predicted()
	if err != nil || rows == nil {
		return nil, err
	}
	all := make(map[int]model.Prediction, len(rows))
	for row, r := range w.learnt.recipes {
		if !math.IsNaN(rows[row].Value) {
			all[r] = rows[row]
		}
	}
	return all, nil
}

// directed says whether a forest is asked for the largest or the smallest.
func directed(f map[string]*yaml.Node) bool { return f["maximize"] != nil || f["minimize"] != nil }

// direction reads maximize: true or minimize: true.
func direction(key string, n *yaml.Node) (model.Want, error) {
	if n.Kind != yaml.Boolean || n.Plain() != true {
		return model.Want{}, yaml.Hint(n.Errorf("%s is %s", key, n.Shown()), "write %s: true; or at_least, at_most or between for what is good enough", key)
	}
	if key == "minimize" {
		return model.Minimize(), nil
	}
	return model.Maximize(), nil
}

// fewClasses refuses to take a number of many values for classes.
func fewClasses(want *yaml.Node, label *book.Label) error {
	if len(label.Classes) <= maxClasses || !label.Numeric() {
		return nil
	}
	numbers, err := label.Numbers()
	if err != nil {
		return err
	}
	least, greatest := span(numbers)
	return yaml.Hint(want.Errorf("the label %s is a number: the recipes have %d different ones, from %v to %v", fault.Quote(label.Name), len(label.Classes), least, greatest),
		"ask for maximize: true, minimize: true, at_least, at_most or between")
}

// span returns the least and the greatest number, leaving NaN out.
func span(numbers []float64) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	return least, greatest
}

// withinLabels refuses bounds on a number within which no recipe's lies: the
// forest would give every composition a probability of 0. It warns of bounds
// within which all do.
func withinLabels(s *shelf, at *yaml.Node, f Predictor, data *model.Data, want model.Want) error {
	low, high, bounded := want.Bounds()
	if !bounded {
		return nil
	}
	least, greatest := f.Range()
	some := low <= greatest && high >= least
	if data != nil && some {
		some = false
		for _, v := range data.Numbers {
			some = some || low <= v && v <= high
		}
	}
	book := fmt.Sprintf("the book has %v to %v", least, greatest)
	if !some {
		way := fmt.Sprintf("%s: take bounds that some recipe keeps, or ask for maximize: true or minimize: true", book)
		return yaml.Hint(at.Errorf("no recipe has a %s %s", f.Label(), want), "%s", way)
	}
	if low <= least && high >= greatest {
		s.warn(fmt.Sprintf("Every recipe has a %s %s (%s), so that nothing is asked of it.", f.Label(), want, strings.TrimSpace(book)))
	}
	return nil
}
