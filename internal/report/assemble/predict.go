package assemble

import (
	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
	"kir/model"
)

// A predictor is a property whose model predicts a label: a number, or the probability of a class.
type predictor struct {
	*compile.Property
	calibration *model.Calibration // calibration of the class probabilities; nil for a numeric label, and if the training recipes are unknown
	// maps the index of a known recipe to the prediction by a model that was trained without the
	// recipe
	heldOutPredictions map[int]model.Prediction
	weak               bool // whether the model predicts little better than guessing
}

// newPredictors returns the properties of a problem that predict labels.
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

// predictHeldOut returns the prediction for a known recipe by a model that was trained without the
// recipe. It also reports whether there is such a prediction.
func (w *predictor) predictHeldOut(recipe int) (report.Prediction, bool) {
	q, known := w.heldOutPredictions[recipe]
	return report.Prediction{Value: report.Number(q.Value), Low: report.Number(q.Low), High: report.Number(q.High), Class: w.Class, Unit: w.Unit, Weak: w.weak}, known
}

// predictValue returns only the field Value of the prediction for a composition. It takes less time
// than [predictor.predict].
func (w *predictor) predictValue(x *mcmc.Composition) float64 {
	if w.calibration != nil {
		return w.calibration.Value(w.Probability(x))
	}
	return float64(w.predict(x).Value)
}

// predictAll returns a map from the name of each predictor to its prediction for a composition. The
// result is nil if there are no predictors.
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
