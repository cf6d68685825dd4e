package compile

import (
	"fmt"
	"math"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/portable"
)

// modelDesirability returns a function that maps a value of the model's output to its desirability, from 0 to
// 1. It also returns a description. The parameter combinations has one model for each combination of values of
// conditions.
func modelDesirability(v *config.Model, n *yaml.Node, output modelOutput, combinations []*ensemble.Score) (desirability func(v float64) float64, about string, err error) {
	asked, nodes := v.ObjectiveKeys()
	if v.SD.Node != nil && (len(asked) != 1 || !v.HasBounds()) {
		return nil, "", yaml.Hint(v.SD.Node.Errorf("sd is for bounds, and there are none"), "remove it")
	}
	if output.isProbability {
		if len(asked) > 0 {
			return nil, "", yaml.Hint(nodes[0].Errorf("%s is for numbers, and the model tells the probability of a class", asked[0]), "remove it")
		}
		return func(p float64) float64 { return min(max(p, 0), 1) }, "as probable as can be", nil
	}
	if len(asked) != 1 {
		return nil, "", yaml.Hint(n.Errorf("%s", objectiveCountText("the model", asked)), "say one of maximize: true, minimize: true, target, at_least, at_most, between")
	}
	switch {
	case v.Target.Node != nil:
		d, about, err := targetDesirability(&v.Target.Value, 1, 1)
		if err != nil {
			return nil, "", v.Target.Node.PlaceError(err)
		}
		return func(v float64) float64 { return portable.Exp(d.Log(v)) }, about, nil
	case v.Maximize.Node != nil:
		return endsDesirability(config.Maximize, v.Maximize, output, combinations)
	case v.Minimize.Node != nil:
		return endsDesirability(config.Minimize, v.Minimize, output, combinations)
	}
	desirability, about = boundsDesirability(v)
	return desirability, about, nil
}

// boundsDesirability returns a function of the predicted value: the probability that a measurement lies within
// the bounds of o. It also returns a description. The measurement is normal around the predicted value. If the
// file gives no standard deviation, the measurement equals the predicted value.
func boundsDesirability(o *config.Model) (desirability func(v float64) float64, about string) {
	want := modelWant(&o.Objective)
	low, high, _ := want.Bounds()
	if o.SD.Node == nil {
		return func(v float64) float64 {
			if low <= v && v <= high {
				return 1
			}
			return 0
		}, want.String()
	}
	sd := o.SD.Value
	// Φ((high − v)/sd) − Φ((low − v)/sd), computed from the smaller tails to avoid cancellation.
	return func(v float64) float64 {
		a, b := (low-v)/(sd*math.Sqrt2), (high-v)/(sd*math.Sqrt2)
		if a < 0 {
			a, b = -b, -a
		}
		return float64((portable.Erfc(a) - portable.Erfc(b)) / 2)
	}, fmt.Sprintf("%s, give or take %v", want, sd)
}

// endsDesirability returns a function that maps a value to its relative position between two ends: 0 at or
// beyond the first end, 1 at or beyond the second. It also returns a description. If the file gives no ends,
// they are the least and the greatest value that the model can predict.
func endsDesirability(direction config.Direction, ends config.Written[config.Ends], output modelOutput, combinations []*ensemble.Score) (desirability func(v float64) float64, about string, err error) {
	from, to := ends.Value.From.Value, ends.Value.To.Value
	if ends.Value.From.Node == nil {
		from, to = math.Inf(1), math.Inf(-1)
		for _, s := range combinations {
			least, greatest := s.SumBounds()
			a, b := output.valueOf(least), output.valueOf(greatest)
			from, to = min(from, a, b), max(to, a, b)
		}
		if direction == config.Minimize {
			from, to = to, from
		}
	}
	if math.IsInf(from, 0) || math.IsInf(to, 0) || math.IsNaN(from+to) || from == to || from < to != (direction == config.Maximize) {
		return nil, "", yaml.Hint(ends.Node.Errorf("there is nothing to %s from %v to %v", direction, from, to), "write {from: 2, to: 5} as suits the model: the values that score 0 and 1")
	}
	return func(v float64) float64 { return min(max((v-from)/(to-from), 0), 1) }, fmt.Sprintf("%s, from %.4g to %.4g", direction, from, to), nil
}
