package forest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The format of a saved forest, which docs/forest.md describes.
const (
	fileFormat  = "kir forest"
	fileVersion = 1
)

// A savedForest is a forest as JSON.
type savedForest struct {
	Format      string         `json:"format"`
	Version     int            `json:"version"`
	Label       string         `json:"label"`
	Classes     []string       `json:"classes,omitempty"`
	Numbers     []float64      `json:"numbers,omitempty"`
	Ingredients []string       `json:"ingredients"`
	Total       int            `json:"total"`
	Features    []savedFeature `json:"features,omitempty"` // absent: the ingredients' amounts
	Rows        int            `json:"rows"`
	Options     savedOptions   `json:"options"`
	OutOfBag    Quality        `json:"out_of_bag"`
	Importances []Importance   `json:"importances,omitempty"`
	Trees       []savedTree    `json:"trees"`
}

type savedFeature struct {
	Name        string  `json:"name"`
	Ingredients []int32 `json:"ingredients"`
	Presence    bool    `json:"presence,omitempty"`
}

type savedOptions struct {
	Trees            int    `json:"trees"`
	FeaturesPerSplit int    `json:"features_per_split"`
	SmallestLeaf     int    `json:"smallest_leaf"`
	Seed             uint64 `json:"seed"`
}

// A savedTree is a tree in preorder: a node, then all below its left child, then
// all below its right one. As both children follow from the order, no tree can
// point outside itself or in a circle.
type savedTree struct {
	Features   []int32   `json:"features"`   // of each node: what it tests, −1 for a leaf
	Thresholds []int32   `json:"thresholds"` // of each test: at most this goes left
	Leaves     [][]int32 `json:"leaves"`     // of each leaf: label, draws, label, draws, …, labels ascending
}

// A FormatError says where a saved forest is damaged and how.
type FormatError struct {
	Line, Column int // of what is not JSON or has the wrong type; else 0
	Tree, Node   int // −1 if it is not in a tree, or concerns all of it
	Reason       string
}

func (e *FormatError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	case e.Tree >= 0 && e.Node >= 0:
		return fmt.Sprintf("tree %d, node %d: %s", e.Tree, e.Node, e.Reason)
	case e.Tree >= 0:
		return fmt.Sprintf("tree %d: %s", e.Tree, e.Reason)
	default:
		return e.Reason
	}
}

func damaged(format string, args ...any) error {
	return &FormatError{Tree: -1, Node: -1, Reason: fmt.Sprintf(format, args...)}
}

// Write saves the forest as JSON, a tree a line.
func (f *Forest) Write(w io.Writer) error {
	saved := savedForest{
		Format: fileFormat, Version: fileVersion,
		Label: f.label, Classes: f.classes, Numbers: f.numbers,
		Ingredients: f.ingredients, Total: f.total,
		Rows: f.rows,
		Options: savedOptions{
			f.options.Trees, f.options.FeaturesPerSplit, f.options.SmallestLeaf, f.options.Seed,
		},
		OutOfBag: f.quality, Importances: f.importances,
	}
	if !plainFeatures(f.features, f.ingredients) {
		for _, feature := range f.features {
			saved.Features = append(saved.Features, savedFeature(feature))
		}
	}
	head, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("writing a forest: %w", err)
	}
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(head, []byte("null}"))) // the trees come last
	for k := range f.trees {
		line, err := json.Marshal(f.trees[k].saved())
		if err != nil {
			return fmt.Errorf("writing a forest: %w", err)
		}
		separator := ",\n"
		if k == 0 {
			separator = "[\n"
		}
		out.WriteString(separator)
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a forest: %w", err)
	}
	return nil
}

func (t *tree) saved() savedTree {
	s := savedTree{Thresholds: []int32{}}
	for _, n := range t.nodes {
		s.Features = append(s.Features, n.feature)
		if n.feature >= 0 {
			s.Thresholds = append(s.Thresholds, n.threshold)
			continue
		}
		labels, counts := t.content(n.right)
		leaf := make([]int32, 0, 2*len(labels))
		for c := range labels {
			leaf = append(leaf, labels[c], counts[c])
		}
		s.Leaves = append(s.Leaves, leaf)
	}
	return s
}

// Read loads a forest that [Forest.Write] saved, and checks all of it. If it is
// damaged, the error wraps a [*FormatError] that says where and how.
func Read(r io.Reader) (*Forest, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading a forest: %w", err)
	}
	f, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading a forest: %w", err)
	}
	return f, nil
}

func parse(data []byte) (*Forest, error) {
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, located(data, err)
	}
	if kind.Format != fileFormat {
		return nil, damaged("this is not a saved forest: format is %q and should be %q", kind.Format, fileFormat)
	}
	if kind.Version != fileVersion {
		return nil, damaged("the forest is saved in version %d of the format; this program reads version %d", kind.Version, fileVersion)
	}
	var saved savedForest
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&saved); err != nil {
		return nil, located(data, err)
	}
	return saved.restore()
}

// located gives a JSON error its place in the data.
func located(data []byte, err error) error {
	e := &FormatError{Tree: -1, Node: -1, Reason: strings.TrimPrefix(err.Error(), "json: ")}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		e.Reason = "the file is empty"
	case errors.As(err, &syntax):
		offset = syntax.Offset
		if offset >= int64(len(data)) {
			e.Reason = "the file ends too early; it was cut off (" + e.Reason + ")"
		}
	case errors.As(err, &kind):
		offset = kind.Offset
		e.Reason = fmt.Sprintf("%s cannot be a JSON %s", kind.Field, kind.Value)
	}
	if offset >= 0 {
		before := data[:min(max(offset-1, 0), int64(len(data)))]
		e.Line = 1 + bytes.Count(before, []byte("\n"))
		e.Column = len(before) - bytes.LastIndexByte(before, '\n')
	}
	return e
}

// restore checks a saved forest and returns it ready for use.
func (s *savedForest) restore() (*Forest, error) {
	f := &Forest{
		label: s.Label, classes: s.Classes, numbers: s.Numbers,
		ingredients: s.Ingredients, total: s.Total, rows: s.Rows,
		options: Options{
			Trees: s.Options.Trees, FeaturesPerSplit: s.Options.FeaturesPerSplit,
			SmallestLeaf: s.Options.SmallestLeaf, Seed: s.Options.Seed,
			Importances: s.Importances != nil,
		},
		quality: s.OutOfBag, importances: s.Importances,
	}
	if err := f.checkLabels(); err != nil {
		return nil, err
	}
	if err := checkNames("ingredient", s.Ingredients); err != nil {
		return nil, damaged("%v", err)
	}
	if s.Total < 1 || s.Total > MaxTotal {
		return nil, damaged("total is %d and must be in 1..%d", s.Total, MaxTotal)
	}
	f.features = amountFeatures(f.ingredients)
	if s.Features != nil {
		f.features = nil
		for _, feature := range s.Features {
			f.features = append(f.features, Feature(feature))
		}
		if len(f.features) == 0 {
			return nil, damaged("features is empty")
		}
		if err := checkFeatures(f.features, len(f.ingredients)); err != nil {
			return nil, damaged("%v", err)
		}
	}
	switch o := f.options; {
	case s.Rows < 1 || s.Rows > math.MaxInt32:
		return nil, damaged("rows is %d and must be in 1..%d", s.Rows, math.MaxInt32)
	case max(len(s.Classes), len(s.Numbers)) > s.Rows:
		return nil, damaged("there are more labels than the %d rows", s.Rows)
	case len(s.Trees) == 0 || len(s.Trees) > MaxTrees:
		return nil, damaged("there are %d trees and there must be 1..%d", len(s.Trees), MaxTrees)
	case o.Trees != len(s.Trees):
		return nil, damaged("options say %d trees and there are %d", o.Trees, len(s.Trees))
	case o.FeaturesPerSplit < 1 || o.FeaturesPerSplit > len(f.features):
		return nil, damaged("features_per_split is %d and must be in 1..%d", o.FeaturesPerSplit, len(f.features))
	case o.SmallestLeaf < 1:
		return nil, damaged("smallest_leaf is %d and must be at least 1", o.SmallestLeaf)
	case s.Importances != nil && len(s.Importances) != len(f.features):
		return nil, damaged("there are %d importances for %d features", len(s.Importances), len(f.features))
	}
	if err := f.checkQuality(); err != nil {
		return nil, err
	}
	f.trees = make([]tree, len(s.Trees))
	for k := range s.Trees {
		var err *FormatError
		if f.trees[k], err = f.restoreTree(&s.Trees[k]); err != nil {
			err.Tree = k
			return nil, err
		}
		s.Trees[k] = savedTree{}
	}
	if err := f.checkSize(); err != nil {
		return nil, damaged("%v", err)
	}
	return f, nil
}

func (f *Forest) checkLabels() error {
	if (len(f.classes) > 0) == (len(f.numbers) > 0) {
		return damaged("there must be either classes or numbers")
	}
	if len(f.classes) > 0 {
		f.numbers = nil
		if err := checkNames("class", f.classes); err != nil {
			return damaged("%v", err)
		}
		if !slices.IsSorted(f.classes) {
			return damaged("the classes are not in ascending order")
		}
		return nil
	}
	f.classes = nil
	for k, v := range f.numbers {
		if !(math.Abs(v) <= maxNumber) {
			return damaged("number %d is %g, which is not in ±%g", k, v, maxNumber)
		}
		if k > 0 && v <= f.numbers[k-1] {
			return damaged("numbers %d and %d are not in ascending order", k-1, k)
		}
	}
	return nil
}

func (f *Forest) checkQuality() error {
	q := f.quality
	if q.Rows < 0 || q.Rows > f.rows {
		return damaged("out_of_bag has %d of %d rows", q.Rows, f.rows)
	}
	if (q.Classes != nil) != (q.Rows > 0 && !f.Numeric()) || (q.Numbers != nil) != (q.Rows > 0 && f.Numeric()) {
		return damaged("out_of_bag does not fit the kind of label and its %d rows", q.Rows)
	}
	if q.Classes != nil {
		confusion := q.Classes.Confusion
		if len(confusion) != len(f.classes) {
			return damaged("the confusion matrix has %d rows for %d classes", len(confusion), len(f.classes))
		}
		for c, row := range confusion {
			if len(row) != len(f.classes) {
				return damaged("row %d of the confusion matrix has %d columns for %d classes", c, len(row), len(f.classes))
			}
		}
	}
	return nil
}

// restoreTree checks a saved tree. Its errors say which node, not which tree.
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
	t.leafStart = make([]int32, 1, leaves+1)
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
			threshold := s.Thresholds[at-t.leaves()]
			limit := f.total - 1
			if f.features[feature].Presence {
				limit = 0
			}
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
		leaf := s.Leaves[t.leaves()]
		t.nodes = append(t.nodes, node{feature: -1, right: int32(t.leaves())})
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
			case count < 1 || int(count) > f.rows-draws:
				return wrong(at, "label %d has %d draws; a tree has %d in all", label, count, f.rows)
			}
			draws += int(count)
			t.labels = append(t.labels, label)
			t.counts = append(t.counts, count)
		}
		t.leafStart = append(t.leafStart, int32(len(t.labels)))
		if complete = len(parents) == 0; !complete {
			t.nodes[parents[len(parents)-1]].right = int32(at + 1)
			parents = parents[:len(parents)-1]
		}
	}
	if !complete {
		return wrong(-1, "the tree is not complete: %d nodes are missing their right children", len(parents)+1)
	}
	if draws != f.rows {
		return wrong(-1, "the leaves have %d draws together; there must be as many as rows, %d", draws, f.rows)
	}
	return t, nil
}
