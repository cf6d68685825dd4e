package config

import "kir/internal/config/yaml"

// An Entry is a part of a file that is decoded separately and compiled later: a constraint, a property, or
// the trade-off. V is the type of the decoded value.
type Entry[V any] struct {
	Value V

	// Faulty reports whether the entry has errors. IsDecoded reports whether Value was decoded after the faulty
	// parts were removed.
	HasErrors, IsDecoded bool

	decode func(*yaml.Node) (V, error)
	repair *faultRepair // the node of the entry without its faulty parts
}

// newEntry decodes the entry at a node. It adds errors of input to bad and returns other errors.
func newEntry[V any](n *yaml.Node, bad *Diagnostics, decode func(*yaml.Node) (V, error)) (*Entry[V], error) {
	e := &Entry[V]{decode: decode, repair: &faultRepair{node: n, changedPlaces: make(map[[2]int]bool)}}
	before := len(bad.All)
	var err error
	e.IsDecoded, err = bad.collectByRepair(e.repair, func(n *yaml.Node) (err error) {
		e.Value, err = decode(n)
		return err
	})
	e.HasErrors = len(bad.All) > before
	return e, err
}

// Compile compiles the entry with the function compile. After an error of input it removes the faulty part
// and compiles again. It adds errors of input to bad and returns other errors.
func (e *Entry[V]) Compile(bad *Diagnostics, compile func(V) error) error {
	if !e.IsDecoded {
		return nil
	}
	value, at := e.Value, e.repair.node
	_, err := bad.collectByRepair(e.repair.clone(), func(n *yaml.Node) (err error) {
		if n != at {
			if value, err = e.decode(n); err != nil {
				return err
			}
			at = n
		}
		return compile(value)
	})
	return err
}
