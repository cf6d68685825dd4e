package problem

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

// diagnostics are what is wrong in a problem file and in what it names, as far as it was
// read.
type diagnostics struct {
	file        string // the problem file
	all         []*fault.Error
	mayHaveMore bool // in a table there may be more

	// hasUnknownKeys says that the file has keys that it cannot have. What is then missing
	// may be one of them, misspelt, and is not told.
	hasUnknownKeys bool
	root           *yaml.Node
}

// maxDiagnostics is how many are reported at once.
const maxDiagnostics = 20

// add takes down what is wrong, and returns what ends the reading: an error that is
// none of input.
func (f *diagnostics) add(err error) error {
	var several *fault.Errors
	var one *fault.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		f.all, f.mayHaveMore = append(f.all, several.All...), f.mayHaveMore || several.More
	case errors.As(err, &one):
		if f.hasUnknownKeys && one.File == f.file && one.Line == f.root.Line && one.Column == f.root.Column {
			return nil
		}
		f.all = append(f.all, one)
	default:
		return err
	}
	return nil
}

// err returns all that is wrong, in the order of the file, nil if nothing is.
func (f *diagnostics) err() error {
	place := func(e *fault.Error) int {
		if e.File == f.file {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(f.all, func(a, b *fault.Error) int {
		if place(a) != place(b) || place(a) == 1 {
			return place(a) - place(b)
		}
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	all := slices.CompactFunc(slices.Clone(f.all), func(a, b *fault.Error) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Cell == b.Cell && a.Line > 0
	})
	return fault.Join(all[:min(len(all), maxDiagnostics)], f.mayHaveMore || len(all) > maxDiagnostics)
}

// collectErrors reads a node, and if something in it is wrong, again without that, so that all
// that is wrong is found. In the place of a text a star is tried before, which stands
// for any ingredient.
func (f *diagnostics) collectErrors(n *yaml.Node, read func(*yaml.Node) error) error {
	spoilt := make(map[[2]int]bool) // places of what something was taken from
	var taken []string              // keys that were
	for range 2 * maxDiagnostics {
		err := read(n)
		if err == nil || n == nil {
			return f.add(err)
		}
		var bad *fault.Error
		if !errors.As(err, &bad) {
			return err
		}
		if bad.File != n.File && len(spoilt) > 0 {
			return nil // what is left may ask another thing of a table
		}
		at := [2]int{bad.Line, bad.Column}
		lacks := func(key string) bool { return strings.Contains(bad.Message, "no "+key) }
		if !spoilt[at] && !slices.ContainsFunc(taken, lacks) {
			if err := f.add(err); err != nil {
				return err
			}
		}
		if bad.File != n.File {
			return nil
		}
		if other := n.WithText(bad.Line, bad.Column, "*"); other != nil {
			n, spoilt[at] = other, true
			continue
		}
		without, from, key := n.Without(bad.Line, bad.Column)
		if without == nil {
			return nil
		}
		if n = without; key != "" {
			taken = append(taken, key)
		}
		for _, node := range from {
			spoilt[[2]int{node.Line, node.Column}] = true
		}
	}
	return nil
}
