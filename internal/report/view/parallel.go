package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// minParallelAxes is the least number of objectives for which a figure has one axis for each; fewer
// objectives are easier to read in a scatter plot.
const minParallelAxes = 3

// A parallelAxis is an axis of parallel coordinates, which shows one objective.
type parallelAxis struct {
	title   string
	values  []float64            // item k is the value of entry k of the shortlist
	known   report.Number        // value of the best known recipe; unknown if there is none
	scores  []float64            // item k is the score of entry k for the objective, from 0 to 1
	text    func(float64) string // writes a value
	isScore bool                 // whether the values are the scores themselves, which are at most 1
	scale   figure.Scale
}

// parallelFigure shows the objectives of the displayed suggestions in parallel coordinates: an axis
// for each objective, one below the other, and a line for each suggestion from its number through
// its values. The result is nil if there are fewer than three objectives or two suggestions.
func parallelFigure(m *report.Model) *figure.Figure {
	list := m.Best[:min(len(m.Best), maxFirstCards)] // more lines cannot be told apart
	axes := newParallelAxes(m, list)
	if len(axes) < minParallelAxes || len(list) < 2 {
		return nil
	}
	const left, right, top, step = 12.0, figureWidth - 12, 20.0, 62.0
	f := &figure.Figure{Name: "parallel", Title: "Objectives of each suggestion", Width: figureWidth}
	f.Height = top + float64(step*float64(len(axes))) + 20
	numbers := figure.Scale{Lo: 0, Hi: float64(len(list) - 1), From: left, To: right}
	y := func(axis int) float64 { return top + 2 + float64(step*float64(axis+1)) }
	var said []string
	for k := range axes {
		a := &axes[k]
		a.scale.From, a.scale.To = left, right
		f.Line(left, y(k), right, y(k), 1, figure.Line)
		said = append(said, fmt.Sprintf("%s from %s to %s", a.title, a.text(a.scale.Lo), a.text(a.scale.Hi)))
	}
	every := figure.TickStep(len(list), 14)
	for k := len(list) - 1; k >= 0; k-- {
		path := []float64{numbers.At(float64(k)), top}
		var values []string
		for q, a := range axes {
			path = append(path, a.scale.At(a.values[k]), y(q))
			values = append(values, a.title+" "+a.text(a.values[k]))
		}
		width, paint := 1.2, figure.Soft
		if k == 0 {
			width, paint = 2.5, figure.Accent
		}
		f.Group(entryName(k), fmt.Sprintf("Suggestion %d: %s", k+1, strings.Join(values, ", ")), func() {
			f.Path(path, width, paint)
			if (k+1)%every == 0 {
				f.Write(numbers.At(float64(k)), top-6, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprint(k+1))
			}
		})
	}
	hasKnown := m.BestKnown != nil && drawKnownLine(f, axes, m.BestKnown.Name, y)
	for k := range axes {
		axes[k].label(f, left, right, y(k))
	}
	f.Key("suggestion 1", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 2.5, figure.Accent) })
	f.Key("the others", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 1.2, figure.Soft) })
	if hasKnown {
		f.Key("your best", func(f *figure.Figure, x, y float64) { f.Dashed(x, y+5, x+20, y+5, 2, figure.Ink) })
	}
	f.PlaceKeys()
	f.Text = fmt.Sprintf("Parallel coordinates of %s in %s: %s. The first suggestion has the thick line.",
		number.CountWithNoun(len(list), "suggestion"), number.CountWithNoun(len(axes), "objective"), strings.Join(said, "; "))
	return f
}

// minAxisSpread is the least length of an axis, as a share of its values. A smaller one would show
// differences that do not matter.
const minAxisSpread = 0.05

// newParallelAxes returns an axis for each objective whose values are known.
func newParallelAxes(m *report.Model, list []report.Best) (axes []parallelAxis) {
	for _, w := range m.Properties {
		if w.Weight <= 0 {
			continue
		}
		a := parallelAxis{title: w.Name}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, b := range list {
			v := a.setObjective(w, b)
			a.values, a.scores = append(a.values, float64(v)), append(a.scores, float64(b.Scores[w.Name]))
			if v.IsKnown() {
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			} else {
				hi = math.Inf(1) // no line can pass
			}
		}
		if a.known = knownObjective(w, m.BestKnown); a.known.IsKnown() {
			lo, hi = min(lo, float64(a.known)), max(hi, float64(a.known))
		}
		if missing := float64(minAxisSpread*math.Abs(lo+hi)/2) - (hi - lo); missing > 0 {
			lo, hi = lo-float64(missing/2), hi+float64(missing/2)
		}
		if a.isScore && hi > 1 {
			lo, hi = 1-(hi-lo), 1
		}
		if hi-lo > 0 && hi-lo < 1e300 {
			a.scale.Lo, a.scale.Hi = lo, hi
			axes = append(axes, a)
		}
	}
	return axes
}

// setObjective lets the axis show what says best what suggestions achieve for an objective, and
// returns it for the suggestion b: the prediction, the value that the objective computes, or else the
// score.
func (a *parallelAxis) setObjective(w report.Property, b report.Best) report.Number {
	if q, ok := b.Predicted[w.Name]; ok {
		a.title, a.text = valueHeading(w.Name, q.Unit), number.Value[float64]
		if q.Class != "" {
			a.title, a.text = w.Name+" "+q.Class, number.WholePercent[float64]
		}
		return q.Shown()
	}
	if len(w.Values) == 1 {
		v := b.Values[w.Values[0]]
		a.title, a.text = valueHeading(w.Values[0], v.Unit), number.Value[float64]
		return v.Value
	}
	a.title, a.text, a.isScore = w.Name+", score", number.ThreeFigures[float64], true
	return b.Scores[w.Name]
}

// knownObjective returns what the best known recipe achieves for an objective: what was measured,
// where that is a number, and else what [parallelAxis.setObjective] shows of a suggestion. It is
// unknown if the recipe is nil.
func knownObjective(w report.Property, b *report.BestKnown) report.Number {
	if b == nil {
		return report.UnknownNumber()
	}
	if v, ok := b.Measured[w.Name]; ok && v.Class == "" {
		return v.Value
	} else if ok {
		return b.Scores[w.Name] // 1 for the wanted class, 0 for others
	}
	if q, ok := b.Predicted[w.Name]; ok {
		return q.Shown()
	}
	if len(w.Values) == 1 {
		return b.Values[w.Values[0]].Value
	}
	return b.Scores[w.Name]
}

// drawKnownLine draws the line of the best known recipe, unless one of its values is unknown. The
// function y returns the position of an axis. It reports whether there is a line.
func drawKnownLine(f *figure.Figure, axes []parallelAxis, name string, y func(axis int) float64) bool {
	var path []float64
	var values []string
	for q, a := range axes {
		if !a.known.IsKnown() {
			return false
		}
		path = append(path, a.scale.At(float64(a.known)), y(q))
		values = append(values, a.title+" "+a.text(float64(a.known)))
	}
	f.Group(knownEntry, "Your best, "+name+": "+strings.Join(values, ", "), func() { f.DashedPath(path, 2, figure.Ink) })
	return true
}

// minScoreSpread is the least difference of scores from which an axis shows which end is better.
const minScoreSpread = 0.01

// label writes the title and the ends of an axis whose line is at y. An arrow shows which end is
// better, if the scores rise or fall with the values throughout, and clearly.
func (a *parallelAxis) label(f *figure.Figure, left, right, y float64) {
	better := ""
	rises, falls := a.directions()
	switch clear := slices.Max(a.scores)-slices.Min(a.scores) >= minScoreSpread; {
	case !clear:
	case rises && !falls:
		better = " → better"
	case falls && !rises:
		better = " ← better"
	}
	low, high := a.text(a.scale.Lo), a.text(a.scale.Hi)
	lowWidth, highWidth := figure.TextWidth(low, figure.SmallSize), figure.TextWidth(high, figure.SmallSize)
	f.WriteOver(left-8, y+15, figure.SmallSize, figure.Start, figure.Soft, low)
	f.WriteOver(right+8, y+15, figure.SmallSize, figure.End, figure.Soft, high)
	room := right - left - lowWidth - highWidth - 4
	title := figure.Clip(a.title, room-figure.TextWidth(better, figure.SmallSize), figure.SmallSize) + better
	f.WriteOver(float64((left+lowWidth+right-highWidth)/2), y+15, figure.SmallSize, figure.Middle, figure.Ink, title)
}

// directions reports whether the score rises, and whether it falls, from any suggestion to one of
// a larger value.
func (a *parallelAxis) directions() (rises, falls bool) {
	for k := range a.values {
		for q := range a.values {
			if a.values[k] < a.values[q] {
				rises = rises || a.scores[k] < a.scores[q]
				falls = falls || a.scores[k] > a.scores[q]
			}
		}
	}
	return rises, falls
}
