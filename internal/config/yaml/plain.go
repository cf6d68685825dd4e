package yaml

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
)

// A Map is a mapping whose entries are written in the order in which they were added.
type Map yaml.MapSlice

// MarshalYAML returns the mapping as the type that the YAML library writes.
func (m Map) MarshalYAML() (any, error) { return yaml.MapSlice(m), nil }

// Set appends an entry to the mapping.
func (m *Map) Set(key string, value any) {
	*m = append(*m, yaml.MapItem{Key: key, Value: value})
}

// CopyKeys appends the entries of the mapping n that have one of the given keys. It skips keys that n does not
// have.
func (m *Map) CopyKeys(n *Node, keys ...string) {
	for _, key := range keys {
		if v := n.Get(key); v != nil {
			m.Set(key, v.Plain())
		}
	}
}

// Marshal returns the YAML text of a value.
func Marshal(v any) ([]byte, error) { return yaml.Marshal(v) }

// Plain returns the value of the node as a [Map], a slice, a string, a number, a boolean or nil.
func (n *Node) Plain() any {
	switch n.Kind {
	case Text:
		return n.Text
	case Number:
		if n.number == math.Trunc(n.number) && math.Abs(n.number) < 1<<53 {
			return int64(n.number)
		}
		return n.number
	case Boolean:
		return strings.EqualFold(n.Text, "true")
	case Sequence:
		items := make([]any, len(n.Items))
		for k, item := range n.Items {
			items[k] = item.Plain()
		}
		return items
	case Mapping:
		m := make(Map, len(n.Entries))
		for k, e := range n.Entries {
			m[k] = yaml.MapItem{Key: e.Key.Text, Value: e.Value.Plain()}
		}
		return m
	}
	return nil
}

// MarshalJSON returns the node as JSON, with mappings in the order of the file. A number keeps its digits if
// the digits are valid JSON.
func (n *Node) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	switch n.Kind {
	case Number:
		if json.Valid([]byte(n.Text)) {
			return []byte(n.Text), nil
		}
	case Sequence:
		b.WriteByte('[')
		for k, item := range n.Items {
			if k > 0 {
				b.WriteByte(',')
			}
			if err := appendJSON(&b, item); err != nil {
				return nil, err
			}
		}
		b.WriteByte(']')
		return b.Bytes(), nil
	case Mapping:
		b.WriteByte('{')
		for k, e := range n.Entries {
			if k > 0 {
				b.WriteByte(',')
			}
			if err := appendJSON(&b, e.Key.Text); err != nil {
				return nil, err
			}
			b.WriteByte(':')
			if err := appendJSON(&b, e.Value); err != nil {
				return nil, err
			}
		}
		b.WriteByte('}')
		return b.Bytes(), nil
	}
	err := appendJSON(&b, n.Plain())
	return b.Bytes(), err
}

// appendJSON appends a value as JSON without HTML escapes.
func appendJSON(b *bytes.Buffer, value any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line feed
	return nil
}
