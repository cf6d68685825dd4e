package forests

import (
	"math/rand/v2"
	"testing"

	"kir/internal/compile"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// BenchmarkLine walks from fragrance to fragrance along random lines, which forests of
// 100 trees score, by what splits test; and scores points alone.
func BenchmarkLine(b *testing.B) {
	scents := fragrances(b)
	all := compile.Descriptors{Totals: []string{"family", "note"}, Means: []string{"cost", "max_dose"}}
	ratios := all
	ratios.Ratios = []string{"family", "note"}
	for _, c := range []struct {
		name string
		d    compile.Descriptors
	}{
		{"amounts", compile.Descriptors{}},
		{"amounts and totals", compile.Descriptors{Totals: all.Totals}},
		{"amounts, totals and means", all},
		{"and ratios", ratios},
	} {
		data := *scents.data
		data.Features = scents.features(b, c.d)
		f, err := model.Grow(b.Context(), &data, model.Options{Trees: 100, Splits: model.BestSplits, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		score, err := f.Score(model.Maximize())
		if err != nil {
			b.Fatal(err)
		}
		p := property.NewForest(score, 0)
		r := rand.New(rand.NewPCG(1, 1))
		var parts []mcmc.Part
		for _, q := range data.Rows[0] {
			parts = append(parts, mcmc.Part{Ingredient: int(q.Ingredient), Amount: int(q.Amount)})
		}
		x, err := mcmc.NewComposition(len(data.Ingredients), parts...)
		if err != nil {
			b.Fatal(err)
		}
		pair := func() (i, j int) {
			i = int(x.Ingredients()[r.IntN(x.UsedCount())])
			for j = i; j == i; {
				j = r.IntN(len(data.Ingredients))
			}
			return i, j
		}
		b.Run(c.name+"/line", func(b *testing.B) {
			s := p.Scorer(x)
			s.Reset()
			var pieces mcmc.PiecewiseConstant
			for b.Loop() {
				i, j := pair()
				pieces.Reset()
				s.Line(i, j, &pieces)
				if x.UsedCount() > 12 || x.Amount(i) > 1 {
					if err := x.Move(i, j, r.IntN(x.Amount(i)+x.Amount(j)+1)); err != nil {
						b.Fatal(err)
					}
					s.Moved(i, j)
				}
			}
		})
		b.Run(c.name+"/point", func(b *testing.B) {
			for b.Loop() {
				p.LogScore(x)
			}
		})
	}
}
