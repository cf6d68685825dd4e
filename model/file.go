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

// The format of a saved forest, which docs/forest.md describes.
const (
	fileFormat    = "kir forest"
	fileVersion   = 4 // a forest with random splits
	chosenVersion = 3 // a forest with best splits, and descriptors or features chosen by cross-validation
	plainVersion  = 2 // a forest with best splits and neither
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
	Chances     []int64        `json:"chances,omitempty"` // by row: relative probability of a draw; absent: uniform
	Options     savedOptions   `json:"options"`
	OutOfBag    Quality        `json:"out_of_bag"`
	Choice      *Choice        `json:"choice,omitempty"`
	Importances []Importance   `json:"importances,omitempty"`
	Trees       []savedTree    `json:"trees"`
	Checksum    string         `json:"checksum,omitempty"` // SHA-256 of all bytes before it but line feeds: see checksumEnd
}

type savedFeature struct {
	Name        string  `json:"name"`
	Ingredients []int32 `json:"ingredients"`
	Presence    bool    `json:"presence,omitempty"`
	Weights     []int32 `json:"weights,omitempty"`
	Over        []int32 `json:"over,omitempty"`
}

type savedOptions struct {
	Trees            int    `json:"trees"`
	Splits           string `json:"splits,omitempty"` // absent: best
	FeaturesPerSplit int    `json:"features_per_split"`
	SmallestLeaf     int    `json:"smallest_leaf"`
	Seed             uint64 `json:"seed"`

	Shrink float64 `json:"shrink,omitempty"` // λ of the shrinkage of class shares in leaves
}

// A savedTree is a tree in preorder: a node, then all below its left child, then all below its
// right one. The order determines both children, so that no tree can point outside itself or in a
// circle.
type savedTree struct {
	Features   []int32   `json:"features"`   // of each node: the feature that it tests, −1 for a leaf
	Thresholds []int32   `json:"thresholds"` // of each test: values up to the threshold go left
	Leaves     [][]int32 `json:"leaves"`     // of each leaf: label, draws, label, draws, …, labels ascending
}

// regrownTrees is the number of trees that are regrown to check whether the rows are those of a
// forest. With a probability of 0.37²⁰ none of them has drawn a row, which could then differ
// undetected.
const regrownTrees = 20

// IsGrownFrom reports whether the forest was grown from these rows and labels, in this order. It
// grows the first trees again and compares them. If so, [Forest.OutOfBag] and [Data.Halves] are
// valid for a forest from a file, too. IsGrownFrom sets the features of d to the forest's. The
// error is that of ctx.
func (f *Forest) IsGrownFrom(ctx context.Context, d *Data) (bool, error) {
	d.Features = nil
	if !plainFeatures(f.features, f.ingredients) {
		d.Features = f.features
	}
	if len(d.Rows) != f.rows {
		return false, nil
	}
	o := f.options
	o.Trees, o.Importances = min(o.Trees, regrownTrees), false
	if d.check() != nil {
		return false, ctx.Err()
	}
	g, err := grow(ctx, d, o, f.chances)
	if err != nil {
		return false, ctx.Err() // data that cannot be grown is not the forest's
	}
	same := slices.Equal(g.classes, f.classes) && slices.Equal(g.numbers, f.numbers)
	for k := range g.trees {
		same = same && reflect.DeepEqual(g.trees[k].saved(), f.trees[k].saved())
	}
	return same, nil
}

// A FormatError describes the damage in a saved forest, and where it is.
type FormatError struct {
	Line, Column int // position of a syntax or type error in the JSON; else 0
	Tree, Node   int // −1 if the damage is not in a tree, or concerns the whole tree
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

// errBesideFile is returned for a model of quantities that stand beside the composition.
var errBesideFile = errors.New("a model of conditions cannot be written to a file: learn it in the problem that needs it")

// Write saves the forest as JSON, one tree per line.
func (f *Forest) Write(w io.Writer) error {
	if f.beside > 0 {
		return errBesideFile
	}
	saved := savedForest{
		Format: fileFormat, Version: fileVersion,
		Label: f.label, Classes: f.classes, Numbers: f.numbers,
		Ingredients: f.ingredients, Total: f.total,
		Rows: f.rows, Chances: f.chances,
		Options: savedOptions{
			Trees: f.options.Trees, FeaturesPerSplit: f.options.FeaturesPerSplit,
			SmallestLeaf: f.options.SmallestLeaf, Seed: f.options.Seed, Shrink: f.options.shrink,
		},
		OutOfBag: f.quality, Importances: f.importances, Choice: f.choice,
	}
	switch {
	case f.options.Splits == RandomSplits:
		saved.Options.Splits = RandomSplits.String()
	case f.choice == nil && !hasDescriptors(f.features):
		saved.Version = plainVersion
	default:
		saved.Version = chosenVersion
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
	sum := sha256.New()
	out := bufio.NewWriter(w)
	put := func(text []byte) {
		out.Write(text)
		sum.Write(text)
	}
	put(bytes.TrimSuffix(head, []byte("null}"))) // the trees come last
	for k := range f.trees {
		line, err := json.Marshal(f.trees[k].saved())
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
	fmt.Fprintf(out, checksumEnd+"\n", hex.EncodeToString(sum.Sum(nil)))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a forest: %w", err)
	}
	return nil
}

// checksumEnd ends the file. The checksum covers all bytes before it except line feeds.
const checksumEnd = ",\"checksum\":\"%s\"}"

// hasChecksum reports whether a file ends with its checksum.
func hasChecksum(data []byte) bool {
	data = bytes.ReplaceAll(data, []byte("\n"), nil)
	at := max(0, len(data)-len(checksumEnd)+len("%s")-2*sha256.Size)
	sum := sha256.Sum256(data[:at])
	return string(data[at:]) == fmt.Sprintf(checksumEnd, hex.EncodeToString(sum[:]))
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

// Read loads a forest that [Forest.Write] saved, and checks all of it. If the file is damaged, the
// error wraps a [*FormatError] that locates and describes the damage.
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
		return nil, locateError(data, err)
	}
	if kind.Format != fileFormat {
		return nil, damaged("this is not a saved forest: format is %q and should be %q", kind.Format, fileFormat)
	}
	if kind.Version < plainVersion || kind.Version > fileVersion {
		return nil, damaged("the forest was made by another version of kir, in version %d of the format; this one reads versions %d to %d", kind.Version, plainVersion, fileVersion)
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
	if !hasChecksum(data) {
		return nil, damaged("the file was changed since it was saved: its checksum is another")
	}
	return f, nil
}

// locateError adds the position in the data to a JSON error.
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
