package model

// A tree is a binary decision tree. Its nodes are stored in preorder: a node's
// left child, if it has one, comes right after it.
type tree struct {
	nodes []node
	// The labels of the rows in leaf l, numbered from left to right, are
	// labels[leafStart[l]:leafStart[l+1]], ascending. Each has the number of bootstrap draws with
	// it.
	leafStart []int32
	labels    []int32
	counts    []int32
	shares    []float64 // by leaf, then class: the shrunk shares; nil without shrinkage
}

// A node is a test or a leaf. A row goes left if the feature is at most the
// threshold. As features are integers, so are thresholds.
type node struct {
	feature   int32 // −1 in a leaf
	threshold int32
	right     int32 // index of the right child; in a leaf, the leaf's number
}

// leaf returns the number of the leaf that the dense feature vector x falls into.
func (t *tree) leaf(x []int32) int32 {
	at := int32(0)
	for {
		n := &t.nodes[at]
		switch {
		case n.feature < 0:
			return n.right
		case x[n.feature] <= n.threshold:
			at++
		default:
			at = n.right
		}
	}
}

// leaves returns the number of leaves.
func (t *tree) leaves() int { return len(t.leafStart) - 1 }

// content returns the labels in leaf l and how often each was drawn.
func (t *tree) content(l int32) (labels, counts []int32) {
	from, to := t.leafStart[l], t.leafStart[l+1]
	return t.labels[from:to], t.counts[from:to]
}

// weight returns the number of bootstrap draws in leaf l.
func (t *tree) weight(l int32) (sum int64) {
	_, counts := t.content(l)
	for _, c := range counts {
		sum += int64(c)
	}
	return sum
}

// depth returns the largest number of tests on a path.
func (t *tree) depth() int {
	deepest := 0
	depth := make([]int32, len(t.nodes))
	for at := range t.nodes {
		n := &t.nodes[at]
		deepest = max(deepest, int(depth[at]))
		if n.feature >= 0 {
			depth[at+1] = depth[at] + 1
			depth[n.right] = depth[at] + 1
		}
	}
	return deepest
}
