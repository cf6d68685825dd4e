package assemble

import (
	"maps"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
)

// maxHeldOut is the largest number of held-out recipes that a run's report lists for a model.
const maxHeldOut = 500

// addHeldOut adds to each numeric model of a report what it predicts for known recipes that it was
// not trained on, beside what was measured.
func addHeldOut(p *compile.Problem, m *report.Model) error {
	for k := range p.Properties {
		w, f := &p.Properties[k], m.Properties[k].Forest
		measured := w.MeasuredNumbers()
		if f == nil || measured == nil {
			continue
		}
		predicted, err := w.HeldOutPredictions()
		if err != nil {
			return err
		}
		f.Unit = w.Unit
		recipes := slices.Sorted(maps.Keys(predicted))
		for at := 0; at < len(recipes); at += evenStride(len(recipes), maxHeldOut) {
			r, q := recipes[at], predicted[recipes[at]]
			f.HeldOut = append(f.HeldOut, report.HeldOut{
				Recipe: p.Book.Recipes[r].Name, Measured: report.Number(measured[r]),
				Value: report.Number(q.Value), Low: report.Number(q.Low), High: report.Number(q.High),
			})
		}
	}
	return nil
}
