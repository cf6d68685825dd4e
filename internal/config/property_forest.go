package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ForestKind is the kind of property that a random forest predicts.
var ForestKind = PropertyKind{
	Key: schema.NewKey("forest", schema.Link("forest"), "", "predicts a label by a random forest", "{forest: {label: taste, want: Fresh}}"),
	New: func() Value { return new(Forest) },
}

// A Forest is the value of a property that a random forest predicts. It has one of these forms:
//
//	forest: {label: taste, want: Fresh, splits: best, features: 3, add: {totals: family}}
//	forest: {file: taste.forest, want: Fresh}
type Forest struct {
	Objective
	Trees    Written[int]
	Splits   Written[string] // how the splits of the trees are chosen: "random" or "best"
	Features *yaml.Node      // YAML node with the number of features that are tried at each split of a tree; its maximum depends on the problem's data
	Leaf     Written[int]    // minimum number of recipes in a leaf
	Seed     Written[uint64]
	Add      Written[AddedFeatures]
	File     *yaml.Node // name of a file with a forest; nil if the forest is grown from the recipes
}

// Sections implements [Value].
func (f *Forest) Sections() schema.Sections {
	return schema.Sections{
		{
			Name: "a forest", ID: "forest",
			About: "`forest` needs a label or a file, and one goal: `want`, bounds, `maximize` or `minimize`.",
			Keys: append(f.labelObjectiveKeys("{label: taste, want: Fresh}", "{label: taste, want: [Fresh, Sour]}"),
				newTreesKey(&f.Trees, "100; 300 with best splits to maximize or minimize", "number of trees"),
				newKey("splits", schema.Choice("random", "best"), "`random`; `best` if `features` is given", "thresholds that a split tries for each feature: one drawn at random (`random`), or all (`best`)", "{label: taste, want: Fresh, splits: best}", decodingReader(&f.Splits, decodeSplits)),
				newKey("features", schema.Integer(1, schema.MaxIngredients), "√F (at least 10) for classes, all for numbers. With best splits: √F for classes, F/3 for numbers", "number of features that a split tries; F is the number of all features", "{label: taste, want: Fresh, features: 3}", nodeReader(&f.Features)),
				newKey("leaf", schema.Integer(1, 1<<30), "1; 5 for numbers with best splits", "least number of recipes in a leaf", "{label: taste, want: Fresh, leaf: 2}", wholeReader(&f.Leaf, "leaf", 1, 1<<30)),
				newFloorKey(&f.Floor, "{label: taste, want: Fresh, floor: 0.01}"),
				newSeedKey(&f.Seed),
				newKey("add", schema.Link("added features"), "none", "features of recipes besides the amounts", "{label: taste, want: Fresh, add: {totals: family}}", decodingReader(&f.Add, decodeAddedFeatures)),
				newKey("file", schema.Text("file"), "kir grows a forest", "forest file of `kir train`", "{file: taste.forest, want: Fresh}", nodeReader(&f.File)),
			),
			ExactlyOneOf: []string{"want", "at_least at_most", "between", "maximize", "minimize"},
			AtLeastOneOf: []string{"label", "file"},
			Excludes:     map[string]string{"file": "trees splits features leaf seed add"},
		},
		f.Add.Value.describeKeys(),
	}
}

// Decode implements [Value].
func (f *Forest) Decode(n *yaml.Node) error {
	if err := f.checkOneObjective(n); err != nil {
		return err
	}
	if at, name := firstExcludedKey(n, "file", "trees", "splits", "features", "leaf", "seed", "add"); at != nil {
		return yaml.Hint(at.Errorf("a forest from a file is grown already: %s has no effect", name), "remove it, or grow the forest with kir train")
	}
	return f.Sections()[0].Decode(n)
}

func decodeSplits(n *yaml.Node) (string, error) {
	if n.Kind != yaml.Text || n.Text != "random" && n.Text != "best" {
		return "", yaml.Hint(n.Errorf("splits are %s", n.Describe()), "write random or best")
	}
	return n.Text, nil
}
