package volume

import "math"

// A compositionPool holds compositions of one size that keep all rules, by population.
type compositionPool struct {
	members [][]Composition // item g lists the compositions in population g
	weights []float64       // item g is the share of compositions keeping all rules that population g measured
}

func newCompositionPool(w *sizeState) compositionPool {
	var p compositionPool
	for _, g := range w.populations {
		if g != nil && len(g.members) > 0 {
			p.members = append(p.members, g.members)
			p.weights = append(p.weights, g.weightProduct)
		}
	}
	return p
}

// A Walk draws compositions that keep all rules. A Walk is not safe for concurrent use.
type Walk struct {
	result *Result
	walker *walker
}

// Walk returns a new [Walk] that starts from the compositions that the measurement found.
func (r *Result) Walk() *Walk { return &Walk{r, newWalker(r.rules)} }

// Draw sets x to a random composition of the size with the given index in Sizes. The size must have been found.
// Draw takes one of the last compositions of the measurement and moves the composition under the rules. Draws
// are about uniform if there are many compositions. Use the draws for starts and comparisons, but not as exact
// samples.
func (w *Walk) Draw(r Rand, index int, x *Composition) {
	p := w.result.compositionPools[index]
	members := p.members[r.Categorical(p.weights)]
	w.walker.load(members[r.Intn(len(members))])
	for range movesPerStep(w.result.Sizes[index].N) {
		w.walker.makeMove(r, math.Inf(1))
	}
	w.walker.store(x)
}
