package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Written is a value and the place where the file has it. At is nil if the file does not have it.
type Written[T any] struct {
	Value T
	At    *yaml.Node
}

// Or returns the value, or other if the file does not have it.
func (w Written[T]) Or(other T) T {
	if w.At == nil {
		return other
	}
	return w.Value
}

// Texts are one text, or a list of texts.
type Texts = Written[[]Written[string]]

// Values whose meaning depends on the problem's data. They are kept as they stand in the file.
type (
	Ingredients = *yaml.Node // which ingredients: a name, a list of names, {attribute: value}; see [Data.WhichIngredients]
	Units       = *yaml.Node // a number of units, or a percentage of the total; see [Data.ReadUnits]
)

// A read function decodes the node under a key into a field. what is the name of the value in errors.
type read = func(*yaml.Node) error

// decodeWith returns a read function that decodes a value of any type.
func decodeWith[T any](field *Written[T], decode func(*yaml.Node) (T, error)) read {
	return func(n *yaml.Node) error {
		v, err := decode(n)
		if err != nil {
			return err
		}
		*field = Written[T]{v, n}
		return nil
	}
}

// asNode keeps the node itself.
func asNode(field **yaml.Node) read {
	return func(n *yaml.Node) error { *field = n; return nil }
}

// asText decodes a text that is not empty.
func asText(field *Written[string], what string) read {
	return decodeWith(field, func(n *yaml.Node) (string, error) { return n.Str(what) })
}

// asTexts decodes one text, or a list of texts, none of which is empty. what is the name of one in errors.
func asTexts(field *Texts, what string) read {
	return decodeWith(field, func(n *yaml.Node) (texts []Written[string], err error) {
		items := n.ItemsOrSelf()
		texts = make([]Written[string], len(items))
		for k, item := range items {
			if err := asText(&texts[k], what)(item); err != nil {
				return nil, err
			}
		}
		return texts, nil
	})
}

// asNumber decodes a finite number.
func asNumber(field *Written[float64], what string) read {
	return decodeWith(field, func(n *yaml.Node) (float64, error) { return n.Float(what) })
}

// asWeight decodes a number of at least 0.
func asWeight(field *Written[float64], what string) read {
	return decodeWith(field, func(n *yaml.Node) (float64, error) { return n.Weight(what) })
}

// asWhole decodes a whole number from least to most.
func asWhole(field *Written[int], what string, least, most int) read {
	return decodeWith(field, func(n *yaml.Node) (int, error) { return n.Whole(what, least, most) })
}

// key returns a key of a section whose value read decodes.
func key(name string, is schema.Type, missing, about, example string, read read) schema.Key {
	return schema.Key{Name: name, Type: is, Default: missing, About: about, Example: example, Read: read}
}
