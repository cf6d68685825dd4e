package model

import (
	"fmt"
	"math"
)

// A Prediction is what a forest says of a number: its mean, and an interval for
// the label of one composition, in the label's own unit.
type Prediction struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Predict returns the expected label of a numeric forest at the dense
// composition x, and an interval that holds the labels of 90 % of new rows that
// come as the known ones did.
//
// The ends are the quantiles 5 and 95 % of the label's law at x (Meinshausen
// 2006), which are wide where the known neighbours differ and narrow where they
// agree, moved apart by [NumberQuality.Widen90]: conformalised quantile
// regression (Romano, Patterson and Candès 2019) with the rows out of bag for
// calibration, so that no row need be set aside. The interval stays within the
// labels' range, beyond which no forest tells anything.
//
// A composition that was searched for is not a row that came as the known ones
// did: the more candidates it was chosen from, the more of its value is luck.
// The interval does not tell that; forests of both [Data.Halves] do. It panics if
// the label is a class.
func (f *Forest) Predict(x []int32) Prediction {
	f.mustBeNumeric()
	return f.predict(f.weights(x))
}

// predict returns the prediction of a law.
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

// HeldOut returns what the forest predicts of each row of the data that it was grown
// from, by the trees that left the row out; all NaN where there are none. The rows are
// as for [Forest.OutOfBag]. It panics if the label is a class.
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

// OutOfBag returns the probability that a score stands for of each row of the
// data that the forest was grown from, by the trees that left the row out of
// their bootstrap sample: what the forest says of known compositions as if it
// had not seen them. It is NaN where no tree left the row out.
//
// The rows must be those of the [Data], in the same order; their bootstrap
// samples follow from the seed, so that a forest that was read from a file can
// tell, too. score must be of this forest.
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
