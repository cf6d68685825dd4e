package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/run"
)

// A dotRow is a row of a dot plot: a label, and a number with its standard error.
type dotRow struct {
	label          string  // text at the left of the row
	secondLabel    string  // second line of the label, or empty
	value          float64 // number shown by a dot
	se             float64 // standard error of value
	referenceValue float64 // number shown by a ring, for comparison; NaN for no ring
}

// A dotAxis is the horizontal axis of a dot plot.
type dotAxis struct {
	title         string
	lo            float64                // number at the left end
	hi            float64                // number at the right end
	isLogarithmic bool                   // whether the axis is logarithmic
	isSquareRoot  bool                   // whether the axis shows square roots; it does if a few values are far above all others
	ticks         []float64              // numbers with labels
	formatTick    func(v float64) string // returns the label of a number
}

// newDotAxis returns a linear axis from 0 to hi, whose labels show multiples of unit.
func newDotAxis(title string, hi, unit float64) dotAxis {
	ticks, digits := figure.Ticks(0, hi/unit, 5)
	for k := range ticks {
		ticks[k] = float64(ticks[k] * unit)
	}
	return dotAxis{title: title, hi: hi, ticks: ticks, formatTick: func(v float64) string { return number.Axis(v/unit, digits) }}
}

// minRootScaleRatio is a ratio of the largest value to the median of all values. From this ratio
// on, a dot plot shows square roots, since most dots would be too close together on a linear axis.
const minRootScaleRatio = 4

// newShareAxis returns an axis from 0 to hi for the given shares, labelled in percent. The axis
// shows square roots if one share is far above the others.
func newShareAxis(title string, hi float64, values []float64) dotAxis {
	a := newDotAxis(title, hi, figure.Percent)
	slices.Sort(values)
	if len(values) < 4 || values[len(values)-1] < minRootScaleRatio*values[len(values)/2] {
		return a
	}
	a.isSquareRoot, a.title, a.ticks = true, title+" (root scale)", nil
	for _, t := range []float64{0, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 70, 100} {
		// Ticks are at least as far apart as their numbers are wide.
		at := math.Sqrt(t * figure.Percent / hi)
		if last := len(a.ticks) - 1; at <= 1 && (last < 0 || at-math.Sqrt(a.ticks[last]/hi) > 0.13) {
			a.ticks = append(a.ticks, float64(t*figure.Percent))
		}
	}
	a.formatTick = func(v float64) string { return fmt.Sprintf("%.3g", v/figure.Percent) }
	return a
}

// minLabelWidth and maxLabelWidth are the least and the largest width of the labels at the left of
// a dot plot, in CSS pixels.
const minLabelWidth, maxLabelWidth = 70.0, 176.0

// dotPlotLabelWidth returns the width in CSS pixels that the labels of the rows need. The width is
// at least minLabelWidth and at most maxLabelWidth.
func dotPlotLabelWidth(rows []dotRow) float64 {
	widest := minLabelWidth
	for _, r := range rows {
		widest = max(widest, figure.TextWidth(r.label, figure.TextSize), figure.TextWidth(r.secondLabel, figure.TextSize))
	}
	return min(widest, maxLabelWidth)
}

// drawDotPlot draws a dot for each row, on a line that extends two standard errors to either side.
func drawDotPlot(f *figure.Figure, rows []dotRow, a dotAxis) {
	const right, top = 12.0, 6.0
	left := dotPlotLabelWidth(rows) + 12
	row := 18.0
	if len(rows) > 0 && rows[0].secondLabel != "" {
		row = 34
	}
	f.Width = figureWidth
	bottom := top + float64(row*float64(len(rows)))
	f.Height = bottom + 34
	place := func(v float64) float64 { return v }
	if a.isLogarithmic {
		place = portable.Log
	} else if a.isSquareRoot {
		place = func(v float64) float64 { return math.Sqrt(max(v, 0)) }
	}
	scale := figure.Scale{Lo: place(a.lo), Hi: place(a.hi), From: left, To: figureWidth - right}
	at := func(v float64) float64 {
		if a.isLogarithmic && v <= 0 {
			return left
		}
		return scale.ClampedAt(place(v))
	}
	for _, t := range a.ticks {
		f.Line(at(t), top, at(t), bottom, 0.5, figure.Line)
		f.Write(at(t), bottom+14, figure.SmallSize, figure.Middle, figure.Soft, a.formatTick(t))
	}
	title := figure.Clip(a.title, figureWidth, figure.SmallSize)
	middle := min((left+figureWidth-right)/2, figureWidth-float64(figure.TextWidth(title, figure.SmallSize)/2))
	f.Write(middle, bottom+29, figure.SmallSize, figure.Middle, figure.Soft, title)
	for k, r := range rows {
		y := top + float64(row*(float64(k)+0.5))
		if r.secondLabel == "" {
			f.Write(left-8, y+4, figure.TextSize, figure.End, figure.Ink, figure.Clip(r.label, left-10, figure.TextSize))
		} else {
			f.Write(left-8, y-3, figure.TextSize, figure.End, figure.Ink, figure.Clip(r.label, left-10, figure.TextSize))
			f.Write(left-8, y+11, figure.TextSize, figure.End, figure.Ink, figure.Clip(r.secondLabel, left-10, figure.TextSize))
		}
		if !math.IsNaN(r.se) {
			f.Line(at(r.value-float64(2*r.se)), y, at(r.value+float64(2*r.se)), y, 2, figure.Accent)
		}
		if !math.IsNaN(r.referenceValue) {
			f.Ring(at(r.referenceValue), y, 4, figure.Ink)
		}
		f.Dot(at(r.value), y, 3.5, figure.Accent)
	}
}

// addDotKeys adds keys that explain the marks of a dot plot. The parameter value explains the dots,
// and reference the rings. If reference is empty, there are no rings.
func addDotKeys(f *figure.Figure, value, reference string) {
	f.Key(value, func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 2, figure.Accent)
		f.Dot(x+10, y+5, 3.5, figure.Accent)
	})
	if reference != "" {
		f.Key(reference, func(f *figure.Figure, x, y float64) { f.Ring(x+10, y+5, 4, figure.Ink) })
	}
	f.PlaceKeys()
}

// frequentIngredientCount is the largest number of ingredients in figures of ingredients, which
// show the most frequent ones.
const frequentIngredientCount = 20

// inclusionFigure shows the share of the draws that use each of the most frequent ingredients, as a
// dot plot.
func inclusionFigure(m *report.Model) *figure.Figure {
	f := &figure.Figure{Name: "ingredients", Title: "The %d most frequent ingredients", Text: "Dot plot of the share of draws that use each of the %d most frequent ingredients"}
	return frequentIngredientsFigure(m, f, "draws that use it, %", "share of your recipes", func(i *run.Inclusion) dotRow {
		return dotRow{value: float64(i.Probability), se: float64(i.MCSE), referenceValue: float64(i.BookShare)}
	})
}

// amountsFigure shows the mean amount of each of the most frequent ingredients, as a dot plot.
func amountsFigure(m *report.Model) *figure.Figure {
	total := float64(m.Problem.Total)
	f := &figure.Figure{Name: "amounts", Title: "Mean amounts, where they are used", Text: "Dot plot of the mean amount of each of the %d most frequent ingredients, over the draws that use it"}
	return frequentIngredientsFigure(m, f, "mean amount, % of the total", "mean of your recipes that use it", func(i *run.Inclusion) dotRow {
		return dotRow{value: float64(i.MeanAmount) / total, se: float64(i.AmountMCSE) / total, referenceValue: float64(i.BookAmount) / total}
	})
}

// frequentIngredientsFigure draws a dot plot of the most frequent ingredients into f. The axis
// shows percent, from 0 on, and title is its title. The function newRow returns the row of an
// ingredient. The parameter reference explains the rings, which mark known recipes. The verb %d in
// the title and the text of f is replaced by the number of ingredients.
func frequentIngredientsFigure(m *report.Model, f *figure.Figure, title, reference string, newRow func(*run.Inclusion) dotRow) *figure.Figure {
	var rows []dotRow
	var said []string
	top := 0.0 // the largest value shown
	order := m.IndicesByFrequency()
	for _, k := range order[:min(len(order), frequentIngredientCount)] {
		i := &m.Inclusion[k]
		if i.Probability <= 0 {
			break
		}
		r := newRow(i)
		r.label = i.Ingredient
		rows = append(rows, r)
		for _, v := range []float64{r.value, r.value + float64(2*r.se), r.referenceValue} {
			if v > top { // false for NaN
				top = v
			}
		}
		if len(said) < 5 {
			words := fmt.Sprintf("%s %s", i.Ingredient, number.Percent(r.value))
			if report.Number(r.referenceValue).IsKnown() {
				words += fmt.Sprintf(" (yours %s)", number.Percent(r.referenceValue))
			}
			said = append(said, words)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	count := fmt.Sprint(len(rows))
	f.Title = strings.Replace(f.Title, "%d", count, 1)
	f.Text = fmt.Sprintf("%s. First: %s. The table of ingredients has all figures.", strings.Replace(f.Text, "%d", count, 1), strings.Join(said, ", "))
	if m.Problem.Recipes == 0 {
		reference = ""
	}
	values := make([]float64, len(rows))
	for k, r := range rows {
		values[k] = r.value
	}
	drawDotPlot(f, rows, newShareAxis(title, min(1, top*1.06), values))
	addDotKeys(f, "draws, ± 2 standard errors", reference)
	return f
}

// pairsFigure shows the lift of pairs of ingredients that draws use together often or rarely.
func pairsFigure(m *report.Model) *figure.Figure {
	if m.Pairs == nil {
		return nil
	}
	list := slices.Concat(m.Pairs.Together, m.Pairs.Apart)
	if len(list) == 0 {
		return nil
	}
	lo, hi := math.Inf(1), 0.0
	var rows []dotRow
	for _, p := range list {
		r := dotRow{label: p.First, secondLabel: "+ " + p.Second, value: float64(p.Lift), se: float64(p.MCSE), referenceValue: float64(p.Expected)}
		rows = append(rows, r)
		lo, hi = min(lo, r.referenceValue, max(r.value/4, r.value-float64(2*r.se))), max(hi, r.referenceValue, r.value+float64(2*r.se))
	}
	f := &figure.Figure{
		Name: "pairs", Title: "Pairs that go together, and pairs that do not",
		Text: fmt.Sprintf("Dot plot of the lift of %d pairs, on a logarithmic scale, beside the lift that is expected of each. The table of pairs has all figures.", len(rows)),
	}
	lo, hi = lo/1.1, float64(hi*1.1)
	ticks := logTicks(lo, hi)
	drawDotPlot(f, rows, dotAxis{
		title: "lift (logarithmic)", lo: lo, hi: hi, isLogarithmic: true, ticks: ticks,
		formatTick: func(v float64) string { return fmt.Sprintf("%.3g", v) },
	})
	addDotKeys(f, "draws, ± 2 standard errors", "expected")
	return f
}

// logTicks returns round numbers between lo and hi, to label a logarithmic axis.
func logTicks(lo, hi float64) []float64 {
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var ticks []float64
		for e := math.Floor(portable.Log10(lo)); e <= portable.Log10(hi); e++ {
			for _, s := range steps {
				if t := float64(s * portable.Pow(10, e)); t >= lo && t <= hi {
					ticks = append(ticks, t)
				}
			}
		}
		if len(ticks) < 2 {
			break
		}
		if len(ticks) <= 7 {
			return ticks
		}
	}
	if ticks, _ := figure.Ticks(lo, hi, 4); len(ticks) > 1 && hi < 10*lo {
		return ticks // one number shows no scale
	}
	return []float64{lo, hi}
}

// importanceFigure shows the importance of features for the model of property k.
func importanceFigure(m *report.Model, k int) *figure.Figure {
	w := m.Properties[k]
	if w.Forest == nil {
		return nil
	}
	return newImportanceFigure(w.Forest, fmt.Sprintf("importance-%d", k+1), w.Name)
}

// newImportanceFigure shows the importance of the features that a model needs most. The parameter
// fileName is the name of the figure's files, and label is the label that the model predicts. The
// result is nil if importances are unknown.
func newImportanceFigure(of *report.Forest, fileName, label string) *figure.Figure {
	if len(of.Importances) == 0 {
		return nil
	}
	f := &figure.Figure{Name: fileName, Title: "Most important inputs of the model of " + label}
	var rows []dotRow
	var said []string
	hi := 0.0
	for _, i := range of.Importances {
		r := dotRow{label: i.Feature, value: float64(i.Mean), se: float64(i.SE), referenceValue: math.NaN()}
		rows = append(rows, r)
		hi = max(hi, r.value+float64(2*r.se))
		said = append(said, fmt.Sprintf("%s %s", i.Feature, number.ThreeFigures(r.value)))
	}
	f.Text = fmt.Sprintf("Dot plot of the importance of %d inputs (features): %s.", len(rows), strings.Join(said, ", "))
	unit, title := 1.0, "rise of the squared error, in variances"
	if of.Quality.Classes != nil {
		unit, title = 0.01, "loss of accuracy, percentage points"
	}
	drawDotPlot(f, rows, newDotAxis(title, hi, unit))
	addDotKeys(f, "mean over the trees, ± 2 standard errors", "")
	return f
}
