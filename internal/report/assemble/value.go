package assemble

import (
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
)

// A namedFigure is a value that a property computes for compositions, with the name under which
// entries list the value.
type namedFigure struct {
	compile.Figure
	name          string
	propertyIndex int // index of the property
}

// namedFigures returns the figures of all properties of a problem, with their names. A figure
// without a name gets the name of its property. If the name of a figure is taken, the name of the
// property is put before it.
func namedFigures(p *compile.Problem) []namedFigure {
	var list []namedFigure
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
			list = append(list, namedFigure{f, name, k})
		}
	}
	return list
}

// compositionValues returns the figures of a composition and its predictions as values, by name;
// nil if there are neither.
func compositionValues(list []namedFigure, x *mcmc.Composition, predicted map[string]report.Prediction) map[string]report.Value {
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

func toPercent(share report.Number) report.Number { return report.Number(float64(100 * share)) }
