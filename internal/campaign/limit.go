package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/number"
)

// A LimitCheck says whether a recipe is predicted to satisfy one of the problem's limits on
// predictions.
type LimitCheck struct {
	Limit  string  `json:"limit"`  // text of the limit in the problem file
	Value  float64 `json:"value"`  // predicted value of the label; if Sure is true, the probability that a measurement satisfies the limit
	Sure   bool    `json:"sure"`   // whether Value is a probability and not a predicted value
	Within bool    `json:"within"` // whether Value satisfies the limit; false only if no recipe was found that satisfies all limits
}

// limitedQuantity returns the predicted quantity of a recipe that the limit bounds. The quantity is
// the value of the label or, if the limit demands a probability, the probability that a measurement
// satisfies the limit.
func (o *learntObjective) limitedQuantity(x recipe) float64 {
	if math.IsNaN(o.learningSettings.Limit.MinProbability) {
		return o.predict(x).Value
	}
	mean, sd := o.model.Predict(x)
	noise := o.model.Noise()
	mean, sd = float64(o.modelValueSign*mean), float64(o.model.IntervalScale()*math.Sqrt(float64(sd*sd)+float64(noise*noise)))
	below := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return max(0, math.Copysign(1, v))
		}
		if at := o.warp.score(v); !(sd > 0) {
			return max(0, math.Copysign(1, at-mean))
		} else {
			_, p := normalPDFAndCDF((at - mean) / sd)
			return p
		}
	}
	return max(below(o.learningSettings.Limit.Most)-below(o.learningSettings.Limit.Least), 0)
}

// limitExcess returns how far a predicted quantity is outside the limit, and 0 if the quantity
// satisfies the limit. For a numeric label, the excess is divided by the range of the measured
// values.
func (o *learntObjective) limitExcess(quantity float64) float64 {
	l := o.learningSettings.Limit
	if !math.IsNaN(l.MinProbability) {
		return max(l.MinProbability-quantity, 0)
	}
	if quantity >= l.Least && quantity <= l.Most {
		return 0
	}
	width := 1.0
	if o.learningSettings.Numeric && o.maxMeasured > o.minMeasured {
		width = o.maxMeasured - o.minMeasured
	}
	return max(l.Least-quantity, quantity-l.Most, math.SmallestNonzeroFloat64) / width
}

// objectivesWithLimit returns the objectives that have both a limit on predictions and a model.
func (ch *batchOptimizer) objectivesWithLimit() []*learntObjective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.learningSettings.Limit == nil || o.model == nil })
}

// limitViolation returns the sum of the excesses of a recipe over all limits on predictions. The
// sum is 0 if the recipe satisfies all limits.
func (ch *batchOptimizer) limitViolation(x recipe) float64 {
	sum := 0.0
	for _, o := range ch.objectives {
		if o.learningSettings.Limit != nil && o.model != nil {
			sum += o.limitExcess(o.limitedQuantity(x))
		}
	}
	return sum
}

// checkLimits compares the predictions for a recipe with each limit.
func (ch *batchOptimizer) checkLimits(x recipe) (all []LimitCheck) {
	for _, o := range ch.objectivesWithLimit() {
		v := o.limitedQuantity(x)
		all = append(all, LimitCheck{o.name, v, !math.IsNaN(o.learningSettings.Limit.MinProbability), o.limitExcess(v) == 0})
	}
	return all
}

// keysMeasuredOutsideLimits returns the set of keys of the recipes whose measurements violate a
// limit. If a recipe has several trials, the mean of their measurements counts.
func (ch *batchOptimizer) keysMeasuredOutsideLimits() (map[string]bool, error) {
	out := make(map[string]bool)
	for _, o := range ch.objectivesWithLimit() {
		numbers, classes, err := ch.campaign.measuredValues(o.learningSettings)
		if err != nil {
			return nil, err
		}
		sum, n := make(map[string]float64), make(map[string]float64)
		for k, t := range ch.campaign.trials {
			switch {
			case o.learningSettings.Numeric && !math.IsNaN(numbers[k]):
				sum[t.key] += numbers[k]
			case !o.learningSettings.Numeric && classes[k] != "":
				sum[t.key] += o.measuredDesirability(0, classes[k])
			default:
				continue
			}
			n[t.key]++
		}
		for key, v := range sum {
			if v /= n[key]; !o.learningSettings.Numeric && v == 0 || o.learningSettings.Numeric && o.measuredDesirability(v, "") == 0 {
				out[key] = true
			}
		}
	}
	return out, nil
}

// dropPredictionLimits stops enforcing the limits on predictions. It reports whether any limit was
// enforced before.
func (ch *batchOptimizer) dropPredictionLimits() bool {
	if ch.predictionLimitsDropped || len(ch.objectivesWithLimit()) == 0 {
		return false
	}
	ch.predictionLimitsDropped = true
	return true
}

// notesOnLimits returns notes for the user about limits that are not checked or not enforced.
func (ch *batchOptimizer) notesOnLimits() (notes []string) {
	var names []string
	for _, o := range ch.objectives {
		switch {
		case o.learningSettings.Limit == nil:
		case o.model == nil:
			notes = append(notes, fmt.Sprintf("The %s is not checked: there is no model of %s yet.", o.name, o.label))
		default:
			names = append(names, o.name)
		}
	}
	if ch.predictionLimitsDropped {
		it, is := "it", "it is"
		if len(names) > 1 {
			it, is = "them", "they are"
		}
		notes = append(notes, fmt.Sprintf("No recipe was found that is predicted to keep the %s. The recipes of this batch may break %s; their results show where %s kept.", strings.Join(names, " and the "), it, is))
	}
	return notes
}

// weakModelText returns a sentence that names the models that predict almost nothing, the weakest
// model first. The sentence is empty if there is no such model.
func (ch *batchOptimizer) weakModelText() string {
	var weak []string
	least, figure := math.Inf(1), ""
	for _, o := range ch.learntObjectives() {
		r2 := o.model.R2()
		if r2 >= weakModelR2 || slices.Contains(weak, o.label) {
			continue
		}
		switch {
		case math.IsNaN(r2):
			if figure == "" {
				figure = "it cannot be checked on held-out results"
			}
			weak = append(weak, o.label)
		case r2 < least:
			least, figure = r2, "held-out R² "+number.Fixed(r2, 2)
			weak = slices.Insert(weak, 0, o.label)
		default:
			weak = append(weak, o.label)
		}
	}
	switch len(weak) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("The model of %s can predict little yet (%s)", weak[0], figure)
	}
	return fmt.Sprintf("The models of %s can predict little yet (weakest: %s, %s)", number.JoinAnd(weak), weak[0], figure)
}
