package problem

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// directedTrees is how many trees a forest has that is asked for the largest or
// the smallest. What a search finds is best by luck, too, and more trees take some
// of it away: see docs/search.md.
const directedTrees = 300

// maxClasses is up to how many different numbers a label may have whose values
// are named as classes.
const maxClasses = 20

// A learnt is what a forest property was made of.
type learnt struct {
	data  *model.Data // what it was grown from; nil of a forest from a file
	score *model.Score
	floor float64

	once        sync.Once // makes what follows
	calibration *model.Calibration
	err         error
}

// calibrated returns what the recipes that were left out say of a forest of classes, nil
// if none was.
func (w *learnt) calibrated(f *model.Forest) (*model.Calibration, error) {
	w.once.Do(func() {
		rows, err := f.OutOfBag(w.score, w.data.Rows)
		if err != nil {
			w.err = err
			return
		}
		came := make([]bool, len(rows))
		for r := range rows {
			came[r] = w.score.Want().Has(w.data.Classes[r])
		}
		w.calibration = model.Calibrate(rows, came, f.Trees())
	})
	return w.calibration, w.err
}

// outOfBag returns y of each recipe of a book as the trees say that have not seen
// it; NaN where there are none, since the recipe has no label.
func (w *learnt) outOfBag(f *model.Forest, label *book.Label) ([]float64, error) {
	scores := make([]float64, len(label.Of))
	rows, err := f.OutOfBag(w.score, w.data.Rows)
	if err != nil {
		return nil, err
	}
	row := 0
	for r, class := range label.Of {
		scores[r] = math.NaN()
		if class >= 0 {
			scores[r] = math.Max(w.floor, rows[row]) // NaN stays NaN
			row++
		}
	}
	return scores, nil
}

// regrown returns the property that a forest of some of the data has, asked for
// the same on the scale of the whole.
func (w *learnt) regrown(ctx context.Context, data *model.Data, o model.Options) (mcmc.Property, error) {
	want := w.score.Want()
	if len(w.data.Numbers) > 0 {
		want = want.Over(span(w.data.Numbers))
	}
	o.Importances = false
	f, err := model.Grow(ctx, data, o)
	if err != nil {
		return nil, err
	}
	score, err := f.Score(want)
	if err != nil {
		return nil, err
	}
	return property.NewForest(score, w.floor), nil
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
func withinLabels(s *shelf, at *yaml.Node, f *model.Forest, data *model.Data, want model.Want) error {
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
