package problem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/fault"
	"kir/forest"
	"kir/problem/schema"
	"kir/problem/yaml"
	"kir/property"
	"kir/recipe"
)

// readForest reads a property that is a random forest's probability of a label.
func readForest(ctx context.Context, s *shelf, n *yaml.Node) (Property, error) {
	f, err := schema.Forest.Fields(n)
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
	var resolved yaml.Map
	added := ""
	if file := f["file"]; file != nil {
		for _, key := range []string{"trees", "features", "leaf", "seed", "add"} {
			if f[key] != nil {
				return Property{}, yaml.Hint(f[key].Errorf("a forest from a file is grown already: %s has no effect", key), "remove it, or grow the forest with kir train")
			}
		}
		if grown, err = loadForest(ctx, s, file); err != nil {
			return Property{}, err
		}
		if v := f["label"]; v != nil && v.Text != grown.Label() {
			return Property{}, yaml.Hint(v.Errorf("the forest in the file predicts %s, not %s", fault.Quote(grown.Label()), v.Shown()), "name that label or leave it out")
		}
		if data, err = grownFrom(ctx, s, grown); err != nil {
			return Property{}, file.Blame(err)
		}
		resolved.Set("file", file.Text)
	} else {
		features, words, err := featuresAdded(s, f["add"])
		if err != nil {
			return Property{}, err
		}
		added = words
		o := forest.Options{Trees: 100, Seed: 1, Importances: true, Workers: s.workers}
		if directed(f) {
			o.Trees = directedTrees
		}
		for _, c := range []struct {
			key   string
			value *int
			max   int
		}{
			{"trees", &o.Trees, forest.MaxTrees},
			{"features", &o.FeaturesPerSplit, max(len(features), len(s.names))},
			{"leaf", &o.SmallestLeaf, 1 << 30},
		} {
			if v := f[c.key]; v != nil {
				if *c.value, err = v.Whole(c.key, 1, c.max); err != nil {
					return Property{}, err
				}
			}
		}
		if v := f["seed"]; v != nil {
			if o.Seed, err = v.Uint64("the seed"); err != nil {
				return Property{}, err
			}
		}
		if data, grown, err = growForest(ctx, s, n, f["label"], features, o); err != nil {
			return Property{}, err
		}
		used := grown.Options()
		resolved.Set("trees", used.Trees)
		resolved.Set("features", used.FeaturesPerSplit)
		resolved.Set("leaf", used.SmallestLeaf)
		resolved.Set("seed", used.Seed)
	}
	score, err := grown.Score(want)
	if err != nil {
		return Property{}, at.Errorf("%v", err)
	}
	if err := withinLabels(s, at, grown, data, want); err != nil {
		return Property{}, err
	}
	resolved.Set("label", grown.Label())
	resolved.Set("floor", least)
	resolved.Keep(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "add")
	return Property{
		About:    grown.Label() + " " + want.String() + added,
		Forest:   grown,
		learnt:   &learnt{data, score, least},
		property: property.NewForest(score, least),
		resolved: resolved,
	}, nil
}

// featuresAdded returns what a forest's splits test if that is more than the amounts
// of the ingredients, else nil, and says what is more in words.
//
//	add: {totals: family, presence: true}
//
// totals adds the total of the ingredients with each value of an attribute;
// presence adds whether an ingredient, or any with that value, is used at all.
func featuresAdded(s *shelf, n *yaml.Node) (features []forest.Feature, words string, err error) {
	if n == nil {
		return nil, "", nil
	}
	f, err := schema.Add.Fields(n)
	if err != nil {
		return nil, "", err
	}
	var by []*recipe.Attribute
	if v := f["totals"]; v != nil {
		for _, a := range v.ItemsOrSelf() {
			name, err := a.Str("the attribute")
			if err != nil {
				return nil, "", err
			}
			attribute, err := s.attribute(a, name)
			if err != nil {
				return nil, "", err
			}
			if slices.Contains(by, attribute) {
				return nil, "", yaml.Hint(a.Errorf("the totals by %s are added twice", fault.Quote(attribute.Name)), "name each attribute once")
			}
			by = append(by, attribute)
		}
	}
	presence := false
	if v := f["presence"]; v != nil {
		if v.Kind != yaml.Boolean {
			return nil, "", yaml.Hint(v.Errorf("presence is %s", v.Shown()), "write true or false")
		}
		presence = v.Plain() == true
	}
	features, err = forestFeatures(s.names, by, presence)
	if bad := (*fault.Error)(nil); errors.As(err, &bad) {
		return nil, "", yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	} else if err != nil {
		return nil, "", err
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
		words += fmt.Sprintf(" and %s by %s", fault.Count(len(features)-flags-len(s.names), "total"), strings.Join(names, ", "))
	}
	if presence {
		words += " and " + fault.Count(flags, "presence flag")
	}
	return features, words, nil
}

// wanted reads what a forest is asked for. at is the node to blame.
func wanted(n *yaml.Node, f map[string]*yaml.Node) (want forest.Want, at *yaml.Node, err error) {
	var given []string
	for _, key := range []string{"want", "at_least", "at_most", "between", "maximize", "minimize"} {
		if f[key] != nil {
			given = append(given, key)
			at = f[key]
		}
	}
	if len(given) == 2 && given[0] == "at_least" && given[1] == "at_most" {
		low, err := f["at_least"].Float("at_least")
		if err != nil {
			return want, at, err
		}
		high, err := f["at_most"].Float("at_most")
		return forest.Between(low, high), at, err
	}
	if len(given) != 1 {
		return want, at, yaml.Hint(n.Errorf("the forest is asked for %s", fault.Count(len(given), "thing")), "say want: a class or a list of classes; or for a number maximize: true, minimize: true, at_least, at_most or between")
	}
	switch given[0] {
	case "maximize", "minimize":
		want, err := direction(given[0], at)
		return want, at, err
	case "want":
		var classes []string
		for _, item := range at.ItemsOrSelf() {
			class, err := item.Str("the wanted class")
			if err != nil {
				return want, at, err
			}
			classes = append(classes, recipe.Name(class))
		}
		return forest.AnyOf(classes...), at, nil
	case "at_least":
		low, err := at.Float("at_least")
		return forest.AtLeast(low), at, err
	case "at_most":
		high, err := at.Float("at_most")
		return forest.AtMost(high), at, err
	}
	items, err := at.List("between")
	if err != nil {
		return want, at, err
	}
	if len(items) != 2 {
		return want, at, yaml.Hint(at.Errorf("between has %s", fault.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	low, err := items[0].Float("the lowest number")
	if err != nil {
		return want, at, err
	}
	high, err := items[1].Float("the highest number")
	if err == nil && low > high {
		err = yaml.Hint(at.Errorf("no number is between %v and %v", low, high), "write the lower one first")
	}
	return forest.Between(low, high), at, err
}

// growForest grows a forest from the book.
func growForest(ctx context.Context, s *shelf, n, labelNode *yaml.Node, features []forest.Feature, o forest.Options) (*forest.Data, *forest.Forest, error) {
	book := s.book
	if book == nil {
		return nil, nil, yaml.Hint(n.Errorf("a forest is grown from recipes, and the problem has none"), "add recipes: a CSV file, or load a forest with file")
	}
	if labelNode == nil {
		return nil, nil, yaml.Hint(n.Errorf("the forest has no label to learn"), "%s", labelsThere(book))
	}
	name, err := labelNode.Str("the label")
	if err != nil {
		return nil, nil, err
	}
	label, ok := book.Label(name)
	if !ok {
		return nil, nil, yaml.Hint(labelNode.Errorf("the recipes have no label %s", labelNode.Shown()), "%s", labelsThere(book))
	}
	numeric := n.Get("want") == nil
	if !numeric {
		if err := fewClasses(n.Get("want"), label); err != nil {
			return nil, nil, err
		}
	}
	data, err := forestData(book, label, s.total, numeric, features)
	if err != nil {
		return nil, nil, labelNode.Blame(err)
	}
	f, err := s.grown.grow(ctx, data, o)
	if err != nil {
		return nil, nil, labelNode.Blame(err)
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

// maxForestBytes bounds what is read of the file of a forest.
const maxForestBytes = 1 << 30

// loadForest loads a forest that kir train saved, for this problem's
// ingredients and total.
func loadForest(ctx context.Context, s *shelf, n *yaml.Node) (*forest.Forest, error) {
	var f *forest.Forest
	err := s.files.Read(ctx, n, "the file of the forest", func(r io.Reader, _ string) (err error) {
		f, err = forest.Read(io.LimitReader(r, maxForestBytes))
		return err
	})
	if err != nil {
		if bad := (*fault.Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
			return nil, err
		}
		return nil, yaml.Hint(n.Errorf("%s is no forest that can be used: %v", fault.Quote(n.Text), err), "save it anew with kir train")
	}
	if f.Unsealed() {
		s.warn(fmt.Sprintf("The forest in %s has no checksum, as earlier versions saved none: whether it was changed since is not known. kir train saves it anew.", fault.Quote(n.Text)))
	}
	if f.Total() != s.total {
		return nil, yaml.Hint(n.Errorf("the forest was grown for a total of %d units and the problem has %d", f.Total(), s.total), "change the total, or grow it with kir train --total %d", s.total)
	}
	names := f.Ingredients()
	for k, name := range s.names {
		if k >= len(names) || names[k] != name {
			return nil, yaml.Hint(n.Errorf("the forest was grown on other ingredients: the problem's number %d is %s", k+1, fault.Quote(name)), "%s", growAnew(s.table))
		}
	}
	if len(names) != len(s.names) {
		return nil, yaml.Hint(n.Errorf("the forest was grown on %d ingredients and the problem has %d", len(names), len(s.names)), "%s", growAnew(s.table))
	}
	return f, nil
}

// grownFrom returns what a forest from a file was grown from if that is the book,
// else nil, and a warning.
func grownFrom(ctx context.Context, s *shelf, f *forest.Forest) (*forest.Data, error) {
	if s.book == nil {
		return nil, nil
	}
	label, ok := s.book.Label(f.Label())
	if ok {
		data, err := forestData(s.book, label, s.total, f.Numeric(), nil)
		if err == nil {
			if ok, err = f.GrownFrom(ctx, data); err != nil || ok {
				return data, err
			}
		}
	}
	s.warn(fmt.Sprintf("The forest for %s was not grown from these recipes: they are not scored beside the shortlist, as nobody knows which of them it has seen, and what it promises is not checked.", f.Label()))
	return nil, nil
}

// growAnew says how to grow a forest that fits the problem, whose ingredients
// are in the table, if that is not empty.
func growAnew(table string) string {
	if table != "" {
		return "grow it with kir train --ingredients " + fault.Quote(table)
	}
	return "grow it on these recipes with kir train"
}
