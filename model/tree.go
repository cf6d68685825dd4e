package model

// A tree is a binary decision tree. Its nodes are stored in preorder: the left child of a node
// comes right after the node.
type tree struct {
	nodes []node
	// leafStarts delimits the contents of the leaves, which are numbered from left to right. Leaf l
	// has the labels labels[leafStarts[l]:leafStarts[l+1]], which are ascending indices of labels.
	// The same elements of counts are the numbers of bootstrap draws with these labels.
	leafStarts []int32
	labels     []int32 // labels of all leaves, one leaf after another: see leafStarts
	counts     []int32 // number of bootstrap draws for each element of labels
	// shares of the classes in each leaf after shrinkage, one leaf after another; nil without
	// shrinkage
	shares []float64
}

// A node is a test or a leaf of a [tree]. A composition goes left if its feature is at most the
// threshold, and right otherwise. Features and thresholds are integers.
type node struct {
	feature   int32 // index of the tested feature; −1 for a leaf
	threshold int32
	right     int32 // index of the right child; for a leaf, the number of the leaf
}

// leafNumber returns the number of the leaf that a composition reaches. The parameter x holds the
// features of the composition.
func (t *tree) leafNumber(x []int32) int32 {
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

// leafCount returns the number of leaves.
func (t *tree) leafCount() int { return len(t.leafStarts) - 1 }

// leafContent returns the content of leaf l: the indices of its labels, and the number of bootstrap
// draws with each of these labels.
func (t *tree) leafContent(l int32) (labels, counts []int32) {
	from, to := t.leafStarts[l], t.leafStarts[l+1]
	return t.labels[from:to], t.counts[from:to]
}

// leafDraws returns the number of bootstrap draws in leaf l.
func (t *tree) leafDraws(l int32) (sum int64) {
	_, counts := t.leafContent(l)
	for _, c := range counts {
		sum += int64(c)
	}
	return sum
}

// depth returns the largest number of tests on a path from the root to a leaf.
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
