package model

import (
	"fmt"
	"math"
)

// A Prediction is a model's prediction of a number: its mean, and an interval for the label of one
// composition, in the label's own unit.
type Prediction struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Predict returns the expected label of a numeric forest at the dense composition x, and a 90 %
// prediction interval for new rows drawn as the known ones were. It panics if the label is a class.
//
// The ends are the 5 % and 95 % quantiles of the label's law at x (Meinshausen 2006), which are
// wide where the known neighbours differ and narrow where they agree. They are moved apart by
// [NumberQuality.Widen90]: conformalised quantile regression (Romano, Patterson and Candès 2019)
// with the out-of-bag rows for calibration, so that no row need be set aside. The interval stays
// within the labels' range, beyond which a forest cannot predict.
//
// The interval does not hold for a composition found by a search: the more candidates it was chosen
// from, the more of its value is luck. Forests of both [Data.Halves] measure that.
func (f *Forest) Predict(x []int32) Prediction {
	f.mustBeNumeric()
	return f.predict(f.weights(x))
}

// predict returns the prediction for a law.
func (f *Forest) predict(law []float64) Prediction {
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

// HeldOut returns the forest's prediction for each row of its data, by the trees that left the row
// out. It is all NaN where there are none. The rows are as for [Forest.OutOfBag]. It panics if the
// label is a class.
func (f *Forest) HeldOut(rows [][]Part) ([]Prediction, error) {
	f.mustBeNumeric()
	if len(rows) != f.rows {
		return nil, fmt.Errorf("the forest was grown from %d rows, and not from %d", f.rows, len(rows))
	}
	bags := f.bags()
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
		if law = f.lawOutOfBag(values, r, bags, law); len(law) > 0 {
			all[r] = f.predict(law)
		}
	}
	return all, nil
}

// OutOfBag returns, for each row of the forest's data, the probability of a score by the trees that
// left the row out of their bootstrap sample. The probability is thus one for a row that the forest
// has not seen. It is NaN where no tree left the row out.
//
// The rows must be those of the [Data], in the same order. Their bootstrap samples follow from the
// seed, so a forest read from a file works, too. score must be of this forest.
func (f *Forest) OutOfBag(score *Score, rows [][]Part) ([]float64, error) {
	if len(rows) != f.rows {
		return nil, fmt.Errorf("the forest was grown from %d rows, and not from %d", f.rows, len(rows))
	}
	if f.compiled == nil || score.structure != f.compiled {
		return nil, fmt.Errorf("the score %q is of another forest", score.want)
	}
	bags := f.bags()
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
			if bags[k].leftOut(r) {
				sum += score.values[base+int(f.trees[k].leaf(values))]
				trees++
			}
			base += f.trees[k].leaves()
		}
		scores[r] = math.NaN()
		if trees > 0 {
			scores[r] = float64(sum) / float64(int64(trees)<<scaleBits)
		}
	}
	return scores, nil
}
