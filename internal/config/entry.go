package config

import "kir/internal/config/yaml"

// An Entry is a part of a file that is decoded separately and compiled later. It is a constraint, a property,
// or the trade-off. V is the type of the decoded value.
type Entry[V any] struct {
	Value V

	HasErrors bool // whether the entry had errors when it was decoded
	IsDecoded bool // whether Value could be decoded, perhaps without faulty parts of the entry

	decode func(*yaml.Node) (V, error)
	repair *faultRepair // the YAML node of the entry, from which faulty parts have been removed
}

// newEntry decodes the entry at the node n. It adds input errors to bad and returns other errors.
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

// Compile calls the function compile for the decoded value. After an input error it removes the faulty part of
// the entry, decodes the rest and calls compile again. It adds input errors to bad and returns other errors.
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
