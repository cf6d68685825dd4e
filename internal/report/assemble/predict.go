package assemble

import (
	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
	"kir/model"
)

// A predictor is a property that predicts a label: a number, or the probability of a class.
type predictor struct {
	*compile.Property
	calibration *model.Calibration // calibration of the class probabilities; nil where the training recipes are unknown, or for a numeric label
	// by known recipe: held-out prediction of the model
	heldOutPredictions map[int]model.Prediction
	weak               bool
}

// newPredictors returns the predictors of a problem.
func newPredictors(p *compile.Problem) (list []predictor, err error) {
	for k := range p.Properties {
		w := predictor{Property: &p.Properties[k]}
		if !w.isNumeric() && w.Class == "" {
			continue
		}
		if w.calibration, err = w.Calibration(); err != nil {
			return nil, err
		}
		if w.heldOutPredictions, err = w.HeldOutPredictions(); err != nil {
			return nil, err
		}
		if w.Model != nil {
			quality := w.Model.Quality()
			w.weak = quality.Strength() == model.WeakStrength
		}
		list = append(list, w)
	}
	return list, nil
}

// isNumeric reports whether the predicted label is a number.
func (w *predictor) isNumeric() bool {
	return w.Model != nil && w.Model.Numeric() || w.Value != nil
}

// predict returns the prediction for a composition.
func (w *predictor) predict(x *mcmc.Composition) report.Prediction {
	unknown := report.UnknownNumber()
	out := report.Prediction{Low: unknown, High: unknown, Class: w.Class, Unit: w.Unit, Weak: w.weak}
	switch {
	case w.Value != nil:
		out.Value = report.Number(w.Value(x))
	case w.calibration != nil:
		c := w.calibration.Chance(w.Probability(x))
		out.Value, out.Low, out.High = report.Number(c.Value), report.Number(c.Low), report.Number(c.High)
	case w.Class != "":
		out.Value, out.Unchecked = report.Number(w.Probability(x)), true
	default:
		q := w.Model.Predict(w.ModelAmounts(x))
		out.Value, out.Low, out.High = report.Number(q.Value), report.Number(q.Low), report.Number(q.High)
	}
	return out
}

// predictHeldOut returns the held-out prediction for a known recipe, and whether there is such a
// prediction.
func (w *predictor) predictHeldOut(recipe int) (report.Prediction, bool) {
	q, known := w.heldOutPredictions[recipe]
	return report.Prediction{Value: report.Number(q.Value), Low: report.Number(q.Low), High: report.Number(q.High), Class: w.Class, Unit: w.Unit, Weak: w.weak}, known
}

// predictValue returns the Value of [predictor.predict] alone, which takes less time.
func (w *predictor) predictValue(x *mcmc.Composition) float64 {
	if w.calibration != nil {
		return w.calibration.Value(w.Probability(x))
	}
	return float64(w.predict(x).Value)
}

// predictAll returns the predictions of all predictors for a composition, by property; nil if there
// are no predictors.
func predictAll(list []predictor, x *mcmc.Composition) map[string]report.Prediction {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]report.Prediction, len(list))
	for k := range list {
		out[list[k].Name] = list[k].predict(x)
	}
	return out
}
