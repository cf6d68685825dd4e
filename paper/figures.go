package paper

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Names of the pictures of the cocktail experiment.
const (
	ratioName   = "figure3-ratios"
	productName = "figure4-products"
)

// Pictures draws the report's figures, in the order of the paper.
func (r *Report) Pictures() ([]Picture, error) {
	var all []Picture
	for _, s := range Settings() {
		for _, l := range s.Targets {
			p, err := r.histograms(l)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	if r.Cocktails != nil {
		for _, draw := range []func(*Cocktails) (Picture, error){ratioPicture, productPicture} {
			p, err := draw(r.Cocktails)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// panels are the kernels that figure 1 shows, in its order, and their titles.
var panels = []struct{ kernel, title string }{
	{KernelUncorrected, "multinomial, uncorrected (the paper's naive)"},
	{KernelNaive, "naive (candidates uniform on X)"},
	{KernelGibbs, "gibbs"},
	{KernelAccelerated, "accelerated"},
}

// Looks of figure 1.
var (
	barLook    = fill{skyBlue, plain}
	targetLine = draw.LineStyle{Color: vermillion, Width: vg.Points(1.2)}
	targetDot  = draw.GlyphStyle{Color: vermillion, Radius: vg.Points(1.7), Shape: draw.CircleGlyph{}}
	ownLine    = draw.LineStyle{Color: black, Width: vg.Points(1), Dashes: []vg.Length{4, 2}}
)

// histograms draws figure 1 of a target: a panel for each kernel.
func (r *Report) histograms(l LawTarget) (Picture, error) {
	name := "figure1-" + fileName(l.Name)
	var alt strings.Builder
	fmt.Fprintf(&alt, "Histograms of the number of ingredients n on target %s, %s, mean of %d sequences.", l.Name, l.Formula, r.Sequences)
	grid := [][]*plot.Plot{make([]*plot.Plot, 2), make([]*plot.Plot, 2)}
	figures := make([]*Figure, len(panels))
	for k, panel := range panels {
		for q := range r.Figures {
			if f := &r.Figures[q]; f.Target == l.Name && f.Kernel == panel.kernel {
				figures[k] = f
			}
		}
		if figures[k] == nil {
			return Picture{}, fmt.Errorf("figure %s: there is no histogram of %s", name, panel.kernel)
		}
	}
	lo, hi := extent(figures)
	for k, f := range figures {
		title := fmt.Sprintf("%s\ndistance %s, expected %s", panels[k].title, decimals(f.TV, 4), decimals(f.Expected, 4))
		if f.Stuck > 0 {
			title += fmt.Sprintf("; %d of %d stuck", f.Stuck, r.Sequences)
		}
		fmt.Fprintf(&alt, " %s: total variation distance %s, expected %s, %d sequences never moved.", panels[k].title, decimals(f.TV, 4), decimals(f.Expected, 4), f.Stuck)
		// Panels of a row have one scale. The upper row's would make the lower
		// one flat, where a sampler of the upper row never moves.
		row := figures[k/2*2 : k/2*2+2]
		p, err := histogram(title, f, lo, hi, height(row))
		if err != nil {
			return Picture{}, err
		}
		grid[k/2][k%2] = p
	}
	keys := []key{
		areaKey("mean of the sequences", barLook),
		errorKey("± 1 standard deviation"),
		lineKey("target", targetLine, &targetDot),
		lineKey("what the uncorrected chain follows", ownLine, nil),
	}
	return render(name, alt.String(), pageWidth, 13*vg.Centimeter, func(c draw.Canvas) error {
		foot := vg.Length(20)
		tiles := draw.Tiles{Rows: 2, Cols: 2, PadX: 10, PadY: 8, PadTop: 2, PadRight: 6, PadBottom: foot, PadLeft: 2}
		for row, canvases := range plot.Align(grid, tiles, c) {
			for col, canvas := range canvases {
				grid[row][col].Draw(canvas)
			}
		}
		keyRow(draw.Crop(c, 0, 0, 0, -(c.Max.Y-c.Min.Y-foot)), keys)
		return nil
	})
}

// extent returns which n the panels of a target show: all that the target or a
// histogram gives 0.1 % or more.
func extent(figures []*Figure) (lo, hi int) {
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

// height returns the percentage up to which panels go.
func height(figures []*Figure) float64 {
	top := 0.0
	for _, f := range figures {
		for _, s := range f.Sizes {
			top = max(top, 100*s.Target, min(100, 100*(s.Mean+s.SD)))
		}
	}
	return 1.05 * top
}

// histogram draws one panel of figure 1.
func histogram(title string, f *Figure, lo, hi int, top float64) (*plot.Plot, error) {
	p := newPlot(title, "number of ingredients, n", "share of the states, %")
	b := &bars{fill: barLook, left: -0.4, right: 0.4}
	var target, own plotter.XYs
	seen, mean := 0.0, 0.0 // of the kernel's own law
	for _, s := range f.Sizes {
		if s.Own != nil {
			mean += float64(s.N) * *s.Own
		}
		if s.N < lo || s.N > hi {
			continue
		}
		b.centres = append(b.centres, float64(s.N))
		b.heights = append(b.heights, 100*s.Mean)
		b.errors = append(b.errors, 100*s.SD)
		target = append(target, plotter.XY{X: float64(s.N), Y: 100 * s.Target})
		if s.Own != nil {
			own = append(own, plotter.XY{X: float64(s.N), Y: min(100**s.Own, top)})
			seen += *s.Own
		}
	}
	p.Add(b)
	if own != nil && seen < 0.5 {
		p.Title.Text += "\nwhat it follows is out of view: mean n " + decimals(mean, 1)
	} else if own != nil {
		line, err := plotter.NewLine(own)
		if err != nil {
			return nil, err
		}
		line.LineStyle = ownLine
		p.Add(line)
	}
	line, points, err := plotter.NewLinePoints(target)
	if err != nil {
		return nil, err
	}
	line.LineStyle, points.GlyphStyle = targetLine, targetDot
	p.Add(line, points)
	p.X.Min, p.X.Max = float64(lo)-0.6, float64(hi)+0.6
	p.Y.Min, p.Y.Max = 0, top
	p.Y.Tick.Marker = percentTicks(top)
	p.X.Tick.Marker = integerTicks(lo, hi)
	return p, nil
}

// looks are the fills of ingredients: each colour plain, then hatched in one
// way after the other.
func looks(k int) fill {
	colors := []fill{{orange, plain}, {skyBlue, plain}, {green, plain}, {yellow, plain}, {blue, plain}, {vermillion, plain}, {purple, plain}, {paleGrey, plain}}
	hatches := []hatch{plain, rising, crossed, falling, level}
	f := colors[k%len(colors)]
	f.hatch = hatches[k/len(colors)%len(hatches)]
	return f
}

// ratioPicture draws figure 3: the new cocktail and its neighbours as stacked
// bars.
func ratioPicture(c *Cocktails) (Picture, error) {
	drinks := append([]Drink{c.New}, c.Nearest...)
	var names []string
	look := map[string]fill{}
	var alt strings.Builder
	alt.WriteString("Stacked bars of composition ratios.")
	for _, d := range drinks {
		fmt.Fprintf(&alt, " %s:", shown(d.Name))
		for k, p := range d.Parts {
			if _, ok := look[p.Ingredient]; !ok {
				look[p.Ingredient] = looks(len(names))
				names = append(names, p.Ingredient)
			}
			if k > 0 {
				alt.WriteByte(',')
			}
			fmt.Fprintf(&alt, " %s %s %%", shown(p.Ingredient), decimals(p.Percent, 1))
		}
		alt.WriteByte('.')
	}
	p := newPlot("", "", "share of the drink, %")
	p.Add(&stacks{drinks, look})
	p.Y.Min, p.Y.Max = 0, 100
	p.Y.Tick.Marker = percentTicks(100)
	p.X.Min, p.X.Max = -0.6, float64(len(drinks))-0.4
	var ticks plot.ConstantTicks
	for k, d := range drinks {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: twoLines(d.Name, 15)})
	}
	p.X.Tick.Marker = ticks
	p.X.Tick.Length = 0
	p.X.Tick.Label.YAlign = text.YTop
	var keys []key
	for _, name := range names {
		keys = append(keys, areaKey(label(name, 26), look[name]))
	}
	return render(ratioName, alt.String(), pageWidth, 9.5*vg.Centimeter, func(canvas draw.Canvas) error {
		column := vg.Length(keyWidth + 2*keyGap)
		style := writing(7.5, false, text.XLeft, text.YCenter)
		for _, k := range keys {
			column = max(column, keyWidth+keyGap+style.Width(k.text))
		}
		width := canvas.Max.X - canvas.Min.X
		left := draw.Crop(canvas, 2, -column-4*keyGap, 2, -6)
		p.Draw(left)
		keyColumn(draw.Crop(canvas, width-column-2*keyGap, 0, 30, -6), keys)
		return nil
	})
}

// twoLines breaks a name in two at the space nearest to its middle, and cuts
// each line to what fits below a bar.
func twoLines(name string, longest int) string {
	best := -1
	for k, r := range name {
		if r == ' ' && (best < 0 || abs(2*k-len(name)) < abs(2*best-len(name))) {
			best = k
		}
	}
	if best < 0 || len(name) < 12 {
		// As many lines for all, so that they begin on one.
		return label(name, longest) + "\n "
	}
	return label(name[:best], longest) + "\n" + label(name[best+1:], longest)
}

func abs(x int) int { return max(x, -x) }

// stacks draws drinks as stacked bars, with percentages where they fit.
type stacks struct {
	drinks []Drink
	look   map[string]fill
}

func (s *stacks) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for k, d := range s.drinks {
		low := 0.0
		for _, part := range d.Parts {
			high := low + part.Percent
			lo := vg.Point{X: trX(float64(k) - 0.36), Y: trY(low)}
			hi := vg.Point{X: trX(float64(k) + 0.36), Y: trY(high)}
			area(c, s.look[part.Ingredient], lo, hi)
			if part.Percent >= 5 {
				number := decimals(part.Percent, 1) + " %"
				style := writing(7.5, part.Shared, text.XCenter, text.YCenter)
				at := vg.Point{X: (lo.X + hi.X) / 2, Y: (lo.Y + hi.Y) / 2}
				half := vg.Point{X: style.Width(number)/2 + 2, Y: 5}
				c.FillPolygon(white, []vg.Point{
					{X: at.X - half.X, Y: at.Y - half.Y}, {X: at.X + half.X, Y: at.Y - half.Y},
					{X: at.X + half.X, Y: at.Y + half.Y}, {X: at.X - half.X, Y: at.Y + half.Y},
				})
				c.FillText(style, at, number)
			}
			low = high
		}
	}
}

// productPicture draws figure 4: the law of the product of the wishes over
// random compositions and over the chain.
func productPicture(c *Cocktails) (Picture, error) {
	p := newPlot("", "y_taste · y_timing", "share of the compositions, %")
	random := fill{paleGrey, rising}
	chain := fill{skyBlue, plain}
	highest := 0.0
	for k, side := range []struct {
		of   Product
		look fill
	}{{c.Random, random}, {c.Chain, chain}} {
		b := &bars{fill: side.look}
		for _, bin := range side.of.Bins {
			width := bin.High - bin.Low
			b.left, b.right = width*(-0.46+0.46*float64(k)), width*0.46*float64(k)
			b.centres = append(b.centres, (bin.Low+bin.High)/2)
			b.heights = append(b.heights, 100*bin.Mean)
			b.errors = append(b.errors, 100*bin.SD)
			if bin.Mean > 0 {
				highest = max(highest, bin.High)
			}
		}
		p.Add(b)
	}
	p.X.Min, p.X.Max = 0, 1
	var ticks plot.ConstantTicks
	for k := range 11 {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 10, Label: decimals(float64(k)/10, 1)})
	}
	p.X.Tick.Marker = ticks
	p.Y.Max *= 1.04
	p.Y.Tick.Marker = percentTicks(p.Y.Max)
	keys := []key{
		areaKey(fmt.Sprintf("random compositions, mean %s", decimals(c.Random.Mean, 3)), random),
		areaKey(fmt.Sprintf("accelerated, mean %s", decimals(c.Chain.Mean, 3)), chain),
		errorKey("± 1 standard deviation"),
	}
	alt := fmt.Sprintf("Histogram of the product of the probabilities of taste Fresh and timing All day, over %d times %d random compositions (mean %s) and over %d chains of as many states (mean %s). The largest is below %s.",
		sequenceCount, c.Random.Compositions, decimals(c.Random.Mean, 3), sequenceCount, decimals(c.Chain.Mean, 3), decimals(highest, 2))
	return render(productName, alt, pageWidth, 8.5*vg.Centimeter, func(canvas draw.Canvas) error {
		foot := vg.Length(20)
		p.Draw(draw.Crop(canvas, 2, -8, foot, -6))
		keyRow(draw.Crop(canvas, 0, 0, 0, -(canvas.Max.Y-canvas.Min.Y-foot)), keys)
		return nil
	})
}
