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

// directedTrees is how many trees a forest of best splits has that is asked for the
// largest or the smallest. What a search finds is best by luck, too, and more trees take some
// of it away: see docs/search.md.
const directedTrees = 300

// maxClasses is up to how many different numbers a label may have whose values
// are named as classes.
const maxClasses = 20

// A learntModel is what there is to know of a property that was learnt when its promises are
// checked.
type learntModel struct {
	data    *model.Data // what it has learnt from; nil of a model from a file
	recipes []int       // of the book, by row of the data
	want    model.Want
	// heldOut returns y of each row of the data as what has not seen it says; NaN where
	// there is nothing.
	heldOut func() ([]float64, error)
	// predicted returns what is predicted of each row of the data by what has not seen
	// it, all NaN where there is nothing; nil of classes.
	predicted func() ([]model.Prediction, error)
	// relearn returns the property that is learnt of some of the data, asked for the same
	// on the scale of the whole.
	relearn func(ctx context.Context, part *model.Data) (mcmc.Property, error)
	// probability returns that of the wanted class as the model states it, of a dense
	// composition; nil of numbers.
	probability func(x []int32) float64
	// heldOutStated returns that of each row of the data by what has not seen it.
	heldOutStated func() ([]float64, error)
	// calibrate returns what held-out rows say of the probability; nil of numbers.
	calibrate func() (*model.Calibration, error)

	once        sync.Once // makes what follows
	calibration *model.Calibration
	err         error

	heldOnce    sync.Once // makes what follows
	heldChances []model.Prediction
	heldErr     error
}

// heldOutCalibration returns what the recipes that were held out say of probabilities of classes,
// nil if none was.
func (w *learntModel) heldOutCalibration() (*model.Calibration, error) {
	w.once.Do(func() { w.calibration, w.err = w.calibrate() })
	return w.calibration, w.err
}

// newForestLearnt returns what there is to know of a forest's score.
func newForestLearnt(f *model.Forest, data *model.Data, recipes []int, score *model.Score, least float64) *learntModel {
	return &learntModel{
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
		probability:   func(x []int32) float64 { return score.Probability(score.Point(x)) },
		heldOutStated: func() ([]float64, error) { return f.OutOfBag(score, data.Rows) },
		calibrate: func() (*model.Calibration, error) {
			stated, err := f.OutOfBag(score, data.Rows)
			if err != nil {
				return nil, err
			}
			came := make([]bool, len(stated))
			for r := range stated {
				came[r] = score.Want().Has(data.Classes[r])
			}
			return model.Calibrate(stated, came, f.Trees()), nil
		},
		relearn: func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			want := score.Want()
			if len(data.Numbers) > 0 {
				want = want.Over(finiteRange(data.Numbers))
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

// heldOutScores returns y of each recipe of a book as what has not seen it says; NaN where
// there is nothing, since the recipe has no label.
func (w *learntModel) heldOutScores(p *Problem) ([]float64, error) {
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

// HeldOutPredictions returns what is predicted of recipes of the book by what has not seen them, by
// their places in the book: numbers, or chances of the wanted class. It is nil where
// nothing is predicted, or nobody knows what was seen.
func (w *Property) HeldOutPredictions() (map[int]model.Prediction, error) {
	if !w.ScoresByHeldOut() {
		return nil, nil
	}
	rows, err := w.learnt.predicted()
	if err != nil {
		return nil, err
	}
	if w.Class != "" {
		if rows, err = w.learnt.heldOutClassChances(); err != nil {
			return nil, err
		}
	}
	all := make(map[int]model.Prediction, len(rows))
	for row, r := range w.learnt.recipes {
		if row < len(rows) && !math.IsNaN(rows[row].Value) {
			all[r] = rows[row]
		}
	}
	return all, nil
}

// heldOutClassChances returns that of the wanted class of each row of the data; nil if no row was held
// out.
func (w *learntModel) heldOutClassChances() ([]model.Prediction, error) {
	w.heldOnce.Do(func() { w.heldChances, w.heldErr = w.computeHeldOutChances() })
	return w.heldChances, w.heldErr
}

func (w *learntModel) computeHeldOutChances() ([]model.Prediction, error) {
	c, err := w.heldOutCalibration()
	if c == nil || err != nil {
		return nil, err
	}
	stated, err := w.heldOutStated()
	if err != nil {
		return nil, err
	}
	all := make([]model.Prediction, len(stated))
	for r, p := range stated {
		all[r] = model.Prediction{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if !math.IsNaN(p) {
			all[r] = model.Prediction(c.Chance(p))
		}
	}
	return all, nil
}

// hasDirection says whether a forest is asked for the largest or the smallest.
func hasDirection(f fields) bool { return f["maximize"] != nil || f["minimize"] != nil }

// readDirection reads maximize: true or minimize: true.
func readDirection(key string, n *yaml.Node) (model.Want, error) {
	if n.Kind != yaml.Boolean || n.Plain() != true {
		return model.Want{}, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write %s: true; or at_least, at_most or between for what is good enough", key)
	}
	if key == "minimize" {
		return model.Minimize(), nil
	}
	return model.Maximize(), nil
}

// checkFewClasses refuses to take a number of many values for classes.
func checkFewClasses(want *yaml.Node, label *book.Label) error {
	if len(label.Classes) <= maxClasses || !label.Numeric() {
		return nil
	}
	numbers, err := label.Numbers()
	if err != nil {
		return err
	}
	least, greatest := finiteRange(numbers)
	return yaml.Hint(want.Errorf("the label %s is a number: the recipes have %d different ones, from %v to %v", fault.Quote(label.Name), len(label.Classes), least, greatest),
		"ask for maximize: true, minimize: true, at_least, at_most or between")
}

// finiteRange returns the least and the greatest number, leaving NaN out.
func finiteRange(numbers []float64) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	return least, greatest
}

// checkLabelBounds refuses bounds on a number within which no recipe's lies: the
// forest would give every composition a probability of 0. It warns of bounds
// within which all do.
func checkLabelBounds(s *readContext, at *yaml.Node, f Predictor, data *model.Data, want model.Want) error {
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
