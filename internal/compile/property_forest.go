package compile

import (
	"context"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/model"
	"kir/property"
)

var forestKind = propertyKind{
	PropertyKind:  config.ForestKind,
	compile:       compileAs(compileForest),
	compiledOnce:  true,
	hasDirections: true,
}

// compileForest makes a property that scores a label by a random forest.
func compileForest(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (Property, error) {
	if s.learnsLater && v.File == nil {
		return compileLearning(s, n, &v.Objective, config.LabelNumbers{}, v.Add)
	}
	f, err := forestFor(ctx, s, v, n)
	if err != nil {
		return Property{}, err
	}
	want, at, least := wantOf(&v.Objective), v.AskedAt(), v.Floor.Value
	score, err := f.model.Score(want)
	if err != nil {
		return Property{}, wantError(at, f.model, err)
	}
	if err := checkLabelBounds(s, at, f.model, f.data, want); err != nil {
		return Property{}, err
	}
	f.resolved.Set("label", f.model.Label())
	f.resolved.Set("floor", least)
	f.resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "add")
	class := ""
	if !f.model.Numeric() {
		class = want.String()
	}
	known := newForestLearnt(f.model, f.data, f.recipes(s.Book), score, least).joinConditions(s.conditions())
	return Property{
		About:      f.model.Label() + " " + want.String() + f.words,
		Model:      f.model,
		Unit:       UnitOf(f.model),
		Class:      class,
		learnt:     known,
		valueScale: func() (*valueScale, error) { return forestScale(f.model, known) },
		property:   known.wrap(property.NewForest(score, least)),
		resolved:   f.resolved,
	}, nil
}

// A grownForest is the forest of a property, grown from the known recipes or loaded from a file.
type grownForest struct {
	model    *model.Forest
	data     *model.Data // training data; nil if a file's forest was grown from other recipes
	words    string      // description of the added features
	resolved yaml.Map    // keys of how it was made, with defaults filled in
}

// recipes returns, by row of the training data, the index of the recipe in the book.
func (f *grownForest) recipes(book *dataset.Book) []int {
	if f.data == nil {
		return nil
	}
	label, _ := book.Label(f.model.Label())
	return recipesWith(label)
}

// forestFor loads the forest of a property, or grows it.
func forestFor(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (*grownForest, error) {
	if v.File != nil {
		return loadGrownForest(ctx, s, v)
	}
	return growForest(ctx, s, v, n)
}

// growForest grows the forest of a property from the known recipes.
func growForest(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (*grownForest, error) {
	features, words, err := compileAddedFeatures(s, v.Add)
	if err != nil {
		return nil, err
	}
	o, err := forestOptions(s, v, features)
	if err != nil {
		return nil, err
	}
	if s.Book == nil {
		return nil, yaml.Hint(n.Errorf("a forest is grown from recipes, and the problem has none"), "add recipes: a CSV file, or load a forest with file")
	}
	label, err := labelNamed(s, n, v.Label)
	if err != nil {
		return nil, err
	}
	if !v.HasNumbers() {
		if err := checkFewClasses(v.Want.At, label); err != nil {
			return nil, err
		}
	}
	data, err := forestData(s, s.Book, label, s.Total, v.HasNumbers(), features)
	if err != nil {
		return nil, v.Label.At.PlaceError(err)
	}
	grown, err := s.modelCache.grow(ctx, data, o)
	if err != nil {
		return nil, v.Label.At.PlaceError(err)
	}
	f := &grownForest{model: grown, data: data, words: words}
	used := grown.Options()
	f.resolved.Set("trees", used.Trees)
	f.resolved.Set("splits", used.Splits.String())
	f.resolved.Set("features", used.FeaturesPerSplit)
	f.resolved.Set("leaf", used.SmallestLeaf)
	f.resolved.Set("seed", used.Seed)
	return f, nil
}

// forestOptions returns the options for growing a forest whose splits test some features, or the amounts if
// there are none.
func forestOptions(s *readContext, v *config.Forest, features []model.Feature) (model.Options, error) {
	o := model.Options{Trees: 100, Splits: splitsOf(v), SmallestLeaf: v.Leaf.Value, Seed: v.Seed.Or(1), Importances: true, Workers: s.workers}
	if v.IsExtreme() && o.Splits == model.BestSplits {
		o.Trees = directedTrees
	}
	o.Trees = v.Trees.Or(o.Trees)
	if v.Features == nil {
		return o, nil
	}
	var err error
	o.FeaturesPerSplit, err = v.Features.Whole("features", 1, max(len(features), len(s.Names)))
	return o, err
}

// splitsOf returns how splits are made. The default is random splits. If features is given without splits,
// it is best splits, because older problem files were written that way.
func splitsOf(v *config.Forest) model.Splits {
	if v.Splits.Value == model.BestSplits.String() || v.Splits.At == nil && v.Features != nil {
		return model.BestSplits
	}
	return model.RandomSplits
}
