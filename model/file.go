package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Names and versions of the format of a saved forest: see docs/forest.md.
const (
	forestFormat        = "kir forest"
	latestForestVersion = 4 // latest version of the format, for forests with random splits
	// chosenFeaturesVersion is for forests with best splits that have descriptors, or features
	// chosen by cross-validation.
	chosenFeaturesVersion = 3
	// plainForestVersion is for forests with best splits that have neither descriptors nor features
	// chosen by cross-validation.
	plainForestVersion = 2
)

// A savedForest is the JSON content of a forest file.
type savedForest struct {
	Format      string           `json:"format"`
	Version     int              `json:"version"`
	Label       string           `json:"label"`
	Classes     []string         `json:"classes,omitempty"`
	Numbers     []float64        `json:"numbers,omitempty"`
	Ingredients []string         `json:"ingredients"`
	Total       int              `json:"total"`
	Features    []savedFeature   `json:"features,omitempty"` // absent if the features are the amounts of the ingredients
	Rows        int              `json:"rows"`               // number of rows from which the forest was grown
	Chances     []int64          `json:"chances,omitempty"`  // relative probability with which a bootstrap draws each row; absent if all are equal
	Options     savedOptions     `json:"options"`
	OutOfBag    Quality          `json:"out_of_bag"`
	Choice      *CandidateChoice `json:"choice,omitempty"`
	Importances []Importance     `json:"importances,omitempty"`
	Trees       []savedTree      `json:"trees"`
	Checksum    string           `json:"checksum,omitempty"` // SHA-256 of all bytes before the checksum except line feeds: see [checksumFormat]
}

// A savedFeature is a [Feature] as a forest file stores it.
type savedFeature struct {
	Name        string  `json:"name"`
	Ingredients []int32 `json:"ingredients"`
	Presence    bool    `json:"presence,omitempty"`
	Weights     []int32 `json:"weights,omitempty"`
	Over        []int32 `json:"over,omitempty"`
}

// A savedOptions holds the options of a forest as a forest file stores them.
type savedOptions struct {
	Trees            int    `json:"trees"`
	Splits           string `json:"splits,omitempty"` // "random" or "best"; absent means "best"
	FeaturesPerSplit int    `json:"features_per_split"`
	SmallestLeaf     int    `json:"smallest_leaf"`
	Seed             uint64 `json:"seed"`

	// Shrink is λ of the shrinkage of class shares in leaves: see [tree.shrinkShares]. 0 means no
	// shrinkage.
	Shrink float64 `json:"shrink,omitempty"`
}

// A savedTree is a tree as a forest file stores it. Nodes are in preorder: a node is followed by
// all nodes below its left child, and then by all nodes below its right child. The order determines
// the children of every node, so that a saved tree cannot have missing nodes or cycles.
type savedTree struct {
	Features   []int32   `json:"features"`   // index of the feature that each node tests, or −1 for a leaf
	Thresholds []int32   `json:"thresholds"` // threshold of each test: a composition goes left if its feature is at most the threshold
	Leaves     [][]int32 `json:"leaves"`     // content of each leaf: label, draws, label, draws, …, with ascending indices of labels
}

// regrownTreeCount is the number of trees that are grown again to check whether a forest was grown
// from given rows. A row that none of these trees has drawn can differ without being detected. The
// probability for a given row is 0.37²⁰.
const regrownTreeCount = 20

// IsGrownFrom reports whether the forest was grown from the rows and labels of d, in their order.
// It grows the first trees again and compares them with the trees of the forest. If the result is
// true, [Forest.OutOfBag] and [Data.SplitIntoHalves] are valid for the forest, even if it was read
// from a file. IsGrownFrom sets d.Features to the features of the forest. It returns an error only
// if ctx ends first.
func (f *Forest) IsGrownFrom(ctx context.Context, d *Data) (bool, error) {
	d.Features = nil
	if !areAmountFeatures(f.features, f.ingredients) {
		d.Features = f.features
	}
	if len(d.Rows) != f.rowCount {
		return false, nil
	}
	o := f.options
	o.Trees, o.Importances = min(o.Trees, regrownTreeCount), false
	if d.check() != nil {
		return false, ctx.Err()
	}
	g, err := growWithWeights(ctx, d, o, f.drawWeights)
	if err != nil {
		return false, ctx.Err() // data that cannot be grown is not the forest's
	}
	same := slices.Equal(g.classes, f.classes) && slices.Equal(g.numbers, f.numbers)
	for k := range g.trees {
		same = same && reflect.DeepEqual(g.trees[k].toSaved(), f.trees[k].toSaved())
	}
	return same, nil
}

// A FormatError says what is damaged in a saved forest or model, and where.
type FormatError struct {
	Line   int    // line of a syntax or type error in the JSON, counted from 1; 0 for other errors
	Column int    // column of a syntax or type error in the JSON, counted from 1; 0 for other errors
	Tree   int    // index of the damaged tree; −1 if the damage is not in a tree
	Node   int    // index of the damaged node; −1 if the damage is not in a single node
	Reason string // description of the damage
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

// damageError returns a [*FormatError] with the given reason, without a line, a tree or a node.
func damageError(format string, args ...any) error {
	return &FormatError{Tree: -1, Node: -1, Reason: fmt.Sprintf(format, args...)}
}

// errSavingConditions is the error for saving a model that has ingredients beside the composition:
// see [Data.Beside].
var errSavingConditions = errors.New("a model of conditions cannot be written to a file: learn it in the problem that needs it")

// Write saves the forest as JSON, with one tree per line.
func (f *Forest) Write(w io.Writer) error {
	if f.besideCount > 0 {
		return errSavingConditions
	}
	saved := savedForest{
		Format: forestFormat, Version: latestForestVersion,
		Label: f.label, Classes: f.classes, Numbers: f.numbers,
		Ingredients: f.ingredients, Total: f.totalAmount,
		Rows: f.rowCount, Chances: f.drawWeights,
		Options: savedOptions{
			Trees: f.options.Trees, FeaturesPerSplit: f.options.FeaturesPerSplit,
			SmallestLeaf: f.options.SmallestLeaf, Seed: f.options.Seed, Shrink: f.options.shrink,
		},
		OutOfBag: f.quality, Importances: f.importances, Choice: f.candidateChoice,
	}
	switch {
	case f.options.Splits == RandomSplits:
		saved.Options.Splits = RandomSplits.String()
	case f.candidateChoice == nil && !hasDescriptors(f.features):
		saved.Version = plainForestVersion
	default:
		saved.Version = chosenFeaturesVersion
	}
	if !areAmountFeatures(f.features, f.ingredients) {
		for _, feature := range f.features {
			saved.Features = append(saved.Features, savedFeature(feature))
		}
	}
	head, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("writing a forest: %w", err)
	}
	sum := sha256.New()
	out := bufio.NewWriter(w)
	put := func(text []byte) {
		out.Write(text)
		sum.Write(text)
	}
	put(bytes.TrimSuffix(head, []byte("null}"))) // the trees come last
	for k := range f.trees {
		line, err := json.Marshal(f.trees[k].toSaved())
		if err != nil {
			return fmt.Errorf("writing a forest: %w", err)
		}
		separator := ","
		if k == 0 {
			separator = "["
		}
		put([]byte(separator))
		out.WriteByte('\n')
		put(line)
	}
	out.WriteByte('\n')
	put([]byte("]"))
	fmt.Fprintf(out, checksumFormat+"\n", hex.EncodeToString(sum.Sum(nil)))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a forest: %w", err)
	}
	return nil
}

// checksumFormat is the format of the end of a file. It holds the checksum of all bytes before it
// except line feeds, in hexadecimal digits.
const checksumFormat = ",\"checksum\":\"%s\"}"

// checksumMatches reports whether the checksum at the end of a file is that of the text before it.
func checksumMatches(data []byte) bool {
	data = bytes.ReplaceAll(data, []byte("\n"), nil)
	at := max(0, len(data)-len(checksumFormat)+len("%s")-2*sha256.Size)
	sum := sha256.Sum256(data[:at])
	return string(data[at:]) == fmt.Sprintf(checksumFormat, hex.EncodeToString(sum[:]))
}

// toSaved returns the tree as a forest file stores it.
func (t *tree) toSaved() savedTree {
	s := savedTree{Thresholds: []int32{}}
	for _, n := range t.nodes {
		s.Features = append(s.Features, n.feature)
		if n.feature >= 0 {
			s.Thresholds = append(s.Thresholds, n.threshold)
			continue
		}
		labels, counts := t.leafContent(n.right)
		leaf := make([]int32, 0, 2*len(labels))
		for c := range labels {
			leaf = append(leaf, labels[c], counts[c])
		}
		s.Leaves = append(s.Leaves, leaf)
	}
	return s
}

// Read loads a forest that [Forest.Write] saved, and checks all of its content. If the file is
// damaged, the error wraps a [*FormatError] that describes the damage.
func Read(r io.Reader) (*Forest, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading a forest: %w", err)
	}
	f, err := parseForest(data)
	if err != nil {
		return nil, fmt.Errorf("reading a forest: %w", err)
	}
	return f, nil
}

// parseForest reads and checks the text of a forest file.
func parseForest(data []byte) (*Forest, error) {
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, locateError(data, err)
	}
	if kind.Format != forestFormat {
		return nil, damageError("this is not a saved forest: format is %q and should be %q", kind.Format, forestFormat)
	}
	if kind.Version < plainForestVersion || kind.Version > latestForestVersion {
		return nil, damageError("the forest was made by another version of kir, in version %d of the format; this one reads versions %d to %d", kind.Version, plainForestVersion, latestForestVersion)
	}
	var saved savedForest
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&saved); err != nil {
		return nil, locateError(data, err)
	}
	f, err := saved.restore()
	if err != nil {
		return nil, err
	}
	if !checksumMatches(data) {
		return nil, damageError("the file was changed since it was saved: its checksum is another")
	}
	return f, nil
}

// locateError converts an error of the JSON decoder to a [*FormatError] with the line and the
// column of the error.
func locateError(data []byte, err error) error {
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
