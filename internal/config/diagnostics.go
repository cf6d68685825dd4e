package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// Diagnostics collects the errors found in a problem file and in the files that it names.
type Diagnostics struct {
	File        string // the problem file
	All         []*inputerr.Error
	mayHaveMore bool // a table may have further errors

	// HasUnknownKeys is true if the file has keys that do not exist. A missing key may then be one of them,
	// misspelt, so it is not reported.
	HasUnknownKeys bool
	Root           *yaml.Node
}

// maxDiagnostics is the greatest number of errors reported at once.
const maxDiagnostics = 20

// Add records an error of input and returns nil. It returns any other error, which ends the reading.
func (f *Diagnostics) Add(err error) error {
	var several *inputerr.Errors
	var one *inputerr.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		f.All, f.mayHaveMore = append(f.All, several.All...), f.mayHaveMore || several.More
	case errors.As(err, &one):
		if f.HasUnknownKeys && one.File == f.File && one.Line == f.Root.Line && one.Column == f.Root.Column {
			return nil
		}
		f.All = append(f.All, one)
	default:
		return err
	}
	return nil
}

// Err returns all recorded errors in the order of the file, or nil.
func (f *Diagnostics) Err() error {
	place := func(e *inputerr.Error) int {
		if e.File == f.File {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(f.All, func(a, b *inputerr.Error) int {
		if place(a) != place(b) || place(a) == 1 {
			return place(a) - place(b)
		}
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	all := slices.CompactFunc(slices.Clone(f.All), func(a, b *inputerr.Error) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Cell == b.Cell && a.Line > 0
	})
	return inputerr.Join(all[:min(len(all), maxDiagnostics)], f.mayHaveMore || len(all) > maxDiagnostics)
}

// A repair is a node that is read again and again, each time without what was found faulty, so that all errors in
// it are found.
type repair struct {
	node         *yaml.Node
	changedNodes map[[2]int]bool // places of nodes from which something was removed
	removedKeys  []string        // keys that were removed
}

// clone returns a copy that can be repaired further by itself.
func (r *repair) clone() *repair {
	return &repair{r.node, maps.Clone(r.changedNodes), slices.Clip(r.removedKeys)}
}

// Collect reads a node repeatedly to find all errors in it. After each error it removes the faulty
// node and reads again. Before it removes a text, it tries a star in its place, which stands for any
// ingredient.
func (f *Diagnostics) Collect(n *yaml.Node, read func(*yaml.Node) error) error {
	_, err := f.collect(&repair{node: n, changedNodes: make(map[[2]int]bool)}, read)
	return err
}

// collect goes on with a repair. ok reports whether the last reading had no error.
func (f *Diagnostics) collect(r *repair, read func(*yaml.Node) error) (ok bool, _ error) {
	for range 2 * maxDiagnostics {
		n := r.node
		err := read(n)
		if err == nil || n == nil {
			return err == nil, f.Add(err)
		}
		var bad *inputerr.Error
		if !errors.As(err, &bad) {
			return false, err
		}
		if bad.File != n.File && len(r.changedNodes) > 0 {
			return false, nil // without the removed nodes the table may be read differently
		}
		at := [2]int{bad.Line, bad.Column}
		lacks := func(key string) bool { return strings.Contains(bad.Message, "no "+key) }
		if !r.changedNodes[at] && !slices.ContainsFunc(r.removedKeys, lacks) {
			if err := f.Add(err); err != nil {
				return false, err
			}
		}
		if bad.File != n.File || !r.remove(bad.Line, bad.Column) {
			return false, nil
		}
	}
	return false, nil
}

// remove removes the node at a place, or replaces its text by a star. It reports whether there is one.
func (r *repair) remove(line, column int) bool {
	if other := r.node.WithText(line, column, "*"); other != nil {
		r.node, r.changedNodes[[2]int{line, column}] = other, true
		return true
	}
	without, from, key := r.node.Without(line, column)
	if without == nil {
		return false
	}
	if r.node = without; key != "" {
		r.removedKeys = append(r.removedKeys, key)
	}
	for _, node := range from {
		r.changedNodes[[2]int{node.Line, node.Column}] = true
	}
	return true
}
