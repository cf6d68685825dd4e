package config

import (
	"cmp"
	"errors"
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

// Collect reads a node repeatedly to find all errors in it. After each error it removes the faulty
// node and reads again. Before it removes a text, it tries a star in its place, which stands for any
// ingredient.
func (f *Diagnostics) Collect(n *yaml.Node, read func(*yaml.Node) error) error {
	spoilt := make(map[[2]int]bool) // places of nodes from which something was removed
	var taken []string              // keys that were removed
	for range 2 * maxDiagnostics {
		err := read(n)
		if err == nil || n == nil {
			return f.Add(err)
		}
		var bad *inputerr.Error
		if !errors.As(err, &bad) {
			return err
		}
		if bad.File != n.File && len(spoilt) > 0 {
			return nil // without the removed nodes the table may be read differently
		}
		at := [2]int{bad.Line, bad.Column}
		lacks := func(key string) bool { return strings.Contains(bad.Message, "no "+key) }
		if !spoilt[at] && !slices.ContainsFunc(taken, lacks) {
			if err := f.Add(err); err != nil {
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
