package assemble

import (
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
)

// A namedValue is a value that a property computes for compositions, such as a cost, with the name
// under which reports list the value.
type namedValue struct {
	compile.Figure
	name          string // name in reports
	propertyIndex int    // index of the property in the problem
}

// newNamedValues returns the values that the properties of a problem compute, with their names in
// reports. A value without a name of its own gets the name of its property. If a name is already in
// use, the name of the property is put before it.
func newNamedValues(p *compile.Problem) []namedValue {
	var list []namedValue
	var taken []string
	for _, w := range p.Properties {
		taken = append(taken, w.Name)
	}
	for k, w := range p.Properties {
		for _, f := range w.Figures {
			name := f.Name
			switch {
			case name == "" || name == w.Name && len(w.Figures) == 1:
				name = w.Name
			case slices.Contains(taken, name):
				name = w.Name + " " + name
			}
			taken = append(taken, name)
			list = append(list, namedValue{f, name, k})
		}
	}
	return list
}

// compositionValues returns a map from names to quantities of a composition: the values in list,
// and the predictions. The result is nil if there are neither.
func compositionValues(list []namedValue, x *mcmc.Composition, predicted map[string]report.Prediction) map[string]report.Value {
	if len(list)+len(predicted) == 0 {
		return nil
	}
	out := make(map[string]report.Value, len(list)+len(predicted))
	for name, q := range predicted {
		out[name] = report.Value{Value: q.Value, Low: q.Low, High: q.High, Unit: q.Unit}
		if q.Class != "" {
			out[name] = report.Value{Value: toPercent(q.Value), Low: toPercent(q.Low), High: toPercent(q.High), Unit: "%"}
		}
	}
	for _, f := range list {
		v := report.Value{Value: report.Number(f.ValueOf(x)), Low: report.UnknownNumber(), High: report.UnknownNumber(), Unit: f.Unit}
		if f.Percent {
			v.Value, v.Unit = toPercent(v.Value), "%"
		}
		out[f.name] = v
	}
	return out
}

// toPercent converts a share in 0..1 to percent.
func toPercent(share report.Number) report.Number { return report.Number(float64(100 * share)) }
