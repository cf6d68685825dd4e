package config

import "kir/internal/config/yaml"

// An Entry is a part of a file that is decoded by itself and compiled later: a constraint, a property, or the
// trade-off. V is what it is decoded to.
type Entry[V any] struct {
	Value V

	// Faulty reports whether the entry has errors. Decoded reports whether Value is what remains without
	// them.
	Faulty, Decoded bool

	decode func(*yaml.Node) (V, error)
	repair *repair
}

// newEntry decodes the entry at a node. It adds errors of input to bad, and returns other errors.
func newEntry[V any](n *yaml.Node, bad *Diagnostics, decode func(*yaml.Node) (V, error)) (*Entry[V], error) {
	e := &Entry[V]{decode: decode, repair: &repair{node: n, changedNodes: make(map[[2]int]bool)}}
	before := len(bad.All)
	var err error
	e.Decoded, err = bad.collect(e.repair, func(n *yaml.Node) (err error) {
		e.Value, err = decode(n)
		return err
	})
	e.Faulty = len(bad.All) > before
	return e, err
}

// Compile compiles the entry. It adds errors of input to bad, after each of which it compiles what remains, and
// returns other errors.
func (e *Entry[V]) Compile(bad *Diagnostics, compile func(V) error) error {
	if !e.Decoded {
		return nil
	}
	value, at := e.Value, e.repair.node
	_, err := bad.collect(e.repair.clone(), func(n *yaml.Node) (err error) {
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
