package assemble

import (
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
)

// A namedFigure figure is one of a property by the name under which entries have it.
type namedFigure struct {
	compile.Figure
	name     string
	property int // the property
}

// figures returns the figures of a problem's properties. One without a name is called after
// its property, and so is one whose name is that of another.
func figures(p *compile.Problem) []namedFigure {
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

// valuesOf returns what a composition has of figures, and what is predicted of it; nil for
// nothing.
func valuesOf(list []namedFigure, x *mcmc.Composition, predicted map[string]report.Prediction) map[string]report.Value {
	if len(list)+len(predicted) == 0 {
		return nil
	}
	out := make(map[string]report.Value, len(list)+len(predicted))
	for name, q := range predicted {
		out[name] = report.Value{Value: q.Value, Low: q.Low, High: q.High, Unit: q.Unit}
		if q.Class != "" {
			out[name] = report.Value{Value: percent(q.Value), Low: percent(q.Low), High: percent(q.High), Unit: "%"}
		}
	}
	for _, f := range list {
		v := report.Value{Value: report.Number(f.Of(x)), Low: report.UnknownNumber(), High: report.UnknownNumber(), Unit: f.Unit}
		if f.Percent {
			v.Value, v.Unit = percent(v.Value), "%"
		}
		out[f.name] = v
	}
	return out
}

func percent(share report.Number) report.Number { return report.Number(float64(100 * share)) }
