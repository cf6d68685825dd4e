// Package change writes what is asked otherwise into the text of a problem file:
// an ingredient pinned or banned, a dose bounded, a wish weighed anew. What is not
// changed stays as it stands, comments among it. The package knows how a problem
// is written and not what it means: whether ingredients exist and rules go
// together is for package problem to say of the text.
package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"kir/internal/fault"
	"kir/internal/problem"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
)

// A Change is something that is asked otherwise.
type Change interface {
	apply(e *yaml.Editor) error
}

// Apply returns the text of a problem file with changes made one after the other.
// file is what errors call it.
func Apply(file string, text []byte, changes ...Change) ([]byte, error) {
	e, err := yaml.NewEditor(file, text)
	if err != nil {
		return nil, err
	}
	e.Order = schema.Problem.Names()
	for _, c := range changes {
		if err := c.apply(e); err != nil {
			return nil, err
		}
	}
	return e.Text(), nil
}

// Diff returns the difference of two texts in the unified format, nothing if they
// are equal.
func Diff(oldName string, old []byte, newName string, new []byte) string {
	text := string(diff.Diff(oldName, old, newName, new))
	_, text, _ = strings.Cut(text, "\n") // the command that would have made it
	return text
}

// A Setting gives the value at a path of keys: of the sampler, the search, the law
// of n. A path that ends in a list's item or in a mapping replaces all of it.
type Setting struct {
	Path  []string
	Value any // text, a number, a [yaml.Map] or []any
}

func (c Setting) apply(e *yaml.Editor) error {
	return e.Set(c.Value, keyPath(c.Path...)...)
}

// A Trade asks for the trade-off of objectives, or for none.
type Trade struct {
	Objectives []string
}

func (c Trade) apply(e *yaml.Editor) error {
	if len(c.Objectives) == 0 {
		if e.Root().Get("trade") == nil {
			return nil
		}
		return e.Remove("trade")
	}
	names := make([]any, len(c.Objectives))
	for k, name := range c.Objectives {
		names[k] = name
	}
	return e.Set(names, "trade")
}

// A Weight says how much a property counts.
type Weight struct {
	Property string
	Weight   float64
}

func (c Weight) apply(e *yaml.Editor) error {
	if _, err := findProperty(e, c.Property); err != nil {
		return err
	}
	return e.Set(c.Weight, "properties", c.Property, "weight")
}

// An SetObjective says what a property wishes for: another class, another range. Way is the
// key that says so in a problem file, such as want or between, and Value what is
// written there.
type SetObjective struct {
	Property string
	Way      string
	Value    any
}

func (c SetObjective) apply(e *yaml.Editor) error {
	p, err := findProperty(e, c.Property)
	if err != nil {
		return err
	}
	for kind, keys := range problem.DirectionKeys() {
		at := p.Get(kind)
		if at == nil {
			continue
		}
		if !slices.Contains(keys, c.Way) {
			return yaml.Hint(at.Errorf("a property of kind %s cannot be asked for %s", kind, fault.Quote(c.Way)), "it has %s", strings.Join(keys, ", "))
		}
		path := keyPath("properties", c.Property, kind)
		if err := e.Set(c.Value, append(slices.Clip(path), c.Way)...); err != nil {
			return err
		}
		for _, key := range keys {
			if key != c.Way && at.Get(key) != nil {
				if err := e.Remove(append(slices.Clip(path), key)...); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return p.Errorf("what %s wishes for cannot be changed but by hand", fault.Quote(c.Property))
}

// findProperty returns what the problem says of a property.
func findProperty(e *yaml.Editor, name string) (*yaml.Node, error) {
	all := &yaml.Node{}
	if n := e.Root().Get("properties"); n != nil {
		all = n
	}
	if p := all.Get(name); p != nil {
		return p, nil
	}
	var names []string
	for _, entry := range all.Entries {
		names = append(names, entry.Key.Text)
	}
	err := e.Root().Errorf("there is no property %s", fault.Quote(name))
	if len(names) == 0 {
		return nil, err
	}
	return nil, yaml.SuggestName(err, name, "there are", names, 12)
}

// keyPath is a path of keys.
func keyPath(keys ...string) []any {
	steps := make([]any, len(keys))
	for k, key := range keys {
		steps[k] = key
	}
	return steps
}

// yamlMapping is a mapping of keys and values by turns, without those that are nil.
func yamlMapping(pairs ...any) yaml.Map {
	var m yaml.Map
	for k := 0; k < len(pairs); k += 2 {
		if pairs[k+1] != nil {
			m.Set(fmt.Sprint(pairs[k]), pairs[k+1])
		}
	}
	return m
}
