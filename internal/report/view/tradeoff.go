package view

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/terminal"
)

// Tradeoff writes the report on a Pareto front as text. The parameter total is the number of units
// of a recipe.
func Tradeoff(w io.Writer, t *report.Tradeoff, total int, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	writeTradeoff(p, t, total)
	return p.Err
}

// writeTradeoff writes the report on a Pareto front as text. The parameter total is the number of
// units of a recipe.
func writeTradeoff(p *terminal.Printer, t *report.Tradeoff, total int) {
	for _, l := range terminal.Wrap(terminal.EscapeControls(tradeHeadline(t)), terminal.MaxColumns) {
		p.Line("%s", p.Bold(l))
	}
	for _, l := range tradeSentences(t) {
		p.Wrapped(0, l)
	}
	writeWarnings(p, t.Warnings)
	heads := []string{"", "recipe"}
	for _, o := range t.Objectives {
		heads = append(heads, terminal.EscapeControls(tradeHeading(t, o)))
	}
	p.Line("")
	table := terminal.NewTable(2, heads...)
	table.SetMaxWidth(1, recipeColumnWidth)
	for k := range t.Front {
		point := &t.Front[k]
		cells := []any{fmt.Sprint(point.Index) + kneeMark(point), recipeText(point.Parts(), total)}
		for _, o := range t.Objectives {
			cells = append(cells, tradeIntervalText(point.Values[o.Name], o))
		}
		table.Row(cells...)
	}
	p.Table(table)
	if len(t.Knees()) > 0 {
		p.Line("* knee: beyond it, a small gain in one costs much of the other")
	}
	for b := range t.Objectives {
		for a := range b {
			writeTradePlot(p, t, a, b)
		}
	}
}

// tradeHeading returns the heading of the column of an objective: its name and unit, and whether
// its values have intervals.
func tradeHeading(t *report.Tradeoff, o report.Objective) string {
	head := valueHeading(o.Name, o.Unit)
	if slices.ContainsFunc(t.Front, func(p report.FrontPoint) bool { v := p.Values[o.Name]; return v.Low.IsKnown() && v.High.IsKnown() }) {
		head += " (90 % range)"
	}
	return head
}

// recipeColumnWidth is the width of the column of recipes in the table of a Pareto front, in
// characters.
const recipeColumnWidth = 36

// kneeMark returns the mark of a point of a Pareto front that is a knee, and "" for other points.
func kneeMark(p *report.FrontPoint) string {
	if p.Knee {
		return " *"
	}
	return ""
}

// objectiveNames joins the names of the objectives to a list such as "a, b and c".
func objectiveNames(t *report.Tradeoff) string {
	var names []string
	for _, o := range t.Objectives {
		names = append(names, o.Name)
	}
	return joinWords(names, "and")
}

// joinWords joins words by commas, and the last two by the word last, such as "and".
func joinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// tradeHeadline returns a sentence that summarises a Pareto front.
func tradeHeadline(t *report.Tradeoff) string {
	switch {
	case len(t.Front) == 0:
		return "No recipe was found that meets the constraints."
	case t.Found == 1:
		return fmt.Sprintf("No trade-off: one recipe is the best in %s.", objectiveNames(t))
	}
	return fmt.Sprintf("Trade-off of %s: %s, none of which beats another.", objectiveNames(t), number.CountWithNoun(len(t.Front), "recipe"))
}

// tradeSentences returns sentences on a Pareto front: the ranges of the objectives, the knees and
// the quality.
func tradeSentences(t *report.Tradeoff) []string {
	if len(t.Front) == 0 {
		return nil
	}
	var all, ends []string
	for _, o := range t.Objectives {
		text := o.Name + " is between " + tradeNumberWithUnit(o.Best, o) + " (best) and " + tradeNumberWithUnit(o.Worst, o)
		if o.Direction == config.Between {
			text += " (wanted: " + acceptedRangeText(o) + ")"
		}
		ends = append(ends, text)
	}
	all = append(all, "In these recipes, "+strings.Join(ends, ", ")+".")
	if len(t.Front) < t.Found {
		all = append(all, fmt.Sprintf("They are spread evenly over the %s that were found.", number.CountWithNoun(t.Found, "such recipe")))
	}
	if knees := t.Knees(); len(knees) > 0 {
		var list []string
		for k := range knees {
			var values []string
			for _, o := range t.Objectives {
				values = append(values, o.Name+" "+tradeNumberWithUnit(knees[k].Values[o.Name].Value, o))
			}
			list = append(list, fmt.Sprintf("recipe %d (%s)", knees[k].Index, strings.Join(values, ", ")))
		}
		text := "The knee is " + list[0]
		if len(list) > 1 {
			text = "The knees are " + joinWords(list, "and")
		}
		all = append(all, text+": beyond it, a small gain in one objective costs much of another.")
	}
	if t.Found > 1 {
		all = append(all, fmt.Sprintf("Quality of the trade-off (hypervolume; larger is better) %s; each of %d searches alone reaches %s ± %s, %s random recipes (drawn without objectives) %s ± %s (standard error).",
			number.ThreeFigures(t.Hypervolume.Value), len(t.Hypervolume.Each), number.ThreeFigures(meanNumber(t.Hypervolume.Each)), number.Error(t.Hypervolume.SE),
			number.Thousands(t.Random.Compositions), number.ThreeFigures(t.Random.Value), number.Error(t.Random.SE)))
	}
	return all
}

// meanNumber returns the mean of the numbers.
func meanNumber(list []report.Number) report.Number {
	sum := report.Number(0)
	for _, v := range list {
		sum += v / report.Number(len(list))
	}
	return sum
}

// acceptedRangeText writes the range of values that are wanted, for an objective with the direction
// "between".
func acceptedRangeText(o report.Objective) string {
	switch {
	case !o.Low.IsKnown():
		return "at most " + tradeNumberWithUnit(o.High, o)
	case !o.High.IsKnown():
		return "at least " + tradeNumberWithUnit(o.Low, o)
	case o.Low == o.High:
		return tradeNumberWithUnit(o.Low, o)
	}
	return tradeNumber(o.Low, o) + " to " + tradeNumberWithUnit(o.High, o)
}

// tradeNumberWithUnit writes a value of an objective like [tradeNumber], with its unit.
func tradeNumberWithUnit(v report.Number, o report.Objective) string {
	return strings.TrimSpace(tradeNumber(v, o) + " " + o.Unit)
}

// tradeNumber writes a value of an objective with as many digits as distinguish about a hundred
// values on the Pareto front.
func tradeNumber(v report.Number, o report.Objective) string {
	width := math.Abs(float64(o.Worst - o.Best))
	if !v.IsKnown() || !(width > 0) {
		return number.Value(v)
	}
	digits := 2 - int(math.Floor(portable.Log10(width)))
	return number.Fixed(v, min(max(digits, 0), 9))
}

// tradeIntervalText writes a value of an objective with its interval, but without its unit.
func tradeIntervalText(v report.Value, o report.Objective) string {
	text := tradeNumber(v.Value, o)
	if v.Low.IsKnown() && v.High.IsKnown() {
		text += fmt.Sprintf(" (%s–%s)", tradeNumber(v.Low, o), tradeNumber(v.High, o))
	}
	return text
}

// recipeText returns a recipe as a line of text, with the amounts in percent. The parameter total
// is the number of units of the recipe.
func recipeText(parts []report.Part, total int) string {
	var list []string
	shares := partShareTexts(parts, total)
	for k, part := range parts {
		list = append(list, part.Ingredient+" "+shares[k])
	}
	return strings.Join(list, ", ")
}

// A tradePlotFrame is the area of a plot with two objectives as axes. It contains the whole Pareto
// front, and most of the draws and known recipes.
type tradePlotFrame struct{ x, y figure.Scale }

// newTradePlotFrame returns the frame of a plot with the objectives of index a and b as axes. The
// result ok is false if the values of an objective are all equal or unknown.
func newTradePlotFrame(t *report.Tradeoff, a, b int) (f tradePlotFrame, ok bool) {
	ends := func(k int) (lo, hi float64) {
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, p := range t.Front {
			if v := p.Values[t.Objectives[k].Name].Value; v.IsKnown() {
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			}
		}
		var others []float64
		for _, d := range t.Draws {
			others = append(others, float64(d[k]))
		}
		for _, r := range t.Known {
			others = append(others, float64(r.Values[k]))
		}
		others = slices.DeleteFunc(others, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		slices.Sort(others)
		if n := len(others); n > 0 {
			lo, hi = min(lo, others[n/50]), max(hi, others[n-1-n/50])
		}
		margin := float64((hi - lo) / 20)
		return lo - margin, hi + margin
	}
	f.x.Lo, f.x.Hi = ends(a)
	f.y.Lo, f.y.Hi = ends(b)
	return f, f.x.Hi > f.x.Lo && f.y.Hi > f.y.Lo && !math.IsInf(f.x.Hi-f.x.Lo, 0) && !math.IsInf(f.y.Hi-f.y.Lo, 0)
}

// position returns the position of a point in the plot, and whether the point lies in the frame.
// The parameters x and y are the values of the two objectives.
func (f *tradePlotFrame) position(x, y report.Number) (px, py float64, in bool) {
	in = float64(x) >= f.x.Lo && float64(x) <= f.x.Hi && float64(y) >= f.y.Lo && float64(y) <= f.y.Hi
	return f.x.At(float64(x)), f.y.At(float64(y)), in
}

// The width and height of a plot on a terminal, in characters.
const terminalPlotColumns, terminalPlotRows = 60, 15

// writeTradePlot draws the Pareto front on a terminal, with the objectives of index a and b as
// axes.
func writeTradePlot(p *terminal.Printer, t *report.Tradeoff, a, b int) {
	f, ok := newTradePlotFrame(t, a, b)
	if !ok || t.Found < 2 {
		return
	}
	f.x.From, f.x.To, f.y.From, f.y.To = 0, terminalPlotColumns-1, terminalPlotRows-1, 0
	var cells [terminalPlotRows][terminalPlotColumns]rune
	put := func(x, y report.Number, mark rune) {
		if px, py, in := f.position(x, y); in {
			cells[int(py+0.5)][int(px+0.5)] = mark
		}
	}
	for _, d := range t.Draws {
		put(d[a], d[b], '·')
	}
	for _, r := range t.Known {
		put(r.Values[a], r.Values[b], 'o')
	}
	one, other := t.Objectives[a], t.Objectives[b]
	for _, knees := range []bool{false, true} {
		for _, point := range t.Front {
			if point.Knee == knees {
				put(point.Values[one.Name].Value, point.Values[other.Name].Value, map[bool]rune{false: '●', true: '◆'}[knees])
			}
		}
	}
	p.Line("")
	p.Wrapped(0, "up: "+valueHeading(other.Name, other.Unit)+"; across: "+valueHeading(one.Name, one.Unit))
	width := 0
	labels := map[int]string{}
	ticks, digits := figure.Ticks(f.y.Lo, f.y.Hi, 4)
	for _, v := range ticks {
		text := number.Axis(v, digits)
		labels[int(f.y.At(v)+0.5)] = text
		width = max(width, terminal.Width(text))
	}
	for r := range cells {
		line := strings.Map(func(c rune) rune {
			if c == 0 {
				return ' '
			}
			return c
		}, string(cells[r][:]))
		p.Line("%*s │%s", width, labels[r], strings.TrimRight(line, " "))
	}
	p.Line("%*s └%s", width, "", strings.Repeat("─", terminalPlotColumns))
	axis := []rune(strings.Repeat(" ", terminalPlotColumns+8))
	ticks, digits = figure.Ticks(f.x.Lo, f.x.Hi, 5)
	for _, v := range ticks {
		text := []rune(number.Axis(v, digits))
		from := max(int(f.x.At(v)+0.5)-len(text)/2, 0)
		copy(axis[min(from, len(axis)-len(text)):], text)
	}
	p.Line("%*s  %s", width, "", strings.TrimRight(string(axis), " "))
	key := "● best trade-offs"
	for _, k := range []struct {
		there bool
		text  string
	}{{len(t.Knees()) > 0, "◆ knee"}, {len(t.Known) > 0, "o known recipes"}, {len(t.Draws) > 0, "· draws"}} {
		if k.there {
			key += ", " + k.text
		}
	}
	p.Line("%*s  %s", width, "", key)
}

// TradeFigures returns the figures of a Pareto front, one for each pair of objectives.
func TradeFigures(t *report.Tradeoff) (all []*figure.Figure) {
	if t == nil || t.Found < 2 {
		return nil
	}
	for b := range t.Objectives {
		for a := range b {
			if f := newTradeFigure(t, a, b); f != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// newTradeFigure draws the Pareto front, and draws and known recipes behind it, with the objectives
// of index a and b as axes.
func newTradeFigure(t *report.Tradeoff, a, b int) *figure.Figure {
	frame, ok := newTradePlotFrame(t, a, b)
	if !ok {
		return nil
	}
	const left, right, top, bottom = 58.0, figureWidth - 14, 22.0, 300.0
	frame.x.From, frame.x.To, frame.y.From, frame.y.To = left, right, bottom, top
	one, other := t.Objectives[a], t.Objectives[b]
	f := &figure.Figure{Name: fmt.Sprintf("tradeoff-%d-%d", a+1, b+1), Title: "Trade-off: " + other.Name + " against " + one.Name, Width: figureWidth, Height: bottom + 38}
	drawScatterAxes(f, frame.x, frame.y, valueHeading(one.Name, one.Unit), valueHeading(other.Name, other.Unit))
	for _, d := range t.Draws {
		if x, y, in := frame.position(d[a], d[b]); in {
			f.Dot(x, y, 1.2, figure.Colour(8))
		}
	}
	for _, r := range t.Known {
		if x, y, in := frame.position(r.Values[a], r.Values[b]); in {
			f.Ring(x, y, 2.5, figure.Soft)
		}
	}
	var path []float64
	var said []string
	for _, p := range t.Front {
		v, w := p.Values[one.Name].Value, p.Values[other.Name].Value
		x, y, _ := frame.position(v, w)
		path = append(path, x, y)
		said = append(said, fmt.Sprintf("recipe %d at %s and %s", p.Index, tradeNumberWithUnit(v, one), tradeNumberWithUnit(w, other)))
	}
	if len(t.Objectives) == 2 && len(path) > 2 {
		f.Path(path, 1, figure.Accent)
	}
	for k, p := range t.Front {
		x, y := path[2*k], path[2*k+1]
		f.Dot(x, y, 3.5, figure.Accent)
		if p.Knee {
			f.Ring(x, y, 7, figure.Ink)
			f.WriteBold(x+9, y-6, figure.SmallSize, figure.Start, figure.Ink, fmt.Sprint(p.Index))
		}
	}
	f.Text = fmt.Sprintf("A scatter plot of %s recipes none of which beats another: %s.", number.Thousands(len(t.Front)), strings.Join(said, "; "))
	f.Key("best trade-offs", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3.5, figure.Accent) })
	if len(t.Knees()) > 0 {
		f.Key("knee", func(f *figure.Figure, x, y float64) { f.Ring(x+10, y+5, 5, figure.Ink) })
	}
	if len(t.Known) > 0 {
		f.Key("known recipes", func(f *figure.Figure, x, y float64) { f.Ring(x+10, y+5, 2.5, figure.Soft) })
	}
	if len(t.Draws) > 0 {
		f.Key("draws", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 1.2, figure.Colour(8)) })
	}
	f.PlaceKeys()
	return f
}
