package volume

import "math"

// A pool holds compositions of one size that keep all rules, grouped by population.
type pool struct {
	members [][]Composition
	weights []float64 // share measured by each population
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

// A Walk draws compositions that keep all rules. Only one goroutine may use it.
type Walk struct {
	result *Result
	walker *walker
}

// Walk returns a new [Walk] through the compositions that the measurement found.
func (r *Result) Walk() *Walk { return &Walk{r, newWalker(r.rules)} }

// Draw sets x to a random composition of the size at an index of Sizes, which must have been found. It takes one of
// the last compositions of the measurement and moves it under the rules. Draws are about uniform if there are many
// compositions. Use them for starts and comparisons, but not as an exact law.
func (w *Walk) Draw(r Rand, index int, x *Composition) {
	p := w.result.pools[index]
	members := p.members[r.Categorical(p.weights)]
	w.walker.load(members[r.Intn(len(members))])
	for range movesPerStep(w.result.Sizes[index].N) {
		w.walker.move(r, math.Inf(1))
	}
	w.walker.store(x)
}
