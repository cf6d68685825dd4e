package problem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"kir"
	"kir/fault"
	"kir/forest"
	"kir/property"
	"kir/recipe"
)

// A Property is one of the problem's wishes.
type Property struct {
	Name   string
	Kind   string  // such as "forest"
	Weight float64 // c: the target is multiplied by y(x)^c
	About  string  // what it wishes for, in words

	Forest *forest.Forest // of a forest: what was grown or loaded; else nil

	property kir.Property
	settings yaml.MapSlice // as resolved, with defaults written out
}

// kinds are the keys that name a kind of property.
var kinds = []string{"forest"}

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
	switch {
	case f["forest"] != nil:
		p, err = l.forest(f["forest"])
	}
	p.Name, p.Weight = name, weight
	return p, err
}

// forest reads a property that is a random forest's probability of a label.
func (l *loader) forest(n *node) (Property, error) {
	f, err := n.fields("a forest", "label", "want", "at_least", "at_most", "between", "trees", "features", "leaf", "floor", "seed", "file")
	if err != nil {
		return Property{}, err
	}
	var floor float64
	if v := f["floor"]; v != nil {
		if floor, err = v.weight("the floor"); err != nil {
			return Property{}, err
		}
		if floor > 1 {
			return Property{}, hint(v.errorf("the floor is %v", floor), "it is the least probability, from 0 to 1")
		}
	}
	want, at, err := wanted(n, f)
	if err != nil {
		return Property{}, err
	}
	var grown *forest.Forest
	var settings yaml.MapSlice
	set := func(key string, value any) { settings = append(settings, yaml.MapItem{Key: key, Value: value}) }
	if file := f["file"]; file != nil {
		for _, key := range []string{"trees", "features", "leaf", "seed"} {
			if f[key] != nil {
				return Property{}, hint(f[key].errorf("a forest from a file is grown already: %s has no effect", key), "remove it, or grow the forest with kir train")
			}
		}
		if grown, err = l.loadForest(file); err != nil {
			return Property{}, err
		}
		if v := f["label"]; v != nil && v.text != grown.Label() {
			return Property{}, hint(v.errorf("the forest in the file predicts %s, not %s", fault.Quote(grown.Label()), v.shown()), "name that label or leave it out")
		}
		set("file", file.text)
	} else {
		o := forest.Options{Trees: 100, Seed: 1, Workers: l.options.Workers}
		for _, c := range []struct {
			key   string
			value *int
			most  int
		}{
			{"trees", &o.Trees, 100_000},
			{"features", &o.FeaturesPerSplit, len(l.problem.Ingredients)},
			{"leaf", &o.SmallestLeaf, 1 << 30},
		} {
			if v := f[c.key]; v != nil {
				if *c.value, err = v.whole(c.key, 1, c.most); err != nil {
					return Property{}, err
				}
			}
		}
		if v := f["seed"]; v != nil {
			if o.Seed, err = v.uint64("the seed"); err != nil {
				return Property{}, err
			}
		}
		if grown, err = l.growForest(n, f["label"], o); err != nil {
			return Property{}, err
		}
		used := grown.Options()
		set("trees", used.Trees)
		set("features", used.FeaturesPerSplit)
		set("leaf", used.SmallestLeaf)
		set("seed", used.Seed)
	}
	score, err := grown.Score(want)
	if err != nil {
		return Property{}, at.errorf("%v", err)
	}
	set("label", grown.Label())
	set("floor", floor)
	for _, key := range []string{"want", "at_least", "at_most", "between"} {
		if v := f[key]; v != nil {
			set(key, v.plain())
		}
	}
	return Property{
		Kind:     "forest",
		About:    grown.Label() + " " + want.String(),
		Forest:   grown,
		property: property.NewForest(score, floor),
		settings: yaml.MapSlice{{Key: "forest", Value: settings}},
	}, nil
}

// wanted reads what a forest is asked for. at is the node to blame.
func wanted(n *node, f map[string]*node) (want forest.Want, at *node, err error) {
	var given []string
	for _, key := range []string{"want", "at_least", "at_most", "between"} {
		if f[key] != nil {
			given = append(given, key)
			at = f[key]
		}
	}
	if len(given) == 2 && given[0] == "at_least" && given[1] == "at_most" {
		low, err := f["at_least"].float("at_least")
		if err != nil {
			return want, at, err
		}
		high, err := f["at_most"].float("at_most")
		return forest.Between(low, high), at, err
	}
	if len(given) != 1 {
		return want, at, hint(n.errorf("the forest is asked for %s", fault.Count(len(given), "thing")), "say want: a class or a list of classes; or for a number at_least, at_most or between")
	}
	switch given[0] {
	case "want":
		items := []*node{at}
		if at.kind == sequence {
			items = at.items
		}
		var classes []string
		for _, item := range items {
			class, err := item.str("the wanted class")
			if err != nil {
				return want, at, err
			}
			classes = append(classes, recipe.Name(class))
		}
		return forest.AnyOf(classes...), at, nil
	case "at_least":
		low, err := at.float("at_least")
		return forest.AtLeast(low), at, err
	case "at_most":
		high, err := at.float("at_most")
		return forest.AtMost(high), at, err
	}
	items, err := at.list("between")
	if err != nil {
		return want, at, err
	}
	if len(items) != 2 {
		return want, at, hint(at.errorf("between has %s", fault.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	low, err := items[0].float("the lowest number")
	if err != nil {
		return want, at, err
	}
	high, err := items[1].float("the highest number")
	if err == nil && low > high {
		err = hint(at.errorf("no number is between %v and %v", low, high), "write the lower one first")
	}
	return forest.Between(low, high), at, err
}

// growForest grows a forest from the book.
func (l *loader) growForest(n, labelNode *node, o forest.Options) (*forest.Forest, error) {
	book := l.problem.Book
	if book == nil {
		return nil, hint(n.errorf("a forest is grown from recipes, and the problem has none"), "add recipes: a CSV file, or load a forest with file")
	}
	if labelNode == nil {
		return nil, hint(n.errorf("the forest has no label to learn"), "%s", labelsThere(book))
	}
	name, err := labelNode.str("the label")
	if err != nil {
		return nil, err
	}
	label, ok := book.Label(name)
	if !ok {
		return nil, hint(labelNode.errorf("the recipes have no label %s", labelNode.shown()), "%s", labelsThere(book))
	}
	numeric := n.get("want") == nil
	f, err := GrowForest(l.ctx, book, label, l.problem.Total, numeric, o)
	if err != nil {
		return nil, labelNode.blame(err)
	}
	return f, nil
}

func labelsThere(book *recipe.Book) string {
	if len(book.Labels) == 0 {
		return "they have none: add a column, and in the wide form name it under labels"
	}
	names := make([]string, len(book.Labels))
	for k := range book.Labels {
		names[k] = book.Labels[k].Name
	}
	return "they have " + fault.List(names, 12)
}

// GrowForest grows a forest that predicts a label of a book's recipes from
// their closure to total units: its classes, or its numbers. Recipes without
// the label are left out.
func GrowForest(ctx context.Context, book *recipe.Book, label *recipe.Label, total int, numeric bool, o forest.Options) (*forest.Forest, error) {
	data := forest.Data{Label: label.Name, Ingredients: book.Ingredients.Names, Total: total}
	var numbers []float64
	var err error
	if numeric {
		if numbers, err = label.Numbers(); err != nil {
			return nil, err
		}
	}
	for r := range book.Recipes {
		if label.Of[r] < 0 {
			continue
		}
		amounts, err := book.Closure(r, total)
		if err != nil {
			return nil, err
		}
		parts := make([]forest.Part, len(amounts))
		for k, p := range book.Recipes[r].Parts {
			parts[k] = forest.Part{Ingredient: p.Ingredient, Amount: int32(amounts[k])}
		}
		data.Rows = append(data.Rows, parts)
		if numeric {
			data.Numbers = append(data.Numbers, numbers[r])
		} else {
			data.Classes = append(data.Classes, label.Value(r))
		}
	}
	if len(data.Rows) == 0 {
		return nil, &fault.Error{File: book.File, Message: fmt.Sprintf("no recipe has a value of the label %s", fault.Quote(label.Name)), Hint: "fill in the column"}
	}
	return forest.Grow(ctx, &data, o)
}
