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

// Diagnostics collects the errors in a problem file and in the files that it names.
type Diagnostics struct {
	File              string            // path of the problem file
	All               []*inputerr.Error // errors in the order of discovery
	mayHaveMoreErrors bool              // whether a table may have errors that were not found

	// HasUnknownKeys is true if the file has unknown keys. A key that seems to be missing may then be misspelt.
	// Therefore missing keys are not reported.
	HasUnknownKeys bool
	Root           *yaml.Node // root of the problem file
}

// maxReportedErrors is the maximum number of errors reported at once.
const maxReportedErrors = 20

// Add records an input error and returns nil. It returns any other error unchanged; reading must then stop.
func (f *Diagnostics) Add(err error) error {
	var several *inputerr.Errors
	var one *inputerr.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		f.All, f.mayHaveMoreErrors = append(f.All, several.All...), f.mayHaveMoreErrors || several.MayHaveMore
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

// Err returns the recorded errors as one error, in the order of the file. It returns nil if there are none.
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
	return inputerr.Join(all[:min(len(all), maxReportedErrors)], f.mayHaveMoreErrors || len(all) > maxReportedErrors)
}

// A faultRepair is a YAML node that is decoded repeatedly to find all errors in it. After each error the faulty
// part is removed from the node.
type faultRepair struct {
	node          *yaml.Node      // the YAML node without the parts that were removed
	changedPlaces map[[2]int]bool // keys: line and column of each node that was changed or from which something was removed
	removedKeys   []string        // keys of the entries that were removed
}

// clone returns a copy whose later changes do not affect r.
func (r *faultRepair) clone() *faultRepair {
	return &faultRepair{r.node, maps.Clone(r.changedPlaces), slices.Clip(r.removedKeys)}
}

// Collect calls read repeatedly to find all errors in the node n. After each error it removes the faulty part
// of the node and calls read again. If the faulty part is a text, Collect first replaces the text by a star,
// which stands for any ingredient.
func (f *Diagnostics) Collect(n *yaml.Node, read func(*yaml.Node) error) error {
	_, err := f.collectByRepair(&faultRepair{node: n, changedPlaces: make(map[[2]int]bool)}, read)
	return err
}

// collectByRepair does the work of [Diagnostics.Collect] for the node of r. The removals that r already records
// stay in force. The result ok reports whether the last call of read found no error.
func (f *Diagnostics) collectByRepair(r *faultRepair, read func(*yaml.Node) error) (ok bool, _ error) {
	for range 2 * maxReportedErrors {
		n := r.node
		err := read(n)
		if err == nil || n == nil {
			return err == nil, f.Add(err)
		}
		var bad *inputerr.Error
		if !errors.As(err, &bad) {
			return false, err
		}
		if bad.File != n.File && len(r.changedPlaces) > 0 {
			return false, nil // without the removed nodes the table may be read differently
		}
		at := [2]int{bad.Line, bad.Column}
		lacks := func(key string) bool { return strings.Contains(bad.Message, "no "+key) }
		if !r.changedPlaces[at] && !slices.ContainsFunc(r.removedKeys, lacks) {
			if err := f.Add(err); err != nil {
				return false, err
			}
		}
		if bad.File != n.File || !r.removeAt(bad.Line, bad.Column) {
			return false, nil
		}
	}
	return false, nil
}

// removeAt removes the node at a line and column, or replaces the text of the node by a star. It reports
// whether there is a node at that position.
func (r *faultRepair) removeAt(line, column int) bool {
	if other := r.node.WithText(line, column, "*"); other != nil {
		r.node, r.changedPlaces[[2]int{line, column}] = other, true
		return true
	}
	without, from, key := r.node.WithoutEntryAt(line, column)
	if without == nil {
		return false
	}
	if r.node = without; key != "" {
		r.removedKeys = append(r.removedKeys, key)
	}
	for _, node := range from {
		r.changedPlaces[[2]int{node.Line, node.Column}] = true
	}
	return true
}
