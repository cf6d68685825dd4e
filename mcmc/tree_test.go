package mcmc_test

import (
	"math"

	"kir/mcmc"
)

// A treeProperty is the mean of a few small decision trees, scored along a
// line the way a forest is: by the interval of splits that reaches each node.
// Its leaves are multiples of 1/8, so that sums are exact in any order.
type treeProperty struct {
	trees []*treeNode
}

// treeNode sends x to below if x[feature] ≤ threshold, else to above. A leaf
// has no children.
type treeNode struct {
	feature, threshold int
	below, above       *treeNode
	value              float64
}

// newTreeProperty grows three random trees of depth 3. One in six leaves is 0;
// all trees together are nowhere 0 unless all three leaves are.
func newTreeProperty(ingredients, total int) treeProperty {
	var grow func(depth, id int) *treeNode
	grow = func(depth, id int) *treeNode {
		if depth == 0 {
			return &treeNode{value: math.Floor(6*share("leaf", id)) / 8}
		}
		return &treeNode{
			feature:   int(float64(ingredients) * share("feature", id)),
			threshold: int(float64(total) * share("threshold", id)),
			below:     grow(depth-1, 2*id),
			above:     grow(depth-1, 2*id+1),
		}
	}
	return treeProperty{[]*treeNode{grow(3, 1), grow(3, 1<<8), grow(3, 1<<16)}}
}

// score returns y at the amounts x, tree by tree.
func (p treeProperty) score(x []int) float64 {
	sum := 0.0
	for _, n := range p.trees {
		for n.below != nil {
			if x[n.feature] <= n.threshold {
				n = n.below
			} else {
				n = n.above
			}
		}
		sum += n.value
	}
	return sum
}

func (p treeProperty) LogScore(x *mcmc.Composition) float64 { return math.Log(p.score(amounts(x))) }

func (p treeProperty) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &treeScorer{property: p, x: x}
}

// treeScorer keeps a copy of the amounts, which only Reset and Moved bring up
// to date, so that a kernel which forgets to tell it is found out.
type treeScorer struct {
	property treeProperty
	x        *mcmc.Composition
	amounts  []int
}

func (s *treeScorer) Reset()            { s.amounts = amounts(s.x) }
func (s *treeScorer) LogScore() float64 { return math.Log(s.property.score(s.amounts)) }
func (s *treeScorer) Moved(i, j int) {
	s.amounts[i], s.amounts[j] = s.x.Amount(i), s.x.Amount(j)
}

func (s *treeScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	sum := s.amounts[i] + s.amounts[j]
	score := make([]float64, sum+1)
	starts := make([]bool, sum+1)
	var walk func(n *treeNode, from, to int)
	walk = func(n *treeNode, from, to int) { // the splits from ≤ k ≤ to reach n
		switch {
		case from > to:
		case n.below == nil:
			starts[from] = true
			for k := from; k <= to; k++ {
				score[k] += n.value
			}
		case n.feature == i: // k ≤ threshold
			walk(n.below, from, min(to, n.threshold))
			walk(n.above, max(from, n.threshold+1), to)
		case n.feature == j: // sum − k ≤ threshold
			walk(n.below, max(from, sum-n.threshold), to)
			walk(n.above, from, min(to, sum-n.threshold-1))
		case s.amounts[n.feature] <= n.threshold:
			walk(n.below, from, to)
		default:
			walk(n.above, from, to)
		}
	}
	for _, n := range s.property.trees {
		walk(n, 0, sum)
	}
	for k, start := range starts {
		if start {
			p.Add(k, math.Log(score[k]))
		}
	}
}
