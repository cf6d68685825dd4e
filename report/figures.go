package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/report/figure"
)

// figureWidth is the width of figures: that of a phone's page, so that their text
// is readable there; wider pages set figures side by side.
const figureWidth = 360.0

// textSize is the size of text in figures, and smallSize that of axes.
const (
	textSize  = 12.0
	smallSize = 11.0
)

// Figures returns every figure of the report, in its order. Which there are
// depends on the run: without properties there are no scores.
func (m *Model) Figures() []*figure.Figure {
	var all []*figure.Figure
	add := func(f *figure.Figure) {
		if f != nil {
			all = append(all, f)
		}
	}
	best, various := m.shortlists(pageBest, pageDiverse)
	colours := coloursOf(slices.Concat(best, various))
	for _, b := range best {
		add(m.compositionFigure(fmt.Sprintf("best-%d", b.Place+1), fmt.Sprintf("Best composition %d", b.Place+1), &b.Best, colours))
	}
	for _, b := range various {
		add(m.compositionFigure(fmt.Sprintf("diverse-%d", b.Place+1), fmt.Sprintf("Diverse composition %d", b.Place+1), &b.Best, colours))
	}
	add(m.inclusionFigure())
	add(m.amountsFigure())
	add(m.pairsFigure())
	add(m.sizesFigure())
	add(m.scoreFigure())
	for k := range m.Plots {
		add(m.ranksFigure(k))
		add(m.traceFigure(k))
	}
	add(m.barrierFigure())
	add(m.rejectionsFigure())
	for k := range m.Properties {
		add(m.importanceFigure(k))
	}
	return all
}

const (
	// pageBest and pageDiverse are how many compositions the page shows.
	pageBest    = 6
	pageDiverse = 6
)

// A placed composition is one of a list, with its place there.
type placed struct {
	Best
	Place int
}

// shortlists returns so many of the best compositions, and so many of the diverse
// ones that are not among these. Without properties no composition is better
// than another.
func (m *Model) shortlists(mostBest, mostDiverse int) (best, various []placed) {
	type draw struct{ chain, draw int }
	shown := make(map[draw]bool)
	if m.weighs() {
		for k, b := range m.Best[:min(len(m.Best), mostBest)] {
			best = append(best, placed{b, k})
			shown[draw{b.Chain, b.Draw}] = true
		}
	}
	for k, b := range m.Diverse {
		if len(various) < mostDiverse && !shown[draw{b.Chain, b.Draw}] {
			various = append(various, placed{b, k})
		}
	}
	return best, various
}

// weighs says whether a property counts.
func (m *Model) weighs() bool {
	return slices.ContainsFunc(m.Properties, func(w Property) bool { return w.Weight > 0 })
}

// coloursOf gives each ingredient of some compositions a colour that it has in
// all of them, those that make up most of them first: one that no other
// ingredient has, or else the least used one that none has which it is together
// with, or else grey.
func coloursOf(list []placed) map[string]figure.Paint {
	sums := make(map[string]int)
	for _, b := range list {
		for name, amount := range b.Recipe {
			sums[name] += amount
		}
	}
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if sums[a] != sums[b] {
			return sums[b] - sums[a]
		}
		return strings.Compare(a, b)
	})
	colours := make(map[string]figure.Paint, len(names))
	const grey = figure.Colours - 1
	var uses [grey]int
	greys := 0
	for _, name := range names {
		var taken [grey + 1]bool
		for _, b := range list {
			if b.Recipe[name] == 0 {
				continue
			}
			for other := range b.Recipe {
				if c, ok := colours[other]; ok {
					taken[min(c.Index(), grey)] = true
				}
			}
		}
		best := -1
		for k, n := range uses {
			if !taken[k] && (best < 0 || n < uses[best]) {
				best = k
			}
		}
		if best < 0 {
			best = grey + greys%2
			greys++
		} else {
			uses[best]++
		}
		colours[name] = figure.Colour(best)
	}
	return colours
}

// compositionFigure draws a composition as a stacked bar. Its list of parts is
// the key, which the page sets as text.
func (m *Model) compositionFigure(name, title string, b *Best, colours map[string]figure.Paint) *figure.Figure {
	const width, height = 300.0, 40.0
	f := &figure.Figure{Name: name, Title: title, Width: width, Height: height}
	if m.weighs() {
		f.Title += ", score " + number(float64(b.Score))
	}
	parts := b.Parts()
	// The smallest part can be seen.
	const least = 1.5
	widths := make([]float64, len(parts))
	sum := 0.0
	for k, p := range parts {
		widths[k] = max(least, width*float64(p.Amount)/float64(m.Problem.Total))
		sum += widths[k]
	}
	var said []string
	x := 0.0
	for k, p := range parts {
		w := widths[k] * width / sum
		paint := colours[p.Ingredient]
		f.Segment(x, 0, w, height, paint)
		share := share(p.Amount, m.Problem.Total)
		if figure.TextWidth(share, smallSize) <= w-4 {
			if room := w - 8; room > 28 {
				f.WriteOn(x+4, 16, textSize, figure.Start, paint, figure.Clip(p.Ingredient, room, textSize))
				f.WriteOn(x+4, 32, smallSize, figure.Start, paint, share)
			} else {
				f.WriteOn(x+w/2, 24, smallSize, figure.Middle, paint, share)
			}
		}
		x += w
		said = append(said, p.Ingredient+" "+share)
		f.Key(share+" "+p.Ingredient, func(f *figure.Figure, x, y float64) { f.Rect(x, y, 20, 10, paint) })
	}
	f.Text = strings.Join(said, ", ") + "."
	return f
}

// A dotRow is a figure with its error on a line of a dot plot.
type dotRow struct {
	label     string
	second    string // a second line of the label, or empty
	value, se float64
	reference float64 // NaN: none
}

// A dotAxis says what the rows of a dot plot are measured by.
type dotAxis struct {
	title  string
	lo, hi float64
	log    bool // places are those of the logarithm
	ticks  []float64
	write  func(v float64) string
}

// dotPlot draws a dot and two standard errors to either side for each row.
func dotPlot(f *figure.Figure, rows []dotRow, a dotAxis) {
	const left, right, top = 136.0, 12.0, 6.0
	row := 18.0
	if len(rows) > 0 && rows[0].second != "" {
		row = 34
	}
	f.Width = figureWidth
	bottom := top + row*float64(len(rows))
	f.Height = bottom + 34
	place := func(v float64) float64 { return v }
	if a.log {
		place = math.Log
	}
	scale := figure.Scale{Lo: place(a.lo), Hi: place(a.hi), From: left, To: figureWidth - right}
	at := func(v float64) float64 {
		if a.log && v <= 0 {
			return left
		}
		return scale.Within(place(v))
	}
	for _, t := range a.ticks {
		f.Line(at(t), top, at(t), bottom, 0.5, figure.Line)
		f.Write(at(t), bottom+13, smallSize, figure.Middle, figure.Soft, a.write(t))
	}
	f.Write((left+figureWidth-right)/2, bottom+28, smallSize, figure.Middle, figure.Soft, a.title)
	for k, r := range rows {
		y := top + row*(float64(k)+0.5)
		if r.second == "" {
			f.Write(left-8, y+4, textSize, figure.End, figure.Ink, figure.Clip(r.label, left-10, textSize))
		} else {
			f.Write(left-8, y-3, textSize, figure.End, figure.Ink, figure.Clip(r.label, left-10, textSize))
			f.Write(left-8, y+11, textSize, figure.End, figure.Ink, figure.Clip(r.second, left-10, textSize))
		}
		if !math.IsNaN(r.se) {
			f.Line(at(r.value-2*r.se), y, at(r.value+2*r.se), y, 2, figure.Accent)
		}
		if !math.IsNaN(r.reference) {
			f.Ring(at(r.reference), y, 4, figure.Ink)
		}
		f.Dot(at(r.value), y, 3.5, figure.Accent)
	}
}

// dotKeys explains a dot plot.
func dotKeys(f *figure.Figure, value, reference string) {
	f.Key(value, func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 2, figure.Accent)
		f.Dot(x+10, y+5, 3.5, figure.Accent)
	})
	if reference != "" {
		f.Key(reference, func(f *figure.Figure, x, y float64) { f.Ring(x+10, y+5, 4, figure.Ink) })
	}
	f.PlaceKeys()
}

// shownFrequent is how many ingredients the figure of ingredients has.
const shownFrequent = 20

func (m *Model) inclusionFigure() *figure.Figure {
	d := m.shareDots(func(i *Inclusion) dotRow {
		return dotRow{value: float64(i.Probability), se: float64(i.MCSE), reference: float64(i.BookShare)}
	})
	if len(d.rows) == 0 {
		return nil
	}
	f := &figure.Figure{
		Name: "ingredients", Title: fmt.Sprintf("The %d most frequent ingredients", len(d.rows)),
		Text: fmt.Sprintf("Dot plot of the probability that a draw uses each of the %d most frequent ingredients. First: %s. The table of ingredients has all figures.", len(d.rows), d.said),
	}
	m.sharePlot(f, d, "draws that use it, %", "share of the book's recipes")
	return f
}

// amountsFigure shows the mean amounts of the ingredients of inclusionFigure.
func (m *Model) amountsFigure() *figure.Figure {
	total := float64(m.Problem.Total)
	d := m.shareDots(func(i *Inclusion) dotRow {
		return dotRow{value: float64(i.MeanAmount) / total, se: float64(i.AmountMCSE) / total, reference: float64(i.BookAmount) / total}
	})
	if len(d.rows) == 0 {
		return nil
	}
	f := &figure.Figure{
		Name: "amounts", Title: "Mean amounts, where they are used",
		Text: fmt.Sprintf("Dot plot of the mean amount of each of the %d most frequent ingredients, over the draws that use it. First: %s. The table of ingredients has all figures.", len(d.rows), d.said),
	}
	m.sharePlot(f, d, "mean amount, % of the total", "mean of the book's recipes that use it")
	return f
}

// shareDots are shares of the most frequent ingredients.
type shareDots struct {
	rows []dotRow
	top  float64 // of all that is shown
	said string  // the first of them in words
}

// shareDots returns what a figure shows of each of the most frequent ingredients.
func (m *Model) shareDots(of func(*Inclusion) dotRow) shareDots {
	var d shareDots
	var said []string
	sorted := m.SortedInclusion()
	for k := range sorted[:min(len(sorted), shownFrequent)] {
		i := &sorted[k]
		if i.Probability <= 0 {
			break
		}
		r := of(i)
		r.label = i.Ingredient
		d.rows = append(d.rows, r)
		for _, v := range []float64{r.value, r.value + 2*r.se, r.reference} {
			if v > d.top { // NaN is not
				d.top = v
			}
		}
		if len(said) < 5 {
			words := fmt.Sprintf("%s %s", i.Ingredient, percent(r.value))
			if Number(r.reference).Known() {
				words += fmt.Sprintf(" (book %s)", percent(r.reference))
			}
			said = append(said, words)
		}
	}
	d.said = strings.Join(said, ", ")
	return d
}

// sharePlot is a dot plot of shares from 0 on, in percent, with its key.
func (m *Model) sharePlot(f *figure.Figure, d shareDots, title, reference string) {
	hi := min(1, d.top*1.06)
	ticks, digits := figure.Ticks(0, 100*hi, 5)
	for k := range ticks {
		ticks[k] /= 100
	}
	dotPlot(f, d.rows, dotAxis{
		title: title, lo: 0, hi: hi, ticks: ticks,
		write: func(v float64) string { return figure.Number(100*v, digits) },
	})
	if m.Problem.Recipes == 0 {
		reference = ""
	}
	dotKeys(f, "draws, ± 2 standard errors", reference)
}

func (m *Model) pairsFigure() *figure.Figure {
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
		r := dotRow{label: p.First, second: "+ " + p.Second, value: float64(p.Lift), se: float64(p.MCSE), reference: float64(p.Expected)}
		rows = append(rows, r)
		lo, hi = min(lo, r.reference, max(r.value/4, r.value-2*r.se)), max(hi, r.reference, r.value+2*r.se)
	}
	f := &figure.Figure{
		Name: "pairs", Title: "Pairs that go together, and pairs that do not",
		Text: fmt.Sprintf("Dot plot of the lift of %d pairs, on a logarithmic scale, beside the lift that is expected of each. The table of pairs has all figures.", len(rows)),
	}
	lo, hi = lo/1.1, hi*1.1
	ticks := logTicks(lo, hi)
	dotPlot(f, rows, dotAxis{
		title: "lift (logarithmic)", lo: lo, hi: hi, log: true, ticks: ticks,
		write: func(v float64) string { return fmt.Sprintf("%.3g", v) },
	})
	dotKeys(f, "draws, ± 2 standard errors", "expected")
	return f
}

// logTicks returns round numbers within lo..hi for a logarithmic scale.
func logTicks(lo, hi float64) []float64 {
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var ticks []float64
		for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
			for _, s := range steps {
				if t := s * math.Pow(10, e); t >= lo && t <= hi {
					ticks = append(ticks, t)
				}
			}
		}
		if len(ticks) <= 7 {
			return ticks
		}
	}
	return []float64{lo, hi}
}

// frame draws the axes of a chart with percentages upwards, and returns the
// scale of these.
func frame(f *figure.Figure, left, top, right, bottom, highest float64, title string) figure.Scale {
	scale := figure.Scale{Lo: 0, Hi: highest, From: bottom, To: top}
	ticks, digits := figure.Ticks(0, 100*highest, 5)
	for _, t := range ticks {
		y := scale.At(t / 100)
		f.Line(left, y, right, y, 0.5, figure.Line)
		f.Write(left-5, y+4, smallSize, figure.End, figure.Soft, figure.Number(t, digits))
	}
	f.Line(left, bottom, right, bottom, 1, figure.Ink)
	f.Write((left+right)/2, bottom+29, smallSize, figure.Middle, figure.Soft, title)
	return scale
}

// shownLaw returns the sizes that a figure shows: those between the first and
// the last that have some mass or draws.
func (m *Model) shownLaw() []Size {
	lo, hi := -1, -1
	for k, s := range m.Sparsity {
		if s.Target > 5e-4 || s.Observed > 5e-4 {
			if lo < 0 {
				lo = k
			}
			hi = k
		}
	}
	if lo < 0 {
		return m.Sparsity
	}
	return m.Sparsity[lo : hi+1]
}

func (m *Model) sizesFigure() *figure.Figure {
	sizes := m.shownLaw()
	if len(sizes) == 0 {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 4, 10.0, 180.0
	f := &figure.Figure{Name: "sizes", Title: "Number of ingredients", Width: figureWidth, Height: bottom + 34}
	highest := 0.0
	var said []string
	for _, s := range sizes {
		e := 0.0
		if s.MCSE.Known() {
			e = 2 * float64(s.MCSE)
		}
		highest = max(highest, float64(s.Target), float64(s.Observed)+e)
		if len(said) < 8 {
			said = append(said, fmt.Sprintf("%d: %s wanted, %s drawn", s.N, percent(float64(s.Target)), percent(float64(s.Observed))))
		}
	}
	f.Text = fmt.Sprintf("Bars: the law of the number of ingredients without properties; dots: the share of the draws. %s. The table of the number of ingredients has all figures.", strings.Join(said, "; "))
	y := frame(f, left, top, right, bottom, highest*1.05, "number of ingredients; share in %")
	slot := (right - left) / float64(len(sizes))
	every := 1
	for _, step := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		every = step
		if len(sizes)/step <= 14 {
			break
		}
	}
	for k, s := range sizes {
		x := left + slot*float64(k)
		gap := min(slot*0.15, 6)
		f.Rect(x+gap, y.At(float64(s.Target)), max(0.5, slot-2*gap), bottom-y.At(float64(s.Target)), figure.Line)
		if s.N%every == 0 || len(sizes) == 1 {
			f.Write(x+slot/2, bottom+14, smallSize, figure.Middle, figure.Soft, fmt.Sprint(s.N))
		}
	}
	for k, s := range sizes {
		x := left + slot*(float64(k)+0.5)
		if s.MCSE.Known() {
			f.Line(x, y.Within(float64(s.Observed-2*s.MCSE)), x, y.At(float64(s.Observed+2*s.MCSE)), 2, figure.Accent)
		}
		f.Dot(x, y.At(float64(s.Observed)), min(3.5, max(1.2, slot/3)), figure.Accent)
	}
	f.Key("the law, without properties", func(f *figure.Figure, x, y float64) { f.Rect(x, y, 20, 10, figure.Line) })
	f.Key("draws, ± 2 standard errors", func(f *figure.Figure, x, y float64) {
		f.Line(x+10, y-1, x+10, y+11, 2, figure.Accent)
		f.Dot(x+10, y+5, 3.5, figure.Accent)
	})
	f.PlaceKeys()
	return f
}

func (m *Model) scoreFigure() *figure.Figure {
	h := m.Score.Histogram
	if h == nil {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 14, 10.0, 180.0
	f := &figure.Figure{Name: "score", Title: "Scores of the draws and of random compositions", Width: figureWidth, Height: bottom + 34}
	f.Text = fmt.Sprintf("Histograms of the score. Its mean is %s, standard error %s, over the draws, and %s, standard error %s, over %s random compositions of the same sparsity.",
		number(float64(m.Score.Draws)), number(float64(m.Score.DrawsMCSE)), number(float64(m.Score.Random)), number(float64(m.Score.RandomSE)), thousands(m.Score.RandomSize))
	if h.DrawsBelow > 0 || h.RandomBelow > 0 {
		f.Text += fmt.Sprintf(" %s of the draws and %s of the random compositions score less than is shown.", percent(float64(h.DrawsBelow)), percent(float64(h.RandomBelow)))
	}
	highest := 0.0
	for k := range h.Draws {
		highest = max(highest, float64(h.Draws[k]), float64(h.Random[k]))
	}
	title := "score; share in %"
	if h.Log {
		title = "score (logarithmic); share in %"
	}
	y := frame(f, left, top, right, bottom, highest*1.05, title)
	x := figure.Scale{Lo: float64(h.Edges[0]), Hi: float64(h.Edges[len(h.Edges)-1]), From: left, To: right}
	ticks, digits := figure.Ticks(x.Lo, x.Hi, 6)
	for _, t := range ticks {
		word := figure.Number(t, digits)
		if h.Log {
			if digits > 0 {
				continue
			}
			word = fmt.Sprintf("%.3g", math.Pow(10, t))
		}
		f.Write(x.At(t), bottom+14, smallSize, figure.Middle, figure.Soft, word)
	}
	var outline []float64
	for k := range h.Draws {
		lo, hi := x.At(float64(h.Edges[k])), x.At(float64(h.Edges[k+1]))
		f.Wash(lo, y.At(float64(h.Draws[k])), hi-lo, bottom-y.At(float64(h.Draws[k])), figure.Accent)
		outline = append(outline, lo, y.At(float64(h.Random[k])), hi, y.At(float64(h.Random[k])))
	}
	f.Path(outline, 1.5, figure.Ink)
	place := func(mean Number) (float64, bool) {
		v := float64(mean)
		if h.Log {
			v = math.Log10(v)
		}
		return x.Within(v), mean.Known() && v >= x.Lo
	}
	if at, ok := place(m.Score.Draws); ok {
		f.Line(at, top, at, bottom, 2.5, figure.Accent)
	}
	if at, ok := place(m.Score.Random); ok {
		f.Dashed(at, top, at, bottom, 1.5, figure.Ink)
	}
	f.Key("draws, and their mean", func(f *figure.Figure, x, y float64) {
		f.Wash(x, y, 20, 10, figure.Accent)
		f.Line(x+10, y-1, x+10, y+11, 2.5, figure.Accent)
	})
	f.Key("random compositions, and their mean", func(f *figure.Figure, x, y float64) {
		f.Path([]float64{x, y + 10, x, y + 3, x + 20, y + 3, x + 20, y + 10}, 1.5, figure.Ink)
		f.Dashed(x+10, y-1, x+10, y+11, 1.5, figure.Ink)
	})
	f.PlaceKeys()
	return f
}

// stripLeft is where the strips of chains begin.
const stripLeft = 52.0

func (m *Model) ranksFigure(k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Ranks) < 2 || !p.RankSE.Known() {
		return nil // ranks are compared between chains
	}
	const height, gap, top, right = 34.0, 6.0, 4.0, figureWidth - 4
	f := &figure.Figure{Name: fmt.Sprintf("ranks-%d", k+1), Title: "Ranks of " + p.Name + " by chain", Width: figureWidth}
	even := 1 / float64(len(p.Ranks[0]))
	se := float64(p.RankSE)
	farthest, beyond, bins := 3*se, 0, 0
	for _, chain := range p.Ranks {
		for _, share := range chain {
			off := math.Abs(float64(share) - even)
			farthest = max(farthest, off)
			bins++
			if off > 2*se {
				beyond++
			}
		}
	}
	lo, hi := max(0, even-1.1*farthest), even+1.1*farthest
	f.Text = fmt.Sprintf("Rank plot: for each of %d chains, the share of its draws in each of %d bins of rank among all draws. Even shares mean that the chains follow one law. %d of %d shares lie outside two standard errors of the even one.",
		len(p.Ranks), len(p.Ranks[0]), beyond, bins)
	for c, chain := range p.Ranks {
		y0 := top + float64(c)*(height+gap)
		scale := figure.Scale{Lo: lo, Hi: hi, From: y0 + height, To: y0}
		x := figure.Scale{Lo: 0, Hi: float64(len(chain)), From: stripLeft, To: right}
		f.Write(stripLeft-6, y0+height/2+4, smallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", c))
		f.Rect(stripLeft, y0, right-stripLeft, height, figure.Shade)
		f.Wash(stripLeft, scale.Within(even+2*se), right-stripLeft, scale.Within(even-2*se)-scale.Within(even+2*se), figure.Soft)
		f.Line(stripLeft, scale.At(even), right, scale.At(even), 1, figure.Ink)
		var steps []float64
		for b, share := range chain {
			y := scale.At(float64(share))
			steps = append(steps, x.At(float64(b)), y, x.At(float64(b+1)), y)
		}
		f.Path(steps, 2, figure.Accent)
	}
	f.Height = top + float64(len(p.Ranks))*(height+gap)
	_, digits := figure.Ticks(100*lo, 100*hi, 3)
	f.Write((stripLeft+right)/2, f.Height+10, smallSize, figure.Middle, figure.Soft,
		fmt.Sprintf("rank among all draws; each strip from %s to %s %%", figure.Number(100*lo, digits+1), figure.Number(100*hi, digits+1)))
	f.Height += 16
	f.Key("share of the chain's draws", func(f *figure.Figure, x, y float64) {
		f.Path([]float64{x, y + 7, x + 10, y + 7, x + 10, y + 3, x + 20, y + 3}, 2, figure.Accent)
	})
	f.Key("even, ± 2 standard errors", func(f *figure.Figure, x, y float64) {
		f.Wash(x, y, 20, 10, figure.Soft)
		f.Line(x, y+5, x+20, y+5, 1, figure.Ink)
	})
	f.PlaceKeys()
	return f
}

func (m *Model) traceFigure(k int) *figure.Figure {
	p := m.Plots[k]
	if len(p.Trace) == 0 || len(p.Trace[0]) < 2 {
		return nil
	}
	const height, gap, top = 34.0, 6.0, 8.0
	f := &figure.Figure{Name: fmt.Sprintf("trace-%d", k+1), Title: "Trace of " + p.Name + " by chain", Width: figureWidth}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, chain := range p.Trace {
		for _, v := range chain {
			if v.Known() {
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			}
		}
	}
	if math.IsInf(lo, 1) {
		return nil
	}
	f.Text = fmt.Sprintf("Trace of %d chains: one draw in %s, from the first to the last, between %s and %s.", len(p.Trace), thousands(p.Every), figure.Number(lo, 2), figure.Number(hi, 2))
	for c, chain := range p.Trace {
		y0 := top + float64(c)*(height+gap)
		scale := figure.Scale{Lo: lo, Hi: hi, From: y0 + height, To: y0}
		x := figure.Scale{Lo: 0, Hi: float64(len(chain) - 1), From: stripLeft, To: figureWidth - 4}
		f.Rect(stripLeft, y0-2, figureWidth-4-stripLeft, height+4, figure.Shade)
		f.Write(stripLeft-6, y0+height/2+4, smallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", c))
		points := make([]float64, 0, 2*len(chain))
		for q, v := range chain {
			if v.Known() {
				points = append(points, x.At(float64(q)), scale.At(float64(v)))
			}
		}
		f.Path(points, 1, figure.Accent)
	}
	f.Height = top + float64(len(p.Trace))*(height+gap)
	_, digits := figure.Ticks(lo, hi, 4)
	f.Write((stripLeft+figureWidth-4)/2, f.Height+10, smallSize, figure.Middle, figure.Soft,
		fmt.Sprintf("draw; each strip from %s to %s", figure.Number(lo, digits+1), figure.Number(hi, digits+1)))
	f.Height += 16
	return f
}

// shownLadders returns the ladders that figures show: those of some steps, of the
// first chains.
func (m *Model) shownLadders() []Ladder {
	var shown []Ladder
	for _, l := range m.Ladders[:min(len(m.Ladders), shownChains)] {
		if l.Steps() > 0 {
			shown = append(shown, l)
		}
	}
	return shown
}

func (m *Model) barrierFigure() *figure.Figure {
	ladders := m.shownLadders()
	if len(ladders) == 0 {
		return nil
	}
	const left, right, top, bottom = 34.0, figureWidth - 10, 10.0, 180.0
	f := &figure.Figure{Name: "barrier", Title: "Barrier Λ(β) of each chain", Width: figureWidth, Height: bottom + 34}
	highest := 0.0
	var said []string
	for _, l := range ladders {
		highest = max(highest, float64(l.Barrier))
		said = append(said, fmt.Sprintf("chain %d %s in %s", l.Chain, decimals(float64(l.Barrier), 2), counted(l.Steps(), "step")))
	}
	f.Text = fmt.Sprintf("Lines: the sum of the rejection rates from β = 0 up to β, for each of %s. It ends at β = 1: %s.", counted(len(ladders), "chain"), strings.Join(said, "; "))
	if highest == 0 {
		highest = 1 // no swap was rejected
	}
	y := figure.Scale{Lo: 0, Hi: 1.05 * highest, From: bottom, To: top}
	ticks, digits := figure.Ticks(y.Lo, y.Hi, 5)
	for _, t := range ticks {
		f.Line(left, y.At(t), right, y.At(t), 0.5, figure.Line)
		f.Write(left-5, y.At(t)+4, smallSize, figure.End, figure.Soft, figure.Number(t, digits))
	}
	f.Line(left, bottom, right, bottom, 1, figure.Ink)
	x := figure.Scale{Lo: 0, Hi: 1, From: left, To: right}
	for _, t := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
		f.Write(x.At(t), bottom+14, smallSize, figure.Middle, figure.Soft, figure.Number(t, 1))
	}
	f.Write((left+right)/2, bottom+29, smallSize, figure.Middle, figure.Soft, "β; Λ(β) upwards")
	for _, l := range ladders {
		var points []float64
		for _, g := range l.Rungs {
			points = append(points, x.At(float64(g.Beta)), y.At(float64(g.Barrier)))
		}
		f.Path(points, 1.2, figure.Accent)
		for k := 0; k < len(points); k += 2 {
			f.Dot(points[k], points[k+1], 2.2, figure.Accent)
		}
	}
	f.Key("a chain, with a dot for each β of its ladder", func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 1.2, figure.Accent)
		f.Dot(x+10, y+5, 2.2, figure.Accent)
	})
	f.PlaceKeys()
	return f
}

func (m *Model) rejectionsFigure() *figure.Figure {
	ladders := m.shownLadders()
	if len(ladders) == 0 {
		return nil
	}
	const height, gap, top, right = 34.0, 6.0, 4.0, figureWidth - 4
	f := &figure.Figure{Name: "rejections", Title: "Rejected swaps by step of the ladder", Width: figureWidth}
	var said []string
	for c, l := range ladders {
		y0 := top + float64(c)*(height+gap)
		y := figure.Scale{Lo: 0, Hi: 1, From: y0 + height, To: y0}
		x := figure.Scale{Lo: 0, Hi: float64(l.Steps()), From: stripLeft, To: right}
		f.Write(stripLeft-6, y0+height/2+4, smallSize, figure.End, figure.Soft, fmt.Sprintf("chain %d", l.Chain))
		f.Rect(stripLeft, y0, right-stripLeft, height, figure.Shade)
		least := 1.0
		for k, g := range l.Rungs[:l.Steps()] {
			f.Wash(x.At(float64(k)), y.Within(float64(g.Rejected)), x.At(1)-x.At(0), y0+height-y.Within(float64(g.Rejected)), figure.Accent)
			f.Line(x.At(float64(k)), y.Within(float64(g.Rejected)), x.At(float64(k+1)), y.Within(float64(g.Rejected)), 2, figure.Accent)
			least = min(least, float64(g.Rejected))
		}
		said = append(said, fmt.Sprintf("chain %d from %s to %s", l.Chain, percent(least), percent(float64(l.mostRejected()))))
	}
	f.Text = fmt.Sprintf("Bars: for each chain, the share of swaps that each step from β = 0 to β = 1 rejects; a ladder that is spaced well has even ones. %s.", strings.Join(said, "; "))
	f.Height = top + float64(len(ladders))*(height+gap)
	f.Write((stripLeft+right)/2, f.Height+10, smallSize, figure.Middle, figure.Soft, "step, from β = 0 to β = 1; each strip from 0 to 100 %")
	f.Height += 16
	return f
}

func (m *Model) importanceFigure(k int) *figure.Figure {
	w := m.Properties[k]
	if w.Forest == nil || len(w.Forest.Importances) == 0 {
		return nil
	}
	f := &figure.Figure{Name: fmt.Sprintf("importance-%d", k+1), Title: "What the forest for " + w.Name + " goes by"}
	var rows []dotRow
	var said []string
	hi := 0.0
	for _, i := range w.Forest.Importances {
		r := dotRow{label: i.Feature, value: float64(i.Mean), se: float64(i.SE), reference: math.NaN()}
		rows = append(rows, r)
		hi = max(hi, r.value+2*r.se)
		said = append(said, fmt.Sprintf("%s %s", i.Feature, number(r.value)))
	}
	f.Text = fmt.Sprintf("Dot plot of the permutation importance of %d features: %s.", len(rows), strings.Join(said, ", "))
	scale := 1.0
	title := "rise of the squared error, in variances"
	if w.Forest.Quality.Classes != nil {
		scale, title = 100, "loss of accuracy, percentage points"
	}
	ticks, digits := figure.Ticks(0, scale*hi, 5)
	for q := range ticks {
		ticks[q] /= scale
	}
	dotPlot(f, rows, dotAxis{title: title, lo: 0, hi: hi, ticks: ticks, write: func(v float64) string { return figure.Number(scale*v, digits) }})
	dotKeys(f, "mean over the trees, ± 2 standard errors", "")
	return f
}

// share writes units as a share of the total, in short.
func share(amount, total int) string { return strings.TrimSpace(percentOf(amount, total)) }
