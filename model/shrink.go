package model

import "math"

// leafShrink is the λ of [tree.shrink] for classes. Held-out log loss is the same for 0 to 1, and
// any λ above 0 distinguishes leaves that hold one class alone.
const leafShrink = 0.5

// shrink pulls the class shares in each leaf towards those of the nodes above it (hierarchical
// shrinkage: Agarwal, Tan, Ronen, Singh and Yu 2022). With m_k the shares and N_k the draws of node
// k of the path to the leaf,
//
//	p = m_0 + Σ_k (m_k − m_(k−1)) / (1 + λ/N_(k−1)).
//
// The more rows a leaf of one class has, the closer its probability is to 1. So the search for the
// largest probability does not end on a plateau where all trees return 1.
func (t *tree) shrink(classes int, lambda float64) {
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
			labels, drawn := t.content(n.right)
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
	t.shares = make([]float64, t.leaves()*classes)
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

// addShares adds the shares of the labels of leaf l to a law.
func (t *tree) addShares(l int32, law []float64) {
	if t.shares != nil {
		for c, v := range t.shares[int(l)*len(law):][:len(law)] {
			law[c] += v
		}
		return
	}
	labels, counts := t.content(l)
	weight := float64(t.weight(l))
	for k, label := range labels {
		law[label] += float64(counts[k]) / weight
	}
}

// value returns, in fixed point, how much of leaf l has the desired labels.
func (t *tree) value(l int32, desires []int64) int64 {
	if t.shares != nil {
		sum := 0.0
		for c, v := range t.shares[int(l)*len(desires):][:len(desires)] {
			sum += float64(v * float64(desires[c]) / sharesPerOne)
		}
		if sum == 0 {
			return 0
		}
		return min(max(int64(math.Round(math.Ldexp(sum, scaleBits))), 1), 1<<scaleBits)
	}
	part := int64(0)
	labels, counts := t.content(l)
	for k, label := range labels {
		part += int64(counts[k]) * desires[label]
	}
	return fixed(part, t.weight(l))
}

// shrink shrinks all leaves if the options ask for it and the label is a class.
func (f *Forest) shrink() {
	if f.options.shrink == 0 || f.Numeric() {
		return
	}
	for k := range f.trees {
		f.trees[k].shrink(len(f.classes), f.options.shrink)
	}
}
