package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// LearnKind is the kind of property that the best model of a label predicts.
var LearnKind = PropertyKind{
	Key: schema.NewKey("learn", schema.Link("learn"), "", "predicts a label by the best model for the data", "{learn: {label: taste, want: Fresh}}"),
	New: func() Value { return new(Learn) },
}

// A Learn is the value of a property that the best of several models predicts. It has one of these forms:
//
//	learn: {label: taste, want: Fresh, trees: 200}
//	learn: {label: stars, maximize: true, log: true, sd: stars sd, failed: curdled}
//	learn: {file: taste.model, want: Fresh}
type Learn struct {
	Objective
	LabelNumbers
	Trees Written[int]
	Seed  Written[uint64]
	File  *yaml.Node // name of a file with a model; nil if the model is learnt from the recipes
}

// Sections implements [Value].
func (l *Learn) Sections() schema.Sections {
	return schema.Sections{{
		Name: "what is learnt", ID: "learn",
		About: "`learn` needs a label and one goal: `want`, bounds, `maximize` or `minimize`. [models.md](models.md#what-is-learnt) describes the models.",
		Keys: append(append(l.labelObjectiveKeys("{label: taste, want: Fresh}", "{label: taste, want: [Fresh, Sour]}"), l.LabelNumbers.describeKeys()...),
			newTreesKey(&l.Trees, "100", "number of trees"),
			newFloorKey(&l.Floor, "{label: taste, want: Fresh, floor: 0.01}"),
			newSeedKey(&l.Seed),
			newKey("file", schema.Text("file"), "kir learns a model", "model file of `kir train`", "{file: taste.model, want: Fresh}", nodeReader(&l.File)),
		),
		AtLeastOneOf: []string{"label", "file"},
		ExactlyOneOf: []string{"want", "at_least at_most", "between", "maximize", "minimize"},
		Excludes:     map[string]string{"want": "log sd failed", "file": "log sd failed trees seed"},
	}}
}

// Decode implements [Value].
func (l *Learn) Decode(n *yaml.Node) error {
	if err := l.checkOneObjective(n); err != nil {
		return err
	}
	if at, name := firstExcludedKey(n, "want", "log", "sd", "failed"); at != nil {
		return yaml.Hint(at.Errorf("%s is of numbers, and a class is wanted", name), "remove it, or ask for bounds, maximize or minimize")
	}
	if at, name := firstExcludedKey(n, "file", "trees", "seed", "log", "sd", "failed"); at != nil {
		return yaml.Hint(at.Errorf("a model from a file is learnt already: %s has no effect", name), "remove it, or learn the model with kir train")
	}
	return l.Sections()[0].Decode(n)
}

// firstExcludedKey returns the first of keys that the mapping n has, and the value under that key. If n does
// not have the key otherKey, or none of keys, the results are nil and "".
func firstExcludedKey(n *yaml.Node, otherKey string, keys ...string) (*yaml.Node, string) {
	if n.Get(otherKey) == nil {
		return nil, ""
	}
	for _, name := range keys {
		if at := n.Get(name); at != nil {
			return at, name
		}
	}
	return nil, ""
}

// newTreesKey returns the description of the key "trees", the number of trees of a forest.
func newTreesKey(field *Written[int], missing, about string) schema.Key {
	return newKey("trees", schema.Integer(1, schema.MaxTrees), missing, about, "{label: taste, want: Fresh, trees: 200}", wholeReader(field, "trees", 1, schema.MaxTrees))
}

// newSeedKey returns the description of the key "seed", the seed of the random numbers of a forest.
func newSeedKey(field *Written[uint64]) schema.Key {
	return newKey("seed", schema.Seed(), "1", "seed of the forest", "{label: taste, want: Fresh, seed: 3}",
		decodingReader(field, func(n *yaml.Node) (uint64, error) { return n.Uint64("the seed") }))
}
