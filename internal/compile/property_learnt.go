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

// extremeForestTrees is the default number of trees in a forest of best splits if the predicted number is to be
// maximised or minimised. The best recipe that a search finds is best partly by luck, and more trees reduce
// that luck; see bench/RESULTS.md.
const extremeForestTrees = 300

// maxNumericClasses is the maximum number of distinct numbers of a label that may be treated as classes.
const maxNumericClasses = 20

// A learntModel has what is needed to check the predictions of a property's model on held-out recipes. A recipe
// or a row of the training data is held out from a model if the model has not learnt from it.
type learntModel struct {
	trainingData *model.Data // training data; nil if the model is from a file and was learnt from other recipes
	recipeByRow  []int       // item k is the index of the known recipe in row k of the training data
	wantedValues model.Want  // which values of the label are wanted
	// conditionEncoder encodes the conditions for the model. It is nil if the problem has no conditions.
	conditionEncoder *property.ConditionEncoder
	// heldOutRowScores returns the score of each row of the training data, by models that have not learnt from
	// the row. A score is NaN if there is no such model.
	heldOutRowScores func() ([]float64, error)
	// heldOutPredictions returns the predicted number for each row of the training data, by models that have
	// not learnt from the row. A number is NaN if there is no such model. The result is nil for classes.
	heldOutPredictions func() ([]model.Prediction, error)
	// relearn learns a model from a part of the training data, and returns the property that scores its
	// predictions. Numbers are scaled to scores by the range of the complete training data.
	relearn func(ctx context.Context, part *model.Data) (mcmc.Property, error)
	// classProbability returns the probability of the wanted class. Item i of x is the amount of ingredient i.
	// It is used for classes only.
	classProbability func(x []int32) float64
	// heldOutProbabilities returns the probability of the wanted class for each row of the training data, by
	// models that have not learnt from the row. It is used for classes only.
	heldOutProbabilities func() ([]float64, error)
	// calibrate computes the calibration of the class probabilities on held-out rows. It is used for classes
	// only.
	calibrate func() (*model.Calibration, error)

	calibrationOnce sync.Once // guards calibration and calibrationErr
	calibration     *model.Calibration
	calibrationErr  error

	heldOutChancesOnce sync.Once          // guards heldOutChances and heldOutChancesErr
	heldOutChances     []model.Prediction // item k is the calibrated probability of the wanted class for row k of the training data
	heldOutChancesErr  error
}

// heldOutCalibration returns the calibration of the class probabilities on held-out recipes. It returns nil
// if no recipe was held out.
func (w *learntModel) heldOutCalibration() (*model.Calibration, error) {
	w.calibrationOnce.Do(func() { w.calibration, w.calibrationErr = w.calibrate() })
	return w.calibration, w.calibrationErr
}

// newForestLearntModel returns the learntModel of a forest. The parameter floor is the minimum of the score.
func newForestLearntModel(f *model.Forest, data *model.Data, recipes []int, score *model.Score, floor float64) *learntModel {
	return &learntModel{
		trainingData: data, recipeByRow: recipes,
		wantedValues: score.Want(),
		heldOutRowScores: func() ([]float64, error) {
			scores, err := f.OutOfBag(score, data.Rows)
			for r := range scores {
				scores[r] = math.Max(floor, scores[r]) // NaN stays NaN
			}
			return scores, err
		},
		heldOutPredictions: func() ([]model.Prediction, error) {
			if !f.Numeric() {
				return nil, nil
			}
			return f.HeldOut(data.Rows)
		},
		classProbability:     func(x []int32) float64 { return score.Probability(score.Point(x)) },
		heldOutProbabilities: func() ([]float64, error) { return f.OutOfBag(score, data.Rows) },
		calibrate: func() (*model.Calibration, error) {
			stated, err := f.OutOfBag(score, data.Rows)
			if err != nil {
				return nil, err
			}
			came := make([]bool, len(stated))
			for r := range stated {
				came[r] = score.Want().Has(data.Classes[r])
			}
			return model.Calibrate(stated, came, f.TreeCount()), nil
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
			return property.NewForest(of, floor), nil
		},
	}
}

// heldOutScores returns the score of each known recipe, by models that have not learnt from the recipe. The
// score of a recipe that is not in the training data is NaN.
func (w *learntModel) heldOutScores(p *Problem) ([]float64, error) {
	rows, err := w.heldOutRowScores()
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(p.scaledRecipes))
	for r := range scores {
		scores[r] = math.NaN()
	}
	for row, r := range w.recipeByRow {
		scores[r] = rows[row]
	}
	return scores, nil
}

// HeldOutPredictions returns a map from the indices of known recipes to predictions. A prediction is a number
// or the probability of the wanted class, by models that have not learnt from the recipe. The result is nil if
// the property has no model, or if it is unknown from which recipes the model has learnt.
func (w *Property) HeldOutPredictions() (map[int]model.Prediction, error) {
	if !w.ScoresByHeldOut() {
		return nil, nil
	}
	rows, err := w.learntModel.heldOutPredictions()
	if err != nil {
		return nil, err
	}
	if w.Class != "" {
		if rows, err = w.learntModel.heldOutClassChances(); err != nil {
			return nil, err
		}
	}
	all := make(map[int]model.Prediction, len(rows))
	for row, r := range w.learntModel.recipeByRow {
		if row < len(rows) && !math.IsNaN(rows[row].Value) {
			all[r] = rows[row]
		}
	}
	return all, nil
}

// MeasuredNumbers returns a map from the indices of known recipes to the numbers that the property's model has
// learnt from. The result is nil if the model predicts no number, or if it is unknown from which recipes it has
// learnt.
func (w *Property) MeasuredNumbers() map[int]float64 {
	if !w.ScoresByHeldOut() || len(w.learntModel.trainingData.Numbers) == 0 {
		return nil
	}
	all := make(map[int]float64, len(w.learntModel.recipeByRow))
	for row, r := range w.learntModel.recipeByRow {
		all[r] = w.learntModel.trainingData.Numbers[row]
	}
	return all
}

// heldOutClassChances returns the calibrated probability of the wanted class for each row of the training data.
// It returns nil if no row was held out. It computes the probabilities once.
func (w *learntModel) heldOutClassChances() ([]model.Prediction, error) {
	w.heldOutChancesOnce.Do(func() { w.heldOutChances, w.heldOutChancesErr = w.computeHeldOutChances() })
	return w.heldOutChances, w.heldOutChancesErr
}

// computeHeldOutChances computes the result of heldOutClassChances.
func (w *learntModel) computeHeldOutChances() ([]model.Prediction, error) {
	c, err := w.heldOutCalibration()
	if c == nil || err != nil {
		return nil, err
	}
	stated, err := w.heldOutProbabilities()
	if err != nil {
		return nil, err
	}
	all := make([]model.Prediction, len(stated))
	chances := make(map[float64]model.UncertainProbability) // rows share probabilities, which are shares of few trees
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

// refuseNumbersAsClasses returns an error if a label has too many distinct numbers to be treated as classes.
// The node want has the wanted classes.
func refuseNumbersAsClasses(want *yaml.Node, label *dataset.Label) error {
	if len(label.Classes) <= maxNumericClasses || !label.IsNumeric() {
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

// finiteRange returns the least and the greatest of the numbers. It ignores NaN. If there are no numbers, it
// returns +Inf and −Inf.
func finiteRange(numbers []float64) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	return least, greatest
}

// checkLabelBounds returns an error if no recipe has a number within the wanted bounds, because the model
// would then score every composition 0. It adds a warning if all recipes are within the bounds.
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
	book := fmt.Sprintf("your recipes have %v to %v", least, greatest)
	if !some {
		way := fmt.Sprintf("%s: write bounds that some recipe meets, or maximize: true or minimize: true", book)
		return yaml.Hint(at.Errorf("no recipe has a %s %s", f.Label(), want), "%s", way)
	}
	if low <= least && high >= greatest {
		s.Warn(fmt.Sprintf("Every recipe has a %s %s (%s), so this objective has no effect.", f.Label(), want, strings.TrimSpace(book)))
	}
	return nil
}
