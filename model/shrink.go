package model

import "math"

// classShrinkage is the λ of [tree.shrinkShares] for classes. The held-out log loss is the same for
// any λ from 0 to 1. With any λ above 0, two leaves that hold a single class can have different
// probabilities.
const classShrinkage = 0.5

// shrinkShares moves the class shares in each leaf towards the class shares in the nodes above the
// leaf (hierarchical shrinkage: Agarwal, Tan, Ronen, Singh and Yu 2022). Number the nodes on the
// path from the root to the leaf by k = 0, 1, …. Let m_k be the class shares and N_k the number of
// draws in node k. The shrunk shares are
//
//	p = m_0 + Σ_k (m_k − m_(k−1)) / (1 + λ/N_(k−1)).
//
// Among leaves that hold a single class, the probability is then closer to 1 if the leaf has more
// rows. A search for the largest probability therefore does not end on a plateau where all trees
// return 1.
func (t *tree) shrinkShares(classes int, lambda float64) {
	counts := make([]float64, len(t.nodes)*classes) // by node and class: the shares m_k
	draws := make([]float64, len(t.nodes))
	parent := make([]int, len(t.nodes))
	parent[0] = -1
	for at, n := range t.nodes {
		if n.feature >= 0 {
			parent[at+1], parent[n.right] = at, at
		}
	}
	for at := len(t.nodes) - 1; at >= 0; at-- { // children come after their parents
		own := counts[at*classes : (at+1)*classes]
		if n := t.nodes[at]; n.feature < 0 {
			labels, drawn := t.leafContent(n.right)
			for k, label := range labels {
				own[label] = float64(drawn[k])
				draws[at] += float64(drawn[k])
			}
		}
		if p := parent[at]; p >= 0 {
			draws[p] += draws[at]
			for c, v := range own {
				counts[p*classes+c] += v
			}
		}
	}
	t.shares = make([]float64, t.leafCount()*classes)
	shares := make([]float64, len(counts))
	for at, n := range t.nodes {
		for c := range classes {
			k := at*classes + c
			shares[k] = counts[k] / draws[at]
			if p := parent[at]; p >= 0 {
				above := p*classes + c
				shares[k] = shares[above] + float64((shares[k]-counts[above]/draws[p])/(1+lambda/draws[p]))
			}
		}
		if n.feature < 0 {
			copy(t.shares[int(n.right)*classes:], shares[at*classes:(at+1)*classes])
		}
	}
}

// addShares adds the share of each label in leaf l to the element of law for the label.
func (t *tree) addShares(l int32, law []float64) {
	if t.shares != nil {
		for c, v := range t.shares[int(l)*len(law):][:len(law)] {
			law[c] += v
		}
		return
	}
	labels, counts := t.leafContent(l)
	weight := float64(t.leafDraws(l))
	for k, label := range labels {
		law[label] += float64(counts[k]) / weight
	}
}

// leafValue returns the value of leaf l in a [Score]: the mean, over the rows in the leaf, of how
// much the row's label is wanted. The parameter desires holds how much each label is wanted, in
// units of 1/fullDesire. The result is a fixed-point number, in units of 2^−fixedPointBits.
func (t *tree) leafValue(l int32, desires []int64) int64 {
	if t.shares != nil {
		sum := 0.0
		for c, v := range t.shares[int(l)*len(desires):][:len(desires)] {
			sum += float64(v * float64(desires[c]) / fullDesire)
		}
		if sum == 0 {
			return 0
		}
		return min(max(int64(math.Round(math.Ldexp(sum, fixedPointBits))), 1), 1<<fixedPointBits)
	}
	part := int64(0)
	labels, counts := t.leafContent(l)
	for k, label := range labels {
		part += int64(counts[k]) * desires[label]
	}
	return toFixedPoint(part, t.leafDraws(l))
}

// shrinkTrees shrinks the class shares of all trees, as the options of the forest select. It does
// nothing if the label is a number.
func (f *Forest) shrinkTrees() {
	if f.options.shrink == 0 || f.Numeric() {
		return
	}
	for k := range f.trees {
		f.trees[k].shrinkShares(len(f.classes), f.options.shrink)
	}
}
