// Package change edits the text of a problem file. For example, it pins or bans an ingredient, bounds an amount,
// or changes the weight of an objective. All other text stays unchanged, including comments. The package does not
// check the meaning of a file: package compile checks whether ingredients exist and whether rules conflict.
package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// A Change is an edit of a problem file.
type Change interface {
	apply(e *yaml.Editor) error
}

// Apply applies changes to the text of a problem file, in order, and returns the new text. The parameter file
// is the name of the file in errors.
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

// Diff returns the difference between two texts in the unified format. It returns "" if the texts are equal.
func Diff(oldName string, old []byte, newName string, new []byte) string {
	text := string(diff.Diff(oldName, old, newName, new))
	_, text, _ = strings.Cut(text, "\n") // the first line is a diff command
	return text
}

// A Setting is an edit that sets the value at a path of keys, such as chains under sampler. An old value is
// replaced completely, even if it is a list or a mapping.
type Setting struct {
	Path  []string
	Value any // a text, a number, a [yaml.Map] or []any
}

func (c Setting) apply(e *yaml.Editor) error {
	return e.Set(c.Value, keyPath(c.Path...)...)
}

// A Trade is an edit that sets the objectives of the trade-off. An empty list removes the trade-off.
type Trade struct {
	Objectives []string // names of properties
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

// A Weight is an edit that sets the weight of a property.
type Weight struct {
	Property string // name of the property
	Weight   float64
}

func (c Weight) apply(e *yaml.Editor) error {
	if _, err := findProperty(e, c.Property); err != nil {
		return err
	}
	return e.Set(c.Weight, "properties", c.Property, "weight")
}

// A SetObjective is an edit that replaces the objective of a property, for example by another class or another
// range. Way is the key of the new objective in the problem file, such as want or between. Value is the value
// under that key.
type SetObjective struct {
	Property string // name of the property
	Way      string
	Value    any
}

func (c SetObjective) apply(e *yaml.Editor) error {
	p, err := findProperty(e, c.Property)
	if err != nil {
		return err
	}
	for kind, keys := range compile.DirectionKeys() {
		at := p.Get(kind)
		if at == nil {
			continue
		}
		if !slices.Contains(keys, c.Way) {
			return yaml.Hint(at.Errorf("a property of kind %s cannot be asked for %s", kind, inputerr.Quote(c.Way)), "it has %s", strings.Join(keys, ", "))
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
	return p.Errorf("what %s wishes for cannot be changed but by hand", inputerr.Quote(c.Property))
}

// findProperty returns the node of the property with a name.
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
	err := e.Root().Errorf("there is no property %s", inputerr.Quote(name))
	if len(names) == 0 {
		return nil, err
	}
	return nil, yaml.SuggestName(err, name, "there are", names, 12)
}

// keyPath returns keys in the form of a path for an [yaml.Editor].
func keyPath(keys ...string) []any {
	steps := make([]any, len(keys))
	for k, key := range keys {
		steps[k] = key
	}
	return steps
}

// yamlMapping returns a mapping. The list pairs has keys and values in turn. Keys with a nil value are left
// out.
func yamlMapping(pairs ...any) yaml.Map {
	var m yaml.Map
	for k := 0; k < len(pairs); k += 2 {
		if pairs[k+1] != nil {
			m.Set(fmt.Sprint(pairs[k]), pairs[k+1])
		}
	}
	return m
}
