package compile

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// directedTrees is the number of trees in a forest of best splits that is maximised or minimised. The best
// recipe of a search is best partly by luck, and more trees reduce that luck; see docs/search.md.
const directedTrees = 300

// maxClasses is the greatest number of different numbers of a label whose values may be used as classes.
const maxClasses = 20

// A learntModel is a property's model with what is needed to check its predictions on held-out recipes.
type learntModel struct {
	data    *model.Data // training data; nil for a model from a file
	recipes []int       // by row of the data: index of the recipe in the book
	want    model.Want
	// conditions is how the model sees conditions; nil without conditions.
	conditions *property.Conditions
	// heldOut returns the score of each row of the data by models that have not seen it; NaN if there is
	// none.
	heldOut func() ([]float64, error)
	// predicted returns the prediction for each row of the data by models that have not seen it; NaN if
	// there is none. It returns nil for classes.
	predicted func() ([]model.Prediction, error)
	// relearn learns the same property from part of the data, on the scale of the whole.
	relearn func(ctx context.Context, part *model.Data) (mcmc.Property, error)
	// probability returns the model's probability of the wanted class for dense amounts; nil for numbers.
	probability func(x []int32) float64
	// heldOutStated returns the probability for each row of the data by models that have not seen it.
	heldOutStated func() ([]float64, error)
	// calibrate returns the calibration of the probability on held-out rows; nil for numbers.
	calibrate func() (*model.Calibration, error)

	once        sync.Once // guards calibration and err
	calibration *model.Calibration
	err         error

	heldOnce    sync.Once // guards the fields below
	heldChances []model.Prediction
	heldErr     error
}

// heldOutCalibration returns the calibration of class probabilities on held-out recipes, or nil if none was
// held out.
func (w *learntModel) heldOutCalibration() (*model.Calibration, error) {
	w.once.Do(func() { w.calibration, w.err = w.calibrate() })
	return w.calibration, w.err
}

// newForestLearnt returns the learntModel of a forest's score.
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
				want = want.WithScale(finiteRange(data.Numbers))
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

// heldOutScores returns the score of each recipe of the book by models that have not seen it. It is NaN for
// recipes without the label.
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

// HeldOutPredictions returns predictions for recipes of the book by models that have not seen them, by
// index of the recipe. They are numbers, or chances of the wanted class. It returns nil if nothing is
// predicted, or if it is unknown which recipes the model has seen.
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

// heldOutClassChances returns the calibrated chance of the wanted class for each row of the data, or nil if
// no row was held out.
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
	chances := make(map[float64]model.Chance) // rows share probabilities, which are shares of few trees
	for r, p := range stated {
		if math.IsNaN(p) {
			all[r] = model.Prediction{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
			continue
		}
		chance, known := chances[p]
		if !known {
			chance = c.Chance(p)
			chances[p] = chance
		}
		all[r] = model.Prediction(chance)
	}
	return all, nil
}

// checkFewClasses returns an error if a label with many different numbers is used as classes.
func checkFewClasses(want *yaml.Node, label *dataset.Label) error {
	if len(label.Classes) <= maxClasses || !label.Numeric() {
		return nil
	}
	numbers, err := label.Numbers()
	if err != nil {
		return err
	}
	least, greatest := finiteRange(numbers)
	return yaml.Hint(want.Errorf("the label %s is a number: the recipes have %d different ones, from %v to %v", inputerr.Quote(label.Name), len(label.Classes), least, greatest),
		"ask for maximize: true, minimize: true, at_least, at_most or between")
}

// finiteRange returns the least and the greatest number, ignoring NaN.
func finiteRange(numbers []float64) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	return least, greatest
}

// checkLabelBounds returns an error for bounds that no recipe's number is within: the forest would give
// every composition probability 0. It warns if all recipes are within.
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
		s.Warn(fmt.Sprintf("Every recipe has a %s %s (%s), so that nothing is asked of it.", f.Label(), want, strings.TrimSpace(book)))
	}
	return nil
}
