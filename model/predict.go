package model

import (
	"fmt"
	"math"
)

// A Prediction is a model's prediction of a number for one composition, in the unit of the label.
type Prediction struct {
	Value float64 `json:"value"` // the expected label
	Low   float64 `json:"low"`   // the lower end of a prediction interval for the label
	High  float64 `json:"high"`  // the upper end of a prediction interval for the label
}

// Predict returns the expected label for the dense composition x, and a 90 % prediction interval
// for new rows that are drawn like the known rows. It panics if the label is a class.
//
// The ends of the interval are the 5 % and 95 % quantiles of the predicted distribution
// (Meinshausen 2006). The interval is wide where similar rows differ and narrow where they agree.
// The ends are then moved apart by [NumberQuality.Widen90]. This is conformalised quantile
// regression (Romano, Patterson and Candès 2019) with the out-of-bag rows for calibration, so that
// no rows must be set aside. The interval stays within the range of the labels, beyond which a
// forest cannot predict.
//
// The interval does not hold for a composition that a search has found. The more candidates the
// search chose from, the more of the predicted value is luck. Forests of both halves of the data
// measure this luck: see [Data.SplitIntoHalves].
func (f *Forest) Predict(x []int32) Prediction {
	f.mustBeNumeric()
	return f.predictFromWeights(f.labelWeights(x))
}

// predictFromWeights returns the prediction that follows from a predicted distribution. The
// parameter law holds the predicted weight of each label.
func (f *Forest) predictFromWeights(law []float64) Prediction {
	p := Prediction{}
	for k, w := range law {
		p.Value += float64(w * f.numbers[k])
	}
	widen := 0.0
	if q := f.quality.Numbers; q != nil {
		widen = q.Widen90
	}
	least, greatest := f.Range()
	p.Low = min(max(f.numbers[quantileIndex(law, 0.05)]-widen, least), p.Value)
	p.High = max(min(f.numbers[quantileIndex(law, 0.95)]+widen, greatest), p.Value)
	return p
}

// HeldOut returns the forest's prediction for each row, by the trees that have not seen the row. If
// there is no such tree, the numbers of the prediction are NaN. The rows must be those from which
// the forest was grown, in the same order. HeldOut panics if the label is a class.
func (f *Forest) HeldOut(rows [][]Part) ([]Prediction, error) {
	f.mustBeNumeric()
	if len(rows) != f.rowCount {
		return nil, fmt.Errorf("the forest was grown from %d rows, and not from %d", f.rowCount, len(rows))
	}
	leftOut := f.redrawLeftOutRows()
	x := make([]int32, len(f.ingredients))
	all := make([]Prediction, len(rows))
	var law []float64
	for r, row := range rows {
		for _, p := range row {
			x[p.Ingredient] = p.Amount
		}
		values := f.featureValues(x)
		for _, p := range row {
			x[p.Ingredient] = 0
		}
		all[r] = Prediction{math.NaN(), math.NaN(), math.NaN()}
		if law = f.outOfBagWeights(values, r, leftOut, law); len(law) > 0 {
			all[r] = f.predictFromWeights(law)
		}
	}
	return all, nil
}

// OutOfBag returns a probability for each row from which the forest was grown: the probability that
// the score predicts by the trees that have not seen the row. This is the prediction for a new row.
// A probability is NaN if every tree has seen the row.
//
// The rows must be those from which the forest was grown, in the same order. The seed determines
// which rows a tree has seen, so that OutOfBag also works for a forest that was read from a file.
// The score must be a score of this forest.
func (f *Forest) OutOfBag(score *Score, rows [][]Part) ([]float64, error) {
	if len(rows) != f.rowCount {
		return nil, fmt.Errorf("the forest was grown from %d rows, and not from %d", f.rowCount, len(rows))
	}
	if f.compiled == nil || score.compiledForest != f.compiled {
		return nil, fmt.Errorf("the score %q is of another forest", score.want)
	}
	leftOut := f.redrawLeftOutRows()
	x := make([]int32, len(f.ingredients))
	scores := make([]float64, len(rows))
	for r, row := range rows {
		for _, p := range row {
			x[p.Ingredient] = p.Amount
		}
		values := f.featureValues(x)
		for _, p := range row {
			x[p.Ingredient] = 0
		}
		sum, trees, base := int64(0), 0, 0
		for k := range f.trees {
			if leftOut[k].contains(r) {
				sum += score.leafValues[base+int(f.trees[k].leafNumber(values))]
				trees++
			}
			base += f.trees[k].leafCount()
		}
		scores[r] = math.NaN()
		if trees > 0 {
			scores[r] = float64(sum) / float64(int64(trees)<<fixedPointBits)
		}
	}
	return scores, nil
}
