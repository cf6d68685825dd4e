package view

import (
	"fmt"

	"strings"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// figureWidth is the width of figures in CSS pixels. It is the width of the page on a phone, so
// that text is readable there. On wider screens the page shows figures side by side.
const figureWidth = 330.0

// sizesFigure shows how many draws have each number of ingredients, and the probabilities in the
// sparsity law.
func sizesFigure(m *report.Model) *figure.Figure {
	from, to := m.ShownLaw()
	sizes := m.Sparsity[from:to]
	if len(sizes) == 0 {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 4, 10.0, 180.0
	f := &figure.Figure{Name: "sizes", Title: "Number of ingredients", Width: figureWidth, Height: bottom + 38}
	highest := 0.0
	var said []string
	for _, s := range sizes {
		e := 0.0
		if s.MCSE.IsKnown() {
			e = float64(2 * float64(s.MCSE))
		}
		highest = max(highest, float64(s.Target), float64(s.Observed)+e)
		if len(said) < 8 {
			said = append(said, fmt.Sprintf("%d: target %s, draws %s", s.N, number.Percent(s.Target), number.Percent(s.Observed)))
		}
	}
	f.Text = fmt.Sprintf("Bars: target share of each number of ingredients without objectives; dots: share of the draws. %s. The table of the number of ingredients has all figures.", strings.Join(said, "; "))
	y := f.Frame(left, top, right, bottom, float64(highest*1.05), figure.Percent, "number of ingredients; share in %")
	slot := (right - left) / float64(len(sizes))
	every := figure.TickStep(len(sizes), 14)
	for k, s := range sizes {
		x := left + float64(slot*float64(k))
		gap := min(slot*0.15, 6)
		f.Rect(x+gap, y.At(float64(s.Target)), max(0.5, slot-float64(2*gap)), bottom-y.At(float64(s.Target)), figure.Line)
		if s.N%every == 0 || len(sizes) == 1 {
			f.Write(x+float64(slot/2), bottom+17, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprint(s.N))
		}
	}
	for k, s := range sizes {
		x := left + float64(slot*(float64(k)+0.5))
		if s.MCSE.IsKnown() {
			f.Line(x, y.ClampedAt(float64(s.Observed-report.Number(2*s.MCSE))), x, y.At(float64(s.Observed+report.Number(2*s.MCSE))), 2, figure.Accent)
		}
		f.Dot(x, y.At(float64(s.Observed)), min(3.5, max(1.2, slot/3)), figure.Accent)
	}
	f.Key("target, without objectives", func(f *figure.Figure, x, y float64) { f.Rect(x, y, 20, 10, figure.Line) })
	f.Key("draws, ± 2 standard errors", func(f *figure.Figure, x, y float64) {
		f.Line(x+10, y-1, x+10, y+11, 2, figure.Accent)
		f.Dot(x+10, y+5, 3.5, figure.Accent)
	})
	f.PlaceKeys()
	return f
}

// scoreFigure shows histograms of the scores of draws and of random compositions.
func scoreFigure(m *report.Model) *figure.Figure {
	h := m.Score.Histogram
	if h == nil {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 14, 10.0, 180.0
	f := &figure.Figure{Name: "score", Title: "Scores of the draws and of random recipes", Width: figureWidth, Height: bottom + 38}
	f.Text = fmt.Sprintf("Histograms of the weighted score. Its mean is %s, standard error %s, over the draws, and %s, standard error %s, over %s random recipes with the draws' numbers of ingredients.",
		number.Score(m.Score.Draws, 1), number.ScoreError(m.Score.Draws, m.Score.DrawsMCSE), number.Score(m.Score.Random, 1), number.ScoreError(m.Score.Random, m.Score.RandomSE), number.Thousands(m.Score.RandomSize))
	if h.DrawsBelow > 0 || h.RandomBelow > 0 {
		f.Text += fmt.Sprintf(" %s of the draws and %s of the random recipes score less than is shown.", number.Percent(h.DrawsBelow), number.Percent(h.RandomBelow))
	}
	highest := 0.0
	for k := range h.Draws {
		highest = max(highest, float64(h.Draws[k]), float64(h.Random[k]))
	}
	title := "weighted score; share in %"
	if h.Log {
		title = "weighted score (logarithmic); share in %"
	}
	y := f.Frame(left, top, right, bottom, float64(highest*1.05), figure.Percent, title)
	x := figure.Scale{Lo: float64(h.Edges[0]), Hi: float64(h.Edges[len(h.Edges)-1]), From: left, To: right}
	ticks, digits := figure.Ticks(x.Lo, x.Hi, 6)
	for _, t := range ticks {
		word := number.Axis(t, digits)
		if h.Log {
			if digits > 0 {
				continue
			}
			word = number.ScoreTick(t)
		}
		f.Write(x.At(t), bottom+17, figure.SmallSize, figure.Middle, figure.Soft, word)
	}
	var outline []float64
	for k := range h.Draws {
		lo, hi := x.At(float64(h.Edges[k])), x.At(float64(h.Edges[k+1]))
		f.FillTranslucent(lo, y.At(float64(h.Draws[k])), hi-lo, bottom-y.At(float64(h.Draws[k])), figure.Accent)
		outline = append(outline, lo, y.At(float64(h.Random[k])), hi, y.At(float64(h.Random[k])))
	}
	f.Path(outline, 1.5, figure.Ink)
	place := func(mean report.Number) (float64, bool) {
		v := float64(mean)
		if h.Log {
			v = portable.Log10(v)
		}
		return x.ClampedAt(v), mean.IsKnown() && v >= x.Lo
	}
	if at, ok := place(m.Score.Draws); ok {
		f.Line(at, top, at, bottom, 2.5, figure.Accent)
	}
	if at, ok := place(m.Score.Random); ok {
		f.Dashed(at, top, at, bottom, 1.5, figure.Ink)
	}
	f.Key("draws, and their mean", func(f *figure.Figure, x, y float64) {
		f.FillTranslucent(x, y, 20, 10, figure.Accent)
		f.Line(x+10, y-1, x+10, y+11, 2.5, figure.Accent)
	})
	f.Key("random recipes, and their mean", func(f *figure.Figure, x, y float64) {
		f.Path([]float64{x, y + 10, x, y + 3, x + 20, y + 3, x + 20, y + 10}, 1.5, figure.Ink)
		f.Dashed(x+10, y-1, x+10, y+11, 1.5, figure.Ink)
	})
	f.PlaceKeys()
	return f
}
