package compile

import (
	"context"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/model"
	"kir/property"
)

// forestKind is the kind of property that a random forest predicts.
var forestKind = propertyKind{
	PropertyKind:  config.ForestKind,
	compile:       withValueType(compileForest),
	compiledOnce:  true,
	hasDirections: true,
}

// compileForest makes a property that scores the prediction of a random forest for a label.
func compileForest(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (Property, error) {
	if s.defersLearning && v.File == nil {
		return compileLearning(s, n, &v.Objective, config.LabelNumbers{}, v.Add)
	}
	f, err := loadOrGrowForest(ctx, s, v, n)
	if err != nil {
		return Property{}, err
	}
	want, at, least := modelWant(&v.Objective), v.ObjectiveNode(), v.Floor.Value
	score, err := f.model.Score(want)
	if err != nil {
		return Property{}, wantError(at, f.model, err)
	}
	if err := checkLabelBounds(s, at, f.model, f.trainingData, want); err != nil {
		return Property{}, err
	}
	f.resolvedYAML.Set("label", f.model.Label())
	f.resolvedYAML.Set("floor", least)
	f.resolvedYAML.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "add")
	class := ""
	if !f.model.Numeric() {
		class = want.String()
	}
	known := newForestLearntModel(f.model, f.trainingData, f.recipeByRow(s.Book), score, least).withConditions(s.offeredConditionEncoder())
	return Property{
		About:         f.model.Label() + " " + want.String() + f.featureText,
		Model:         f.model,
		Unit:          UnitOf(f.model),
		Class:         class,
		learntModel:   known,
		newValueScale: func() (*valueScale, error) { return forestValueScale(f.model, known) },
		mcmcProperty:  known.wrapProperty(property.NewForest(score, least)),
		resolvedValue: f.resolvedYAML,
	}, nil
}

// A grownForest is the forest of a property. It was grown from the known recipes or loaded from a file.
type grownForest struct {
	model        *model.Forest
	trainingData *model.Data // training data; nil if the forest was loaded and was grown from other recipes
	featureText  string      // description of the features that the file adds, in words
	resolvedYAML yaml.Map    // mapping under the key "forest", with all defaults written out
}

// recipeByRow returns one item for each row of the training data: the index in the book of the recipe in that
// row.
func (f *grownForest) recipeByRow(book *dataset.Book) []int {
	if f.trainingData == nil {
		return nil
	}
	label, _ := book.Label(f.model.Label())
	return recipesWithLabel(label)
}

// loadOrGrowForest returns the forest of a property. It loads the forest if the property names a file, and
// grows it otherwise.
func loadOrGrowForest(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (*grownForest, error) {
	if v.File != nil {
		return loadGrownForest(ctx, s, v)
	}
	return growPropertyForest(ctx, s, v, n)
}

// growPropertyForest grows the forest of a property from the known recipes.
func growPropertyForest(ctx context.Context, s *readContext, v *config.Forest, n *yaml.Node) (*grownForest, error) {
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
		if err := refuseNumbersAsClasses(v.Want.Node, label); err != nil {
			return nil, err
		}
	}
	data, err := forestData(s, s.Book, label, s.Total, v.HasNumbers(), features)
	if err != nil {
		return nil, v.Label.Node.PlaceError(err)
	}
	grown, err := s.modelCache.grow(ctx, data, o)
	if err != nil {
		return nil, v.Label.Node.PlaceError(err)
	}
	f := &grownForest{model: grown, trainingData: data, featureText: words}
	used := grown.Options()
	f.resolvedYAML.Set("trees", used.Trees)
	f.resolvedYAML.Set("splits", used.Splits.String())
	f.resolvedYAML.Set("features", used.FeaturesPerSplit)
	f.resolvedYAML.Set("leaf", used.SmallestLeaf)
	f.resolvedYAML.Set("seed", used.Seed)
	return f, nil
}

// forestOptions returns the options for growing the forest of a property. The parameter features has the
// features that the forest tests; nil means the amounts.
func forestOptions(s *readContext, v *config.Forest, features []model.Feature) (model.Options, error) {
	o := model.Options{Trees: 100, Splits: splitKind(v), SmallestLeaf: v.Leaf.Value, Seed: v.Seed.Or(1), Importances: true, Workers: s.workerCount}
	if v.IsExtreme() && o.Splits == model.BestSplits {
		o.Trees = extremeForestTrees
	}
	o.Trees = v.Trees.Or(o.Trees)
	if v.Features == nil {
		return o, nil
	}
	var err error
	o.FeaturesPerSplit, err = v.Features.Whole("features", 1, max(len(features), len(s.IngredientNames)))
	return o, err
}

// splitKind returns how the splits of a forest are chosen: at random by default. If the file has the key
// "features" but not the key "splits", the best splits are chosen, because older problem files mean that.
func splitKind(v *config.Forest) model.Splits {
	if v.Splits.Value == model.BestSplits.String() || v.Splits.Node == nil && v.Features != nil {
		return model.BestSplits
	}
	return model.RandomSplits
}
