package measure

import "math"

// A pool is the compositions of a size that keep all rules, by population.
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

// Walk returns what draws compositions of the measured sizes.
func (r *Result) Walk() *Walk { return &Walk{r, newWalker(r.rules)} }

// Draw makes x a composition of the size at an index of Sizes, which was found:
// one of those that the measuring ended with, which is uniform as far as they are
// many, moved on under the rules. It is as good as an independent draw to start
// from or to compare with, and is none to rest a law on.
func (w *Walk) Draw(r Rand, index int, x *Composition) {
	p := w.result.pools[index]
	members := p.members[r.Categorical(p.weights)]
	w.walker.load(members[r.Intn(len(members))])
	for range movesPerStep(w.result.Sizes[index].N) {
		w.walker.move(r, math.Inf(1))
	}
	w.walker.store(x)
}
