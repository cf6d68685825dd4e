package paper

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/report/figure"
)

// These constants are the file names of the drawings for the cocktail experiment.
const (
	ratioFigureName   = "figure3-ratios"   // drawing of the new cocktail and the nearest recipes
	productFigureName = "figure4-products" // drawing of the distribution of the product of the objectives
)

// pictureWidth is the width of a drawing, in pixels.
const pictureWidth = 640.0

// Pictures draws the pictures of the report, in the order of the figures in the paper.
func (r *Report) Pictures() ([]*figure.Figure, error) {
	var all []*figure.Figure
	for _, s := range Settings() {
		for _, l := range s.Targets {
			f, err := r.drawHistogramFigure(l)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
	}
	if r.Cocktails != nil {
		all = append(all, drawRatioFigure(r.Cocktails), drawProductFigure(r.Cocktails))
	}
	return all, nil
}

// kernelPanels lists the kernels in the order of the panels of the paper's figure 1, with the titles of the
// panels.
var kernelPanels = []struct{ kernel, title string }{
	{KernelNaive, "naive (candidates uniform on X)"},
	{KernelGibbs, "gibbs"},
	{KernelAccelerated, "accelerated"},
}

// drawHistogramFigure draws the paper's figure 1 for one target: a histogram for each kernel, two in a row.
func (r *Report) drawHistogramFigure(l LawTarget) (*figure.Figure, error) {
	const width, height = 312.0, 250.0 // size of a panel
	f := &figure.Figure{Name: "figure1-" + fileName(l.Name), Title: "Target " + l.Name + ": " + strings.Replace(l.Formula, "∝", "in proportion to", 1), Width: pictureWidth, Height: 2 * height}
	var said strings.Builder
	fmt.Fprintf(&said, "Histograms of the number of ingredients n on target %s, %s, mean of %d sequences.", l.Name, l.Formula, r.Sequences)
	shown := make([]*Figure, len(kernelPanels))
	for k, panel := range kernelPanels {
		for q := range r.Figures {
			if h := &r.Figures[q]; h.Target == l.Name && h.Kernel == panel.kernel {
				shown[k] = h
			}
		}
		if shown[k] == nil {
			return nil, fmt.Errorf("figure %s: there is no histogram of %s", f.Name, panel.kernel)
		}
	}
	lo, hi := shownSizeRange(shown)
	for k, h := range shown {
		x, y := float64(float64(k%2)*(pictureWidth-width)), float64(float64(k/2)*height)
		distance := fmt.Sprintf("distance %s, expected %s", number.Typeset(h.TV, 4), number.Typeset(h.Expected, 4))
		if h.Stuck > 0 {
			distance += fmt.Sprintf("; %d of %d stuck", h.Stuck, r.Sequences)
		}
		f.WriteBold(x, y+12, figure.SmallSize, figure.Start, figure.Ink, kernelPanels[k].title)
		f.Write(x, y+26, figure.SmallSize, figure.Start, figure.Soft, distance)
		// Only the panels of one row share a scale. With the scale of the upper row the lower row would look
		// flat if a sampler of the upper row never moves.
		drawHistogram(f, h, x, y+30, width, height-30, lo, hi, verticalAxisTop(shown[k/2*2:min(k/2*2+2, len(shown))]))
		fmt.Fprintf(&said, " %s: total variation distance %s, expected %s, %d sequences never moved.", kernelPanels[k].title, number.Typeset(h.TV, 4), number.Typeset(h.Expected, 4), h.Stuck)
	}
	f.Text = said.String()
	f.KeyOf("mean of the sequences", figure.Line)
	addErrorBarLegend(f)
	f.Key("target", func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 1.5, figure.Accent)
		f.Dot(x+10, y+5, 2.5, figure.Accent)
	})
	f.PlaceKeys()
	return f, nil
}

// shownSizeRange returns the range of numbers n of ingredients that the panels show: all n with a share of at least
// 0.1 %, in the target or in a histogram.
func shownSizeRange(figures []*Figure) (lo, hi int) {
	lo = math.MaxInt
	for _, f := range figures {
		for _, s := range f.Sizes {
			if max(s.Target, s.Mean) >= 1e-3 {
				lo, hi = min(lo, s.N), max(hi, s.N)
			}
		}
	}
	return lo, hi
}

// verticalAxisTop returns the upper end of the vertical axis of the panels: 5 % above the largest share with its error
// bar.
func verticalAxisTop(figures []*Figure) float64 {
	top := 0.0
	for _, f := range figures {
		for _, s := range f.Sizes {
			top = max(top, s.Target, min(1, s.Mean+s.SD))
		}
	}
	return float64(1.05 * top)
}

// drawHistogram draws one histogram of the paper's figure 1, with the given position and size. The axes show n
// from lo to hi and shares from 0 to top.
func drawHistogram(f *figure.Figure, h *Figure, x0, y0, width, height float64, lo, hi int, top float64) {
	left, right, bottom := x0+34, x0+width, y0+height-44
	y := f.Frame(left, y0+8, right, bottom, top, figure.Percent, "number of ingredients, n; share of the states, %")
	x := figure.Scale{Lo: float64(lo) - 0.6, Hi: float64(hi) + 0.6, From: left, To: right}
	every := figure.TickStep(hi-lo+1, 12)
	var target []float64
	for _, s := range h.Sizes {
		if s.N < lo || s.N > hi {
			continue
		}
		drawBar(f, x, y, float64(s.N)-0.4, float64(s.N)+0.4, s.Mean, s.SD, figure.Line)
		target = append(target, x.At(float64(s.N)), y.At(s.Target))
		if s.N%every == 0 {
			f.Write(x.At(float64(s.N)), bottom+14, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprint(s.N))
		}
	}
	f.Path(target, 1.5, figure.Accent)
	for k := 0; k < len(target); k += 2 {
		f.Dot(target[k], target[k+1], 2.5, figure.Accent)
	}
}

// drawBar draws a bar from 0 to a share, with an error bar of one standard deviation to either side. The error
// bar is cut to 0..1.
func drawBar(f *figure.Figure, x, y figure.Scale, from, to, share, sd float64, p figure.Paint) {
	left, right := x.At(from), x.At(to)
	f.Rect(left, y.At(share), right-left, y.From-y.At(share), p)
	if sd == 0 {
		return
	}
	drawErrorBar(f, float64((left+right)/2), y.At(max(0, share-sd)), y.At(min(1, share+sd)), min(2.5, (right-left)/3))
}

func drawErrorBar(f *figure.Figure, x, lo, hi, half float64) {
	f.Line(x, lo, x, hi, 1, figure.Ink)
	f.Line(x-half, lo, x+half, lo, 1, figure.Ink)
	f.Line(x-half, hi, x+half, hi, 1, figure.Ink)
}

// addErrorBarLegend adds to the legend what an error bar means.
func addErrorBarLegend(f *figure.Figure) {
	f.Key("± 1 standard deviation", func(f *figure.Figure, x, y float64) { drawErrorBar(f, x+10, y+11, y-1, 2.5) })
}

// drawRatioFigure draws the paper's figure 3: the new cocktail and the nearest recipes as stacked bars.
func drawRatioFigure(c *Cocktails) *figure.Figure {
	const left, height, gap = 130.0, 40.0, 10.0
	drinks := append([]Drink{c.New}, c.Nearest...)
	var recipes []map[string]float64
	for _, d := range drinks {
		recipe := make(map[string]float64)
		for _, p := range d.Parts {
			recipe[p.Ingredient] = p.Percent
		}
		recipes = append(recipes, recipe)
	}
	colours := figure.Colours(recipes)
	f := &figure.Figure{Name: ratioFigureName, Title: "Composition ratios, share of the drink in %", Width: pictureWidth, Height: float64(float64(len(drinks)) * (height + gap))}
	var said strings.Builder
	said.WriteString("Stacked bars of composition ratios, share of the drink in %.")
	keyed := make(map[string]bool)
	for k, d := range drinks {
		y := float64(float64(k) * (height + gap))
		f.Write(left-8, y+height/2+4, figure.TextSize, figure.End, figure.Ink, figure.Clip(d.Name, left-10, figure.TextSize))
		var parts []figure.Slice
		var words []string
		for _, p := range d.Parts {
			share := number.Typeset(p.Percent, 1) + " %"
			parts = append(parts, figure.Slice{Name: p.Ingredient, Share: share, Size: p.Percent})
			words = append(words, p.Ingredient+" "+share)
			if !keyed[p.Ingredient] {
				f.KeyOf(p.Ingredient, colours[p.Ingredient])
				keyed[p.Ingredient] = true
			}
		}
		f.Stack(left, y, pictureWidth-left, height, parts, colours)
		fmt.Fprintf(&said, " %s: %s.", d.Name, strings.Join(words, ", "))
	}
	f.Text = said.String()
	f.PlaceKeys()
	return f
}

// drawProductFigure draws the paper's figure 4: the distribution of the product of the objectives, over random
// compositions and over the chains.
func drawProductFigure(c *Cocktails) *figure.Figure {
	const left, top, bottom = 34.0, 8.0, 240.0
	f := &figure.Figure{Name: productFigureName, Title: "The product of the two probabilities", Width: pictureWidth, Height: bottom + 36}
	sides := []struct {
		name  string
		of    Product
		paint figure.Paint
	}{{"random compositions", c.Random, figure.Line}, {"accelerated", c.Chain, figure.Accent}}
	tallest, last := 0.0, 0.0
	for _, side := range sides {
		for _, bin := range side.of.Bins {
			tallest = max(tallest, min(1, bin.Mean+bin.SD))
			if bin.Mean > 0 {
				last = max(last, bin.High)
			}
		}
	}
	y := f.Frame(left, top, pictureWidth-8, bottom, float64(1.04*tallest), figure.Percent, "y_taste · y_timing; share of the compositions, %")
	x := figure.Scale{Lo: 0, Hi: 1, From: left, To: pictureWidth - 8}
	for k := range 11 {
		f.Write(x.At(float64(k)/10), bottom+14, figure.SmallSize, figure.Middle, figure.Soft, number.Typeset(float64(k)/10, 1))
	}
	for k, side := range sides {
		for _, bin := range side.of.Bins {
			half := float64((bin.High - bin.Low) / 2)
			from := bin.Low + float64(half*(0.08+float64(0.92*float64(k))))
			drawBar(f, x, y, from, from+float64(0.92*half), bin.Mean, bin.SD, side.paint)
		}
		f.KeyOf(side.name+", mean "+number.Typeset(side.of.Mean, 3), side.paint)
	}
	addErrorBarLegend(f)
	f.Text = fmt.Sprintf("Histogram of the product of the probabilities of taste Fresh and timing All day, over %d times %d random compositions (mean %s) and over %d chains of as many states (mean %s). The largest is below %s.",
		sequenceCount, c.Random.Compositions, number.Typeset(c.Random.Mean, 3), sequenceCount, number.Typeset(c.Chain.Mean, 3), number.Typeset(last, 2))
	f.PlaceKeys()
	return f
}
