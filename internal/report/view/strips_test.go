package view

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// drawnOf returns the coordinates of what a figure has of one kind, in order, without
// what explains it below bottom: of paths their points, of rectangles x, y, width and
// height, of circles their middle.
func drawnOf(t *testing.T, f *figure.Figure, bottom float64, element, class string) (all [][]float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<`+element+` [^>]*>`).FindAllString(f.SVG(), -1) {
		if !regexp.MustCompile(`class="` + class + `"`).MatchString(m) {
			continue
		}
		var numbers []float64
		for _, a := range regexp.MustCompile(` (?:d|x|y|cx|cy|width|height)="([^"]*)"`).FindAllStringSubmatch(m, -1) {
			for _, text := range regexp.MustCompile(`-?[0-9.]+`).FindAllString(a[1], -1) {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				numbers = append(numbers, v)
			}
		}
		if numbers[1] < bottom {
			all = append(all, numbers)
		}
	}
	return all
}

// near says whether coordinates are the same but for their one digit behind the point.
func near(got, want [][]float64) bool {
	return slices.EqualFunc(got, want, func(g, w []float64) bool {
		return slices.EqualFunc(g, w, func(x, y float64) bool { return math.Abs(x-y) < 0.051 })
	})
}

// The shares of ranks stand where they are, and the band is of two standard errors to
// either side of the even share.
func TestRanks(t *testing.T) {
	m := &report.Model{Plots: []report.Plot{{Name: "n", RankSE: 0.05, Ranks: [][]report.Number{{0.25, 0.3, 0.2, 0.25}, {0.4, 0.1, 0.15, 0.35}}}}}
	f := ranksFigure(m, 0)
	// A strip shows what is farthest from even, 0.15 that is here, and a tenth more.
	at := func(k int, share float64) float64 { return 4 + 40*float64(k) + 34*(0.5-(share-0.25)/0.33) }
	column := func(b int) float64 { return 52 + float64(b)*(figureWidth-4-52)/4 }
	var bands, evens, shares [][]float64
	for k, chain := range m.Plots[0].Ranks {
		bands = append(bands, []float64{52, at(k, 0.35), figureWidth - 56, at(k, 0.15) - at(k, 0.35)})
		evens = append(evens, []float64{52, at(k, 0.25), figureWidth - 4, at(k, 0.25)})
		var steps []float64
		for b, share := range chain {
			steps = append(steps, column(b), at(k, float64(share)), column(b+1), at(k, float64(share)))
		}
		shares = append(shares, steps)
	}
	const bottom = 84
	if got := drawnOf(t, f, bottom, "rect", "f-soft faint"); !near(got, bands) {
		t.Errorf("the bands are %v, want %v", got, bands)
	}
	if got := drawnOf(t, f, bottom, "path", "s-ink"); !near(got, evens) {
		t.Errorf("the even shares are at %v, want %v", got, evens)
	}
	if got := drawnOf(t, f, bottom, "path", "s-accent"); !near(got, shares) {
		t.Errorf("the shares are at %v, want %v", got, shares)
	}
	if !strings.Contains(f.Text, "each of 2 chains") || !strings.Contains(f.Text, "4 bins") || !strings.Contains(f.Text, "2 of 8 shares lie outside") {
		t.Errorf("it says %s", f.Text)
	}
	if !strings.Contains(f.SVG(), "each strip from 8.5 to 41.5 %") {
		t.Error("it does not say from where to where a strip goes")
	}

	// Where all is near the even share, three standard errors are shown, and none below 0.
	m.Plots[0].Ranks = [][]report.Number{{0.25, 0.25, 0.25, 0.25}, {0.26, 0.24, 0.25, 0.25}}
	if svg := ranksFigure(m, 0).SVG(); !strings.Contains(svg, "each strip from 8.5 to 41.5 %") {
		t.Error("shares that are even are shown otherwise")
	}
	m.Plots[0].RankSE = 0.2
	if svg := ranksFigure(m, 0).SVG(); !strings.Contains(svg, "each strip from 0 to 91 %") && !strings.Contains(svg, "each strip from 0.0 to 91.0 %") {
		t.Error("a strip goes below 0")
	}
	m.Plots[0].RankSE = report.Number(math.NaN())
	if ranksFigure(m, 0) != nil {
		t.Error("there are ranks without an error")
	}
	m.Plots[0].RankSE, m.Plots[0].Ranks = 0.05, m.Plots[0].Ranks[:1]
	if ranksFigure(m, 0) != nil {
		t.Error("there are ranks of one chain")
	}
}

// A trace goes through its draws, all chains on one scale, without what is not known.
func TestTraces(t *testing.T) {
	unknown := report.Number(math.NaN())
	m := &report.Model{Plots: []report.Plot{{Name: "n", Every: 3, Trace: [][]report.Number{{1, 2.5, 3}, {2, unknown, 1.5}}}}}
	f := traceFigure(m, 0)
	at := func(k int, v float64) float64 { return 8 + 40*float64(k) + 34*(1-(v-1)/2) }
	const first, middle, last = 52, (52 + figureWidth - 4) / 2, figureWidth - 4
	want := [][]float64{{first, at(0, 1), middle, at(0, 2.5), last, at(0, 3)}, {first, at(1, 2), last, at(1, 1.5)}}
	if got := drawnOf(t, f, 100, "path", "s-accent"); !near(got, want) {
		t.Errorf("the traces are %v, want %v", got, want)
	}
	if !strings.Contains(f.Text, "2 chains: one draw in 3, ") || !strings.Contains(f.Text, "between 1.00 and 3.00") {
		t.Errorf("it says %s", f.Text)
	}
	for name, trace := range map[string][][]report.Number{"none": nil, "of one draw": {{1}}, "of nothing known": {{unknown, unknown}}} {
		m.Plots[0].Trace = trace
		if traceFigure(m, 0) != nil {
			t.Errorf("there is a trace %s", name)
		}
	}
}

// A dot is at its value, its line two standard errors to either side, and its ring at
// what it is compared with; what has no error has no line.
func TestDots(t *testing.T) {
	const left, right = 82.0, figureWidth - 12
	nan := math.NaN()
	rows := []dotRow{{label: "a", value: 0.5, se: 0.1, referenceValue: 0.25}, {label: "b", value: 0.1, se: 0.2, referenceValue: nan}, {label: "c", value: 0.3, se: nan, referenceValue: nan}}
	for name, c := range map[string]struct {
		axis  dotAxis
		place func(v float64) float64 // from 0 to 1
	}{
		"linear":      {newDotAxis("x", 1, figure.Percent), func(v float64) float64 { return v }},
		"root":        {dotAxis{hi: 1, isSquareRoot: true}, math.Sqrt},
		"logarithmic": {dotAxis{lo: 0.01, hi: 1, isLogarithmic: true}, func(v float64) float64 { return 1 + math.Log(v)/math.Log(100) }},
	} {
		at := func(v float64) float64 {
			p := c.place(max(v, 0))
			return left + max(0, min(1, p))*(right-left)
		}
		f := &figure.Figure{}
		drawDotPlot(f, rows, c.axis)
		y := func(k int) float64 { return 6 + 18*(float64(k)+0.5) }
		lines := [][]float64{{at(0.3), y(0), at(0.7), y(0)}, {at(-0.3), y(1), at(0.5), y(1)}}
		dots := [][]float64{{at(0.5), y(0)}, {at(0.1), y(1)}, {at(0.3), y(2)}}
		if got := drawnOf(t, f, 100, "path", "s-accent"); !near(got, lines) {
			t.Errorf("%s: the lines are %v, want %v", name, got, lines)
		}
		if got := drawnOf(t, f, 100, "circle", "f-accent"); !near(got, dots) {
			t.Errorf("%s: the dots are at %v, want %v", name, got, dots)
		}
		if got := drawnOf(t, f, 100, "circle", "s-ink"); !near(got, [][]float64{{at(0.25), y(0)}}) {
			t.Errorf("%s: the rings are at %v", name, got)
		}
	}
}

// Shares are on the scale of their roots where the largest of four or more is at least
// four times their median, with numbers that have room.
func TestShareAxis(t *testing.T) {
	for _, c := range []struct {
		values []float64
		hi     float64
		root   bool
		ticks  string
	}{
		{[]float64{0.1, 0.1, 0.39}, 0.4, false, ""},
		{[]float64{0.1, 0.1, 0.1, 0.39}, 0.4, false, ""},
		{[]float64{0.1, 0.1, 0.1, 0.4}, 0.4, true, "[0 0.01 0.05 0.1 0.2 0.4]"},
		{[]float64{0.01, 0.01, 0.02, 0.02, 1}, 1, true, "[0 0.02 0.1 0.2 0.4 0.7 1]"},
		{[]float64{0.01, 0.01, 0.02, 0.02, 0.3}, 0.3, true, "[0 0.01 0.05 0.1 0.2]"},
	} {
		a := newShareAxis("x", c.hi, c.values)
		if a.isSquareRoot != c.root || c.root && (fmt.Sprintf("%.2g", a.ticks) != c.ticks || a.title != "x (root scale)" || a.formatTick(0.05) != "5") {
			t.Errorf("of %v up to %v: root %v with the ticks %v and the title %s", c.values, c.hi, a.isSquareRoot, a.ticks, a.title)
		}
	}
}
