package model

import (
	"fmt"
	"math"
	"slices"
)

// restore checks a saved forest and returns it as a [Forest].
func (s *savedForest) restore() (*Forest, error) {
	f := &Forest{
		label: s.Label, classes: s.Classes, numbers: s.Numbers,
		ingredients: s.Ingredients, totalAmount: s.Total, rowCount: s.Rows, drawWeights: s.Chances,
		options: Options{
			Trees: s.Options.Trees, FeaturesPerSplit: s.Options.FeaturesPerSplit,
			SmallestLeaf: s.Options.SmallestLeaf, Seed: s.Options.Seed,
			Importances: s.Importances != nil, shrink: s.Options.Shrink,
		},
		quality: s.OutOfBag, candidateChoice: s.Choice, importances: s.Importances,
	}
	f.options.Splits = BestSplits
	if s.Options.Splits != "" {
		var err error
		if f.options.Splits, err = ParseSplits(s.Options.Splits); err != nil {
			return nil, damageError("options: %v", err)
		}
	}
	if err := f.checkLabels(); err != nil {
		return nil, err
	}
	if err := checkNames("ingredient", s.Ingredients); err != nil {
		return nil, damageError("%v", err)
	}
	if s.Total < 1 || s.Total > MaxTotal {
		return nil, damageError("total is %d and must be in 1..%d", s.Total, MaxTotal)
	}
	if err := f.restoreFeatures(s); err != nil {
		return nil, err
	}
	if err := f.checkCounts(s); err != nil {
		return nil, err
	}
	if err := f.checkQuality(); err != nil {
		return nil, err
	}
	if c := s.Choice; c != nil && (c.Chosen < 0 || c.Chosen >= len(c.Tried)) {
		return nil, damageError("choice: %d is chosen of %d that were tried", c.Chosen, len(c.Tried))
	}
	if err := f.restoreTrees(s); err != nil {
		return nil, err
	}
	if err := f.checkNodeCount(); err != nil {
		return nil, damageError("%v", err)
	}
	f.shrinkTrees()
	return f, nil
}

// restoreFeatures checks the saved features and sets the features of the forest. If the file has no
// features, they are the amounts of the ingredients.
func (f *Forest) restoreFeatures(s *savedForest) error {
	if s.Features == nil {
		f.features = amountFeatures(f.ingredients)
		return nil
	}
	for _, feature := range s.Features {
		f.features = append(f.features, Feature(feature))
	}
	if len(f.features) == 0 {
		return damageError("features is empty")
	}
	if err := checkFeatures(f.features, len(f.ingredients), f.totalAmount); err != nil {
		return damageError("%v", err)
	}
	return nil
}

// checkCounts checks the options of the forest and the lengths of the saved lists.
func (f *Forest) checkCounts(s *savedForest) error {
	switch o := f.options; {
	case s.Rows < 1 || s.Rows > math.MaxInt32:
		return damageError("rows is %d and must be in 1..%d", s.Rows, math.MaxInt32)
	case s.Chances != nil && (len(s.Chances) != s.Rows || slices.Min(s.Chances) < 1 || slices.Max(s.Chances) > maxDrawWeight):
		return damageError("chances must be one a row, each from 1 to %d", maxDrawWeight)
	case max(len(s.Classes), len(s.Numbers)) > s.Rows:
		return damageError("there are more labels than the %d rows", s.Rows)
	case len(s.Trees) == 0 || len(s.Trees) > MaxTrees:
		return damageError("there are %d trees and there must be 1..%d", len(s.Trees), MaxTrees)
	case o.Trees != len(s.Trees):
		return damageError("options say %d trees and there are %d", o.Trees, len(s.Trees))
	case o.FeaturesPerSplit < 1 || o.FeaturesPerSplit > len(f.features):
		return damageError("features_per_split is %d and must be in 1..%d", o.FeaturesPerSplit, len(f.features))
	case o.SmallestLeaf < 1:
		return damageError("smallest_leaf is %d and must be at least 1", o.SmallestLeaf)
	case !(o.shrink >= 0) || o.shrink > 1e6:
		return damageError("shrink is %v and must be from 0 to 1e6", o.shrink)
	case s.Importances != nil && len(s.Importances) != len(f.features):
		return damageError("there are %d importances for %d features", len(s.Importances), len(f.features))
	}
	return nil
}

// restoreTrees checks and converts the saved trees. To save memory, it clears each saved tree after
// the conversion.
func (f *Forest) restoreTrees(s *savedForest) error {
	f.trees = make([]tree, len(s.Trees))
	for k := range s.Trees {
		var err *FormatError
		if f.trees[k], err = f.restoreTree(&s.Trees[k]); err != nil {
			err.Tree = k
			return err
		}
		s.Trees[k] = savedTree{}
	}
	return nil
}

// checkLabels checks the classes or numbers of the forest.
func (f *Forest) checkLabels() error {
	if (len(f.classes) > 0) == (len(f.numbers) > 0) {
		return damageError("there must be either classes or numbers")
	}
	if len(f.classes) > 0 {
		f.numbers = nil
		if err := checkNames("class", f.classes); err != nil {
			return damageError("%v", err)
		}
		if !slices.IsSorted(f.classes) {
			return damageError("the classes are not in ascending order")
		}
		return nil
	}
	f.classes = nil
	for k, v := range f.numbers {
		if !(math.Abs(v) <= maxAbsLabel) {
			return damageError("number %d is %g, which is not in ±%g", k, v, maxAbsLabel)
		}
		if k > 0 && v <= f.numbers[k-1] {
			return damageError("numbers %d and %d are not in ascending order", k-1, k)
		}
	}
	return nil
}

// checkQuality checks that the saved quality fits the labels and the number of rows.
func (f *Forest) checkQuality() error {
	q := f.quality
	if q.Rows < 0 || q.Rows > f.rowCount {
		return damageError("out_of_bag has %d of %d rows", q.Rows, f.rowCount)
	}
	if (q.Classes != nil) != (q.Rows > 0 && !f.Numeric()) || (q.Numbers != nil) != (q.Rows > 0 && f.Numeric()) {
		return damageError("out_of_bag does not fit the kind of label and its %d rows", q.Rows)
	}
	if q.Classes != nil {
		confusion := q.Classes.Confusion
		if len(confusion) != len(f.classes) {
			return damageError("the confusion matrix has %d rows for %d classes", len(confusion), len(f.classes))
		}
		for c, row := range confusion {
			if len(row) != len(f.classes) {
				return damageError("row %d of the confusion matrix has %d columns for %d classes", c, len(row), len(f.classes))
			}
		}
	}
	return nil
}

// restoreTree checks and converts one saved tree. Its errors name the damaged node, but not the
// tree.
func (f *Forest) restoreTree(s *savedTree) (t tree, damage *FormatError) {
	wrong := func(node int, format string, args ...any) (tree, *FormatError) {
		return tree{}, &FormatError{Node: node, Reason: fmt.Sprintf(format, args...)}
	}
	leaves := 0
	for _, feature := range s.Features {
		if feature == -1 {
			leaves++
		}
	}
	if tests := len(s.Features) - leaves; len(s.Thresholds) != tests {
		return wrong(-1, "there are %d tests and %d thresholds", tests, len(s.Thresholds))
	}
	if len(s.Leaves) != leaves {
		return wrong(-1, "there are %d leaves and the contents of %d", leaves, len(s.Leaves))
	}
	t.nodes = make([]node, 0, len(s.Features))
	t.leafStarts = make([]int32, 1, leaves+1)
	var parents []int32 // tests whose right child is still to come
	draws, complete := 0, false
	for at, feature := range s.Features {
		if complete {
			return wrong(at, "the tree is complete before this node")
		}
		if feature >= 0 {
			if int(feature) >= len(f.features) {
				return wrong(at, "feature %d is out of range, there are %d", feature, len(f.features))
			}
			threshold := s.Thresholds[at-t.leafCount()]
			limit := f.features[feature].maxValue(f.totalAmount) - 1
			if threshold < 0 || int(threshold) > limit {
				return wrong(at, "the threshold of %q is %d and must be in 0..%d", f.features[feature].Name, threshold, limit)
			}
			t.nodes = append(t.nodes, node{feature: feature, threshold: threshold})
			parents = append(parents, int32(at))
			continue
		}
		if feature != -1 {
			return wrong(at, "feature is %d and must be −1 for a leaf or an index", feature)
		}
		leaf := s.Leaves[t.leafCount()]
		t.nodes = append(t.nodes, node{feature: -1, right: int32(t.leafCount())})
		if len(leaf) == 0 || len(leaf)%2 != 0 {
			return wrong(at, "the leaf has %d elements and must have pairs of label and draws", len(leaf))
		}
		for k := 0; k < len(leaf); k += 2 {
			label, count := leaf[k], leaf[k+1]
			switch {
			case label < 0 || int(label) >= max(len(f.classes), len(f.numbers)):
				return wrong(at, "label %d is out of range, there are %d", label, max(len(f.classes), len(f.numbers)))
			case k > 0 && label <= leaf[k-2]:
				return wrong(at, "the labels of the leaf are not in ascending order")
			case count < 1 || int(count) > f.rowCount-draws:
				return wrong(at, "label %d has %d draws; a tree has %d in all", label, count, f.rowCount)
			}
			draws += int(count)
			t.labels = append(t.labels, label)
			t.counts = append(t.counts, count)
		}
		t.leafStarts = append(t.leafStarts, int32(len(t.labels)))
		if complete = len(parents) == 0; !complete {
			t.nodes[parents[len(parents)-1]].right = int32(at + 1)
			parents = parents[:len(parents)-1]
		}
	}
	if !complete {
		return wrong(-1, "the tree is not complete: %d nodes are missing their right children", len(parents)+1)
	}
	if draws != f.rowCount {
		return wrong(-1, "the leaves have %d draws together; there must be as many as rows, %d", draws, f.rowCount)
	}
	return t, nil
}
