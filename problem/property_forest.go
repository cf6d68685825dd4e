package problem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"kir/fault"
	"kir/forest"
	"kir/property"
	"kir/recipe"
)

// forest reads a property that is a random forest's probability of a label.
func (l *loader) forest(n *node) (Property, error) {
	f, err := n.fields("a forest", "label", "want", "at_least", "at_most", "between", "maximize", "minimize", "trees", "features", "leaf", "floor", "seed", "add", "file")
	if err != nil {
		return Property{}, err
	}
	least, err := floor(f)
	if err != nil {
		return Property{}, err
	}
	want, at, err := wanted(n, f)
	if err != nil {
		return Property{}, err
	}
	var data *forest.Data
	var grown *forest.Forest
	var s settings
	added := ""
	if file := f["file"]; file != nil {
		for _, key := range []string{"trees", "features", "leaf", "seed", "add"} {
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
		s.set("file", file.text)
	} else {
		features, words, err := l.features(f["add"])
		if err != nil {
			return Property{}, err
		}
		added = words
		o := forest.Options{Trees: 100, Seed: 1, Importances: true, Workers: l.options.Workers}
		if directed(f) {
			o.Trees = directedTrees
		}
		for _, c := range []struct {
			key   string
			value *int
			most  int
		}{
			{"trees", &o.Trees, forest.MaxTrees},
			{"features", &o.FeaturesPerSplit, max(len(features), len(l.problem.Ingredients))},
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
		if data, grown, err = l.growForest(n, f["label"], features, o); err != nil {
			return Property{}, err
		}
		used := grown.Options()
		s.set("trees", used.Trees)
		s.set("features", used.FeaturesPerSplit)
		s.set("leaf", used.SmallestLeaf)
		s.set("seed", used.Seed)
	}
	score, err := grown.Score(want)
	if err != nil {
		return Property{}, at.errorf("%v", err)
	}
	if err := l.withinLabels(at, grown, data, want); err != nil {
		return Property{}, err
	}
	s.set("label", grown.Label())
	s.set("floor", least)
	s.keep(f, "want", "at_least", "at_most", "between", "maximize", "minimize", "add")
	return Property{
		About:    grown.Label() + " " + want.String() + added,
		Forest:   grown,
		learnt:   &learnt{data, score, least},
		property: property.NewForest(score, least),
		settings: yaml.MapSlice(s),
	}, nil
}

// features returns what a forest's splits test if that is more than the amounts
// of the ingredients, else nil, and says what is more in words.
//
//	add: {totals: family, presence: true}
//
// totals adds the total of the ingredients with each value of an attribute;
// presence adds whether an ingredient, or any with that value, is used at all.
func (l *loader) features(n *node) (features []forest.Feature, words string, err error) {
	if n == nil {
		return nil, "", nil
	}
	f, err := n.fields("add", "totals", "presence")
	if err != nil {
		return nil, "", err
	}
	var by []*recipe.Attribute
	if v := f["totals"]; v != nil {
		attributes := []*node{v}
		if v.kind == sequence {
			attributes = v.items
		}
		for _, a := range attributes {
			name, err := a.str("the attribute")
			if err != nil {
				return nil, "", err
			}
			attribute, err := l.attribute(a, name)
			if err != nil {
				return nil, "", err
			}
			if slices.Contains(by, attribute) {
				return nil, "", hint(a.errorf("the totals by %s are added twice", fault.Quote(attribute.Name)), "name each attribute once")
			}
			by = append(by, attribute)
		}
	}
	presence := false
	if v := f["presence"]; v != nil {
		if v.kind != boolean {
			return nil, "", hint(v.errorf("presence is %s", v.shown()), "write true or false")
		}
		presence = v.plain() == true
	}
	features, err = forestFeatures(l.problem.Ingredients, by, presence)
	if err != nil {
		return nil, "", n.blame(err)
	}
	flags := 0
	for _, p := range features {
		if p.Presence {
			flags++
		}
	}
	if by != nil || presence {
		words = ", from amounts"
	}
	if by != nil {
		names := make([]string, len(by))
		for k, a := range by {
			names[k] = a.Name
		}
		words += fmt.Sprintf(" and %s by %s", fault.Count(len(features)-flags-len(l.problem.Ingredients), "total"), strings.Join(names, ", "))
	}
	if presence {
		words += " and " + fault.Count(flags, "presence flag")
	}
	return features, words, nil
}

// ForestFeatures returns what the splits of a forest test if that is more than
// the amounts of the ingredients: with totals, also the total of the ingredients
// with each value of these attributes; with presence, also whether an
// ingredient, or any with such a value, is used at all. An attribute that the
// ingredients do not have is a [fault.Error].
func ForestFeatures(in *recipe.Ingredients, totals []string, presence bool) ([]forest.Feature, error) {
	var by []*recipe.Attribute
	for _, name := range totals {
		a, ok := in.Attribute(name)
		if !ok {
			var names []string
			for k := range in.Attributes {
				names = append(names, in.Attributes[k].Name)
			}
			e := &fault.Error{File: in.File, Message: "the ingredients have no attribute " + fault.Quote(name), Hint: fault.DidYouMean(name, names)}
			if e.Hint == "" && len(names) > 0 {
				e.Hint = "they have " + fault.List(names, 12)
			}
			return nil, e
		}
		if !slices.Contains(by, a) {
			by = append(by, a)
		}
	}
	return forestFeatures(in.Names, by, presence)
}

func forestFeatures(ingredients []string, by []*recipe.Attribute, presence bool) (features []forest.Feature, err error) {
	for i, name := range ingredients {
		features = append(features, forest.Feature{Name: name, Ingredients: []int32{int32(i)}})
	}
	for _, a := range by {
		for _, g := range groups(a) {
			features = append(features, forest.Feature{Name: "total of " + a.Name + " " + g.value, Ingredients: g.of})
		}
	}
	if presence {
		for _, p := range slices.Clone(features) {
			features = append(features, forest.Feature{Name: "presence of " + strings.TrimPrefix(p.Name, "total of "), Ingredients: p.Ingredients, Presence: true})
		}
	}
	seen := make(map[string]bool, len(features))
	for _, p := range features {
		if seen[p.Name] {
			return nil, &fault.Error{Message: "the forest would have two features named " + fault.Quote(p.Name), Hint: "rename an ingredient or an attribute"}
		}
		seen[p.Name] = true
	}
	return features, nil
}

// group is the ingredients with one value of an attribute.
type group struct {
	value string
	of    []int32
}

// groups returns the ingredients by their values of an attribute, in the order
// of the values. Those without a value are in none.
func groups(attribute *recipe.Attribute) []group {
	of := make(map[string][]int32)
	for i, v := range attribute.Values {
		if v != "" {
			of[v] = append(of[v], int32(i))
		}
	}
	var groups []group
	for _, v := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, group{v, of[v]})
	}
	return groups
}

// wanted reads what a forest is asked for. at is the node to blame.
func wanted(n *node, f map[string]*node) (want forest.Want, at *node, err error) {
	var given []string
	for _, key := range []string{"want", "at_least", "at_most", "between", "maximize", "minimize"} {
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
		return want, at, hint(n.errorf("the forest is asked for %s", fault.Count(len(given), "thing")), "say want: a class or a list of classes; or for a number maximize: true, minimize: true, at_least, at_most or between")
	}
	switch given[0] {
	case "maximize", "minimize":
		want, err := direction(given[0], at)
		return want, at, err
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
func (l *loader) growForest(n, labelNode *node, features []forest.Feature, o forest.Options) (*forest.Data, *forest.Forest, error) {
	book := l.problem.Book
	if book == nil {
		return nil, nil, hint(n.errorf("a forest is grown from recipes, and the problem has none"), "add recipes: a CSV file, or load a forest with file")
	}
	if labelNode == nil {
		return nil, nil, hint(n.errorf("the forest has no label to learn"), "%s", labelsThere(book))
	}
	name, err := labelNode.str("the label")
	if err != nil {
		return nil, nil, err
	}
	label, ok := book.Label(name)
	if !ok {
		return nil, nil, hint(labelNode.errorf("the recipes have no label %s", labelNode.shown()), "%s", labelsThere(book))
	}
	numeric := n.get("want") == nil
	if !numeric {
		if err := fewClasses(n.get("want"), label); err != nil {
			return nil, nil, err
		}
	}
	data, err := forestData(book, label, l.problem.Total, numeric, features)
	if err != nil {
		return nil, nil, labelNode.blame(err)
	}
	f, err := forest.Grow(l.ctx, data, o)
	if err != nil {
		return nil, nil, labelNode.blame(err)
	}
	return data, f, nil
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
// the label are left out. Splits test the features, see [ForestFeatures], or if
// these are nil the amounts of the ingredients.
func GrowForest(ctx context.Context, book *recipe.Book, label *recipe.Label, total int, numeric bool, features []forest.Feature, o forest.Options) (*forest.Forest, error) {
	data, err := forestData(book, label, total, numeric, features)
	if err != nil {
		return nil, err
	}
	return forest.Grow(ctx, data, o)
}
