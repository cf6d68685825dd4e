package lightgbm

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kir/internal/ensemble"
)

// maxLeaves is the greatest number of leaves of a tree.
const maxLeaves = 1 << 24

// The bits of the decision type of a node.
const (
	categoricalBit = 1 << 0 // set if the node tests categories
	defaultLeftBit = 1 << 1 // set if missing values lead left
	missingMask    = 3 << 2 // mask of the two bits that tell which values count as missing
	zeroMissing    = 1 << 2 // value of the masked bits if zeros count as missing
	nanMissing     = 2 << 2 // value of the masked bits if NaN counts as missing
)

// zeroTolerance is the greatest absolute value that counts as zero. It matters only if zeros count
// as missing values.
const zeroTolerance = float64(float32(1e-35))

// A tree holds the nodes and leaves of one tree of the file. A child c ≥ 0 is the node with index
// c. A child c < 0 is the leaf with index ^c.
type tree struct {
	features      []int     // index of the feature that each node tests
	decisionTypes []int     // decision type of each node
	left          []int     // left child of each node
	right         []int     // right child of each node
	thresholds    []float64 // threshold of each node; for a node that tests categories, an index in categorySets
	leafValues    []float64 // value of each leaf
	categorySets  [][]int   // the sets of categories that lead left; nil once a node has used the set
}

// addTree adds a tree to the model as a term of the given target. The parameter fields maps the
// names of the tree's fields in the file to their values.
func addTree(b *ensemble.Builder, fields map[string]string, target int) error {
	t, err := readTree(fields)
	if err != nil {
		return err
	}
	nodes := len(t.features)
	number := func(child int) int { // numbers of the shape: nodes first, then leaves
		if child < 0 {
			return nodes + ^child
		}
		return child
	}
	if err := b.AddTree(ensemble.TreeShape{
		Nodes: nodes + len(t.leafValues),
		Children: func(k int) (left, right int, leaf bool) {
			if k >= nodes {
				return 0, 0, true
			}
			return number(t.left[k]), number(t.right[k]), false
		},
		Leaf: func(k int) (int32, error) { return b.AddLeaf(t.leafValues[k-nodes]) },
		Test: func(k int, left, right int32) (int32, error) { return t.addTest(b, k, left, right) },
	}); err != nil {
		return err
	}
	return b.AddToTargets(target)
}

// addTest adds the test of node k to the builder. The parameters left and right are the children of
// the node.
func (t *tree) addTest(b *ensemble.Builder, k int, left, right int32) (int32, error) {
	feature, threshold, kind := t.features[k], t.thresholds[k], t.decisionTypes[k]
	if kind&categoricalBit != 0 {
		if at := int(threshold); threshold >= 0 && threshold < float64(len(t.categorySets)) && t.categorySets[at] != nil {
			defer func() { t.categorySets[at] = nil }()                                    // nodes do not share categories, so the file's size bounds the work
			return b.AddCategoryTests(feature, t.categorySets[at], -1, left, right, right) // a value is in category 0 if it is above −1, such as −0.5
		}
		return 0, fmt.Errorf("it tests the categories %v of %d, or another node does", threshold, len(t.categorySets))
	}
	byDefault, missing := right, 1
	if kind&defaultLeftBit != 0 {
		byDefault, missing = left, 0
	}
	if kind&missingMask != nanMissing {
		missing = 1 // a missing value counts as 0
		if threshold >= 0 {
			missing = 0
		}
	}
	test, err := b.AddThresholdTests(feature, []float64{threshold}, []int32{left, right}, missing)
	if err != nil || kind&missingMask != zeroMissing {
		return test, err
	}
	return b.AddThresholdTests(feature, []float64{b.PreviousInput(-zeroTolerance), zeroTolerance}, []int32{test, byDefault, test}, 1)
}

// readTree reads a tree from its fields in the file, a map from names to values.
func readTree(fields map[string]string) (*tree, error) {
	leaves, err := strconv.Atoi(fields["num_leaves"])
	if err != nil || leaves < 1 || leaves > maxLeaves {
		return nil, fmt.Errorf("num_leaves is %.40q", fields["num_leaves"])
	}
	if v := fields["is_linear"]; v != "" && v != "0" {
		return nil, errors.New("linear trees are not supported: grow it with linear_tree=false")
	}
	t := &tree{}
	if t.leafValues, err = parseList(fields, "leaf_value", leaves, parseNumber); err != nil {
		return nil, err
	}
	if leaves == 1 {
		return t, nil
	}
	for _, f := range []struct {
		name string
		of   *[]int
	}{{"split_feature", &t.features}, {"left_child", &t.left}, {"right_child", &t.right}, {"decision_type", &t.decisionTypes}} {
		if *f.of, err = parseList(fields, f.name, leaves-1, strconv.Atoi); err != nil {
			return nil, err
		}
	}
	for k, kind := range t.decisionTypes {
		if kind < 0 || kind&missingMask == missingMask || kind > categoricalBit|defaultLeftBit|missingMask {
			return nil, fmt.Errorf("node %d has the decision type %d", k, kind)
		}
	}
	if t.thresholds, err = parseList(fields, "threshold", leaves-1, parseNumber); err != nil {
		return nil, err
	}
	if v := fields["num_cat"]; v != "" && v != "0" {
		err = t.readCategories(fields)
	}
	return t, err
}

// readCategories reads the sets of categories that lead left. In the file, each set consists of
// 32-bit words, and each set bit is a category.
func (t *tree) readCategories(fields map[string]string) error {
	count, err := strconv.Atoi(fields["num_cat"])
	if err != nil || count < 1 || count > len(t.features) {
		return fmt.Errorf("num_cat is %.40q", fields["num_cat"])
	}
	bounds, err := parseList(fields, "cat_boundaries", count+1, strconv.Atoi)
	if err != nil {
		return err
	}
	words, err := parseList(fields, "cat_threshold", -1, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 32) })
	if err != nil {
		return err
	}
	if bounds[0] != 0 || bounds[count] != len(words) {
		return fmt.Errorf("cat_boundaries is from %d to %d, of %d words", bounds[0], bounds[count], len(words))
	}
	t.categorySets = make([][]int, count)
	for k := range t.categorySets {
		t.categorySets[k] = []int{}
		if bounds[k] > bounds[k+1] || bounds[k+1] > len(words) {
			return errors.New("cat_boundaries does not ascend")
		}
		for w, word := range words[bounds[k]:bounds[k+1]] {
			for bit := range 32 {
				if word>>bit&1 != 0 {
					t.categorySets[k] = append(t.categorySets[k], 32*w+bit)
				}
			}
		}
	}
	return nil
}

// parseNumber parses a number. An infinite number becomes the largest finite number of the same
// sign. NaN is an error.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsNaN(v):
		return 0, errors.New("it is not a number")
	case math.IsInf(v, 0):
		return math.Copysign(math.MaxFloat64, v), nil
	}
	return v, err
}

// parseList parses the value of a field as a list of n numbers. If n is negative, the list may have
// any length. The parameter name is the name of the field, and parse parses one number.
func parseList[T any](fields map[string]string, name string, n int, parse func(string) (T, error)) ([]T, error) {
	texts := strings.Fields(fields[name])
	if n >= 0 && len(texts) != n {
		return nil, fmt.Errorf("%s has %d values: it should have %d", name, len(texts), n)
	}
	values := make([]T, len(texts))
	for k, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %.40q is no value of it", name, text)
		}
		values[k] = v
	}
	return values, nil
}
