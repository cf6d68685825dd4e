package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Written is a value with its position in the file. Node is nil if the file does not have the value.
type Written[T any] struct {
	Value T
	Node  *yaml.Node
}

// Or returns the value if the file has it, and other if not.
func (w Written[T]) Or(other T) T {
	if w.Node == nil {
		return other
	}
	return w.Value
}

// Texts is a list of texts. The file has a single text or a list of texts.
type Texts = Written[[]Written[string]]

// YAML nodes whose meaning depends on the [Data] of the problem. They are decoded when the problem is compiled.
type (
	Ingredients = *yaml.Node // names of ingredients: one name, a list of names, or {attribute: value}; see [Data.WhichIngredients]
	Units       = *yaml.Node // an amount: a number of units, or a percentage of the total; see [Data.ReadUnits]
)

// A valueReader decodes the YAML node under a key into a field. Several functions return a valueReader. Their
// parameter what is the name of the value in errors.
type valueReader = func(*yaml.Node) error

// decodingReader returns a valueReader that decodes a value by calling the function decode.
func decodingReader[T any](field *Written[T], decode func(*yaml.Node) (T, error)) valueReader {
	return func(n *yaml.Node) error {
		v, err := decode(n)
		if err != nil {
			return err
		}
		*field = Written[T]{v, n}
		return nil
	}
}

// nodeReader returns a valueReader that stores the YAML node itself.
func nodeReader(field **yaml.Node) valueReader {
	return func(n *yaml.Node) error { *field = n; return nil }
}

// textReader returns a valueReader for a text that is not empty.
func textReader(field *Written[string], what string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (string, error) { return n.Str(what) })
}

// textsReader returns a valueReader for one text or a list of texts. A text must not be empty.
func textsReader(field *Texts, what string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (texts []Written[string], err error) {
		items := n.ItemsOrSelf()
		texts = make([]Written[string], len(items))
		for k, item := range items {
			if err := textReader(&texts[k], what)(item); err != nil {
				return nil, err
			}
		}
		return texts, nil
	})
}

// numberReader returns a valueReader for a finite number.
func numberReader(field *Written[float64], what string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (float64, error) { return n.Float(what) })
}

// weightReader returns a valueReader for a number of at least 0.
func weightReader(field *Written[float64], what string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (float64, error) { return n.Weight(what) })
}

// wholeReader returns a valueReader for a whole number from least to most.
func wholeReader(field *Written[int], what string, least, most int) valueReader {
	return decodingReader(field, func(n *yaml.Node) (int, error) { return n.Whole(what, least, most) })
}

// newKey returns the description of a key. The function read decodes the value under the key.
func newKey(name string, is schema.Type, missing, about, example string, read valueReader) schema.Key {
	return schema.Key{Name: name, Type: is, Default: missing, About: about, Example: example, Read: read}
}
