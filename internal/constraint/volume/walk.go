package volume

import "math"

// A pool holds the compositions of a size that keep all rules, by population.
type pool struct {
	members [][]Composition
	weights []float64 // of each population, its share
}

func newPool(w *sizeWork) pool {
	var p pool
	for _, g := range w.groups {
		if g != nil && len(g.members) > 0 {
			p.members = append(p.members, g.members)
			p.weights = append(p.weights, g.mean)
		}
	}
	return p
}

// A Walk draws compositions that keep all rules. It belongs to one goroutine.
type Walk struct {
	result *Result
	walker *walker
}

// Walk returns a [Walk] that draws compositions of the measured sizes.
func (r *Result) Walk() *Walk { return &Walk{r, newWalker(r.rules)} }

// Draw makes x a composition of the size at an index of Sizes, which must have been found. It takes
// one of the last compositions of the measurement and moves it under the rules. These are about
// uniform if they are many. Draw serves for a first state or a comparison, like an independent
// draw. It must not serve as an exact law.
func (w *Walk) Draw(r Rand, index int, x *Composition) {
	p := w.result.pools[index]
	members := p.members[r.Categorical(p.weights)]
	w.walker.load(members[r.Intn(len(members))])
	for range movesPerStep(w.result.Sizes[index].N) {
		w.walker.move(r, math.Inf(1))
	}
	w.walker.store(x)
}
