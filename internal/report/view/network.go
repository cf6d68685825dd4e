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
)

// maxNetworkNodes is the largest number of ingredients in the network of pairs.
const maxNetworkNodes = 20

// A networkEdge is a pair of ingredients in the network of pairs.
type networkEdge struct {
	report.Pair
	together bool // whether the pair is used together more often than expected; otherwise it is used less often
}

// networkFigure shows pairs of ingredients as lines between points on a ring. The wider a line, the
// further the lift is from the expected lift; pairs that draws avoid have dashed lines. The result is
// nil if there are no pairs.
func networkFigure(pairs *report.Pairs) *figure.Figure {
	edges, nodes := networkOf(pairs)
	if len(edges) == 0 {
		return nil
	}
	const row, top, middle, radius = 20.0, 12.0, figureWidth / 2, 62.0
	perSide := (len(nodes) + 1) / 2
	height := float64(row * float64(perSide))
	f := &figure.Figure{Name: "network", Title: "Pairs as a network", Width: figureWidth, Height: height + 2*top}
	// The first half of the nodes goes down the right side, the other half up the left side.
	at := make(map[string][2]float64, len(nodes))
	side := make(map[string]float64, len(nodes))
	for k, name := range nodes {
		place, of := k, perSide
		side[name] = 1
		if k >= perSide {
			place, of = len(nodes)-1-k, len(nodes)-perSide
			side[name] = -1
		}
		y := top + float64(height*(float64(place)+0.5)/float64(of))
		slope := (y - top - float64(height/2)) / float64(height/2)
		at[name] = [2]float64{middle + float64(side[name]*(12+float64(radius*math.Sqrt(max(0, 1-float64(slope*slope)))))), y}
	}
	var said []string
	for _, e := range edges {
		a, b := at[e.First], at[e.Second]
		strength := math.Abs(portable.Log(float64(e.Lift / e.Expected)))
		width := min(1+float64(1.5*strength), 4)
		word := "together"
		if !e.together {
			word = "apart"
		}
		text := fmt.Sprintf("%s and %s %s: lift %s", e.First, e.Second, word, number.Fixed(e.Lift, 2))
		f.Group("", text, func() {
			path := bend(a, b, [2]float64{middle, top + float64(height/2)})
			if e.together {
				f.Path(path, width, figure.Accent)
			} else {
				f.DashedPath(path, width, figure.Soft)
			}
		})
		said = append(said, text)
	}
	for _, name := range nodes {
		x, y := at[name][0], at[name][1]
		f.Group("", name, func() {
			f.Dot(x, y, 4, figure.Ink)
			if side[name] > 0 {
				f.Write(x+8, y+4, figure.SmallSize, figure.Start, figure.Ink, figure.Clip(name, figureWidth-x-8, figure.SmallSize))
			} else {
				f.Write(x-8, y+4, figure.SmallSize, figure.End, figure.Ink, figure.Clip(name, x-8, figure.SmallSize))
			}
		})
	}
	f.Text = fmt.Sprintf("Network of %s. %s. The table of pairs has all figures.", number.CountWithNoun(len(nodes), "ingredient"), strings.Join(said, "; "))
	f.Key("together", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 3, figure.Accent) })
	f.Key("apart", func(f *figure.Figure, x, y float64) { f.Dashed(x, y+5, x+20, y+5, 3, figure.Soft) })
	f.Key("wider: lift further from chance", func(f *figure.Figure, x, y float64) {
		f.Line(x, y+2, x+20, y+2, 1, figure.Soft)
		f.Line(x, y+8, x+20, y+8, 5, figure.Soft)
	})
	f.PlaceKeys()
	return f
}

// bend returns points of a line from a to b that bends toward a centre, so that lines between
// neighbours on a ring do not run through the points between them.
func bend(a, b, centre [2]float64) (points []float64) {
	const steps = 12
	const share = 0.35 // of the way from the middle of the line to the centre
	var pull [2]float64
	for d := range pull {
		pull[d] = float64((1-share)*(a[d]+b[d])/2) + float64(share*centre[d])
	}
	for k := range steps + 1 {
		t := float64(k) / steps
		for d := range 2 {
			points = append(points, float64((1-t)*(1-t)*a[d])+float64(2*t*(1-t)*pull[d])+float64(t*t*b[d]))
		}
	}
	return points
}

// networkOf returns the pairs of a network and their ingredients. It takes pairs in turn from those
// that are used together and those that are not, the most certain first, as long as there are at
// most maxNetworkNodes ingredients.
func networkOf(pairs *report.Pairs) (edges []networkEdge, nodes []string) {
	if pairs == nil {
		return nil, nil
	}
	add := func(list []report.Pair, k int, together bool) {
		if k >= len(list) {
			return
		}
		var more []string
		for _, name := range []string{list[k].First, list[k].Second} {
			if !slices.Contains(nodes, name) {
				more = append(more, name)
			}
		}
		if len(nodes)+len(more) <= maxNetworkNodes {
			edges, nodes = append(edges, networkEdge{list[k], together}), append(nodes, more...)
		}
	}
	for k := range max(len(pairs.Together), len(pairs.Apart)) {
		add(pairs.Together, k, true)
		add(pairs.Apart, k, false)
	}
	return edges, orderNodes(edges, nodes)
}

// orderNodes returns the nodes of a network in an order in which ingredients that are used together
// mostly follow each other: each node is followed by those that it is used together with, depth
// first.
func orderNodes(edges []networkEdge, nodes []string) (order []string) {
	var visit func(name string)
	visit = func(name string) {
		if slices.Contains(order, name) {
			return
		}
		order = append(order, name)
		for _, e := range edges {
			switch {
			case e.together && e.First == name:
				visit(e.Second)
			case e.together && e.Second == name:
				visit(e.First)
			}
		}
	}
	for _, name := range nodes {
		visit(name)
	}
	return order
}
