package problem

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"kir"
	"kir/fault"
	"kir/forest"
	"kir/recipe"
)

// A Property is one of the problem's wishes.
type Property struct {
	Name   string
	Kind   string  // the key that names it, such as "forest"
	Weight float64 // c: the target is multiplied by y(x)^c
	About  string  // what it wishes for, in words

	Forest *forest.Forest // of a forest: what was grown or loaded; else nil

	learnt   *learnt // of a forest
	property kir.Property
	settings any // what stands under the kind, with defaults written out
}

// kinds are the keys that name a kind of property.
var kinds = []string{"forest", "blend", "pairs", "novelty", "likeness", "markowitz", "document", "expression", "program"}

// read reads what stands under the key that names a kind.
func (l *loader) read(kind string, n *node) (Property, error) {
	switch kind {
	case "forest":
		return l.forest(n)
	case "blend":
		return l.blend(n)
	case "pairs":
		return l.pairs(n)
	case "novelty", "likeness":
		return l.nearest(n, kind == "likeness")
	case "markowitz":
		return l.markowitz(n)
	case "document":
		return l.document(n)
	case "expression":
		return l.expression(n)
	}
	return l.program(n)
}

// reserved are the names that draws and summaries use for themselves.
var reserved = []string{"chain", "draw", "log_density", "used", "ingredient", "amount", "recipe", "score"}

func (l *loader) readProperties() error {
	n := l.fields["properties"]
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != mapping {
		return hint(n.errorf("properties are %s", n.shown()), "write a name and a property each, such as taste: {forest: {label: taste, want: Fresh}}")
	}
	for _, e := range n.entries {
		name := recipe.Name(e.key.text)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return hint(e.key.errorf("%s is no name for a property", fault.Quote(e.key.text)), "give it a name of one line")
		}
		if slices.Contains(reserved, name) {
			return hint(e.key.errorf("a property cannot be called %s", fault.Quote(name)), "the draws have a column of that name: choose another")
		}
		p, err := l.property(name, e.value)
		if err != nil {
			return err
		}
		l.problem.Properties = append(l.problem.Properties, p)
	}
	return nil
}

// mostSplits bounds the total where a property has a score of its own at each
// split of a line, of which there are as many as units: chains keep them all.
const mostSplits = 1 << 22

// bySplit says whether properties of a kind are scored split by split. The others
// are constant over most of a line.
func bySplit(kind string, n *node) bool {
	switch kind {
	case "forest", "pairs":
		return false
	case "novelty", "likeness":
		by := n.get("by")
		return by != nil && by.text == "amounts"
	}
	return true
}

// property reads one property: its kind and its weight.
func (l *loader) property(name string, n *node) (Property, error) {
	f, err := n.fields("a property", append([]string{"weight"}, kinds...)...)
	if err != nil {
		return Property{}, err
	}
	weight := 1.0
	if w := f["weight"]; w != nil {
		if weight, err = w.weight("the weight"); err != nil {
			return Property{}, err
		}
		delete(f, "weight")
	}
	if len(f) != 1 {
		return Property{}, hint(n.errorf("property %s names %s", fault.Quote(name), fault.Count(len(f), "kind")), "name one of %s", strings.Join(kinds, ", "))
	}
	var p Property
	for kind, v := range f {
		if l.problem.Total > mostSplits && bySplit(kind, v) {
			return Property{}, hint(v.errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", fault.Quote(name), l.problem.Total), "take a total of at most %d", mostSplits)
		}
		p, err = l.read(kind, v)
		p.Kind = kind
	}
	p.Name, p.Weight = name, weight
	return p, err
}

// settings collects what stands under a kind as resolved.
type settings yaml.MapSlice

func (s *settings) set(key string, value any) {
	*s = append(*s, yaml.MapItem{Key: key, Value: value})
}

// keep takes keys over as they stand, those that there are.
func (s *settings) keep(f map[string]*node, keys ...string) {
	for _, key := range keys {
		if v := f[key]; v != nil {
			s.set(key, v.plain())
		}
	}
}

// floor reads the least score, 0 if there is none.
func floor(f map[string]*node) (float64, error) {
	v := f["floor"]
	if v == nil {
		return 0, nil
	}
	least, err := v.weight("the floor")
	if err == nil && least > 1 {
		err = hint(v.errorf("the floor is %v", least), "it is the least score, from 0 to 1")
	}
	return least, err
}
