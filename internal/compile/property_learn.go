package compile

import (
	"context"
	"math"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// learntForestTrees is the default number of trees in the forest of a learnt model. With random splits, more
// trees do not improve the predictions of held-out rows.
const learntForestTrees = 100

// learnKind is the kind of property that the best of several models predicts.
var learnKind = propertyKind{
	PropertyKind:  config.LearnKind,
	compile:       withValueType(compileLearn),
	hasDirections: true,
}

// processKind is the kind of property that a Gaussian process predicts.
var processKind = propertyKind{
	PropertyKind:  config.ProcessKind,
	compile:       withValueType(compileProcess),
	hasDirections: true,
}

// compileLearn makes a property that scores the prediction of a label. It learns several models, and uses the
// one that predicts the known recipes best.
func compileLearn(ctx context.Context, s *readContext, v *config.Learn, n *yaml.Node) (Property, error) {
	if v.File != nil {
		return loadLearntProperty(ctx, s, v, n)
	}
	if s.defersLearning {
		return compileLearning(s, n, &v.Objective, v.LabelNumbers, config.Written[config.AddedFeatures]{})
	}
	o := defaultLearnOptions(s, model.BestKind)
	o.Forest.Trees, o.Forest.Seed = v.Trees.Or(o.Forest.Trees), v.Seed.Or(o.Forest.Seed)
	if s.Book != nil {
		o.Features = FeatureSets(s.Book.Ingredients, s.Total)
		for k := range o.Features {
			o.Features[k].Features = s.conditionTable.withCodeFeatures(o.Features[k].Features, len(s.IngredientNames))
		}
	}
	return learnLabel(ctx, s, n, &v.Objective, v.LabelNumbers, o)
}

// compileProcess makes a property that scores the prediction of a label by a Gaussian process. The process is
// learnt from the known recipes.
func compileProcess(ctx context.Context, s *readContext, v *config.Process, n *yaml.Node) (Property, error) {
	if s.defersLearning {
		return compileLearning(s, n, &v.Objective, v.LabelNumbers, config.Written[config.AddedFeatures]{})
	}
	return learnLabel(ctx, s, n, &v.Objective, v.LabelNumbers, defaultLearnOptions(s, model.ProcessAlone))
}

// defaultLearnOptions returns the default options for learning a label.
func defaultLearnOptions(s *readContext, kind model.ModelKind) model.LearnOptions {
	return model.LearnOptions{Kind: kind, Forest: model.Options{Trees: learntForestTrees, Seed: 1, Importances: true, Workers: s.workerCount}}
}

// learnLabel learns a label from the known recipes, and makes a property that scores the prediction.
func learnLabel(ctx context.Context, s *readContext, n *yaml.Node, objective *config.Objective, numbers config.LabelNumbers, o model.LearnOptions) (Property, error) {
	label, err := labelNamed(s, n, objective.Label)
	if err != nil {
		return Property{}, err
	}
	if !objective.HasNumbers() {
		if err := refuseNumbersAsClasses(objective.Want.Node, label); err != nil {
			return Property{}, err
		}
	}
	words := numbers.Failed.Value
	data, recipes, failed, err := labelledData(s, s.Book, label, s.Total, objective.HasNumbers(), words)
	if err != nil {
		return Property{}, objective.Label.Node.PlaceError(err)
	}
	o.Log, o.Failed = numbers.Log.Value, failed
	if data.SD, err = s.readStandardDeviations(numbers.SD, recipes); err != nil {
		return Property{}, err
	}
	m, err := s.modelCache.learn(ctx, data, o)
	if err != nil {
		return Property{}, objective.Label.Node.PlaceError(err)
	}
	warnFailures(s, label, words, data, failed)
	p, err := learntProperty(s, m, data, recipes, objective)
	if err != nil {
		return Property{}, err
	}
	p.resolvedValue = resolvedLearnYAML(n, label.Name, m, o, objective.Floor.Value)
	return p, nil
}

// resolvedLearnYAML returns the mapping under the key of the kind, with all defaults written out, for a model
// that was learnt from the known recipes. The parameter floor is the minimum of the score.
func resolvedLearnYAML(n *yaml.Node, label string, m *model.LearnedModel, o model.LearnOptions, floor float64) (resolved yaml.Map) {
	resolved.Set("label", label)
	if o.Kind == model.BestKind {
		resolved.Set("trees", o.Forest.Trees)
		resolved.Set("seed", o.Forest.Seed)
	}
	if m.Numeric() {
		resolved.Set("log", o.Log)
	}
	resolved.Set("floor", floor)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "sd", "failed")
	return resolved
}

// learntProperty returns the property that scores the predictions of a learnt model. Row k of data is the known
// recipe with index recipes[k].
func learntProperty(s *readContext, m *model.LearnedModel, data *model.Data, recipes []int, objective *config.Objective) (Property, error) {
	want, at, least := modelWant(objective), objective.ObjectiveNode(), objective.Floor.Value
	score, err := m.Score(want)
	if err != nil {
		return Property{}, wantError(at, m, err)
	}
	if err := checkLabelBounds(s, at, m, data, want); err != nil {
		return Property{}, err
	}
	class := ""
	if !m.Numeric() {
		class = want.String()
	}
	known := newLearntModel(m, data, recipes, score, least).withConditions(s.offeredConditionEncoder())
	return Property{
		About:         describeLearnt(m, want),
		Model:         m,
		Unit:          UnitOf(m),
		Class:         class,
		learntModel:   known,
		newValueScale: func() (*valueScale, error) { return learntValueScale(m, known) },
		mcmcProperty:  known.wrapProperty(property.NewLearned(score, least)),
	}, nil
}

// describeLearnt returns a description of the objective of a learnt model.
func describeLearnt(m *model.LearnedModel, want model.Want) string {
	text := m.Label() + " " + want.String()
	if m.Options().Log {
		text += ", by its logarithm"
	}
	return text
}

// newLearntModel returns the learntModel of a model of type [model.LearnedModel], which kir has chosen or
// loaded. The parameter floor is the minimum of the score.
func newLearntModel(m *model.LearnedModel, data *model.Data, recipes []int, score *model.LearnedScore, floor float64) *learntModel {
	return &learntModel{
		trainingData: data, recipeByRow: recipes,
		wantedValues: score.Want(),
		heldOutRowScores: func() ([]float64, error) {
			scores := score.HeldOut()
			for r := range scores {
				scores[r] = math.Max(floor, scores[r]) // NaN stays NaN
			}
			return scores, nil
		},
		heldOutPredictions: func() ([]model.Prediction, error) {
			if !m.Numeric() {
				return nil, nil
			}
			return m.HeldOut(), nil
		},
		classProbability:     score.UncalibratedAt,
		heldOutProbabilities: func() ([]float64, error) { return score.HeldOutUncalibrated(), nil },
		calibrate:            func() (*model.Calibration, error) { return score.Calibration(), nil },
		relearn: func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			again, err := m.RefitTo(ctx, part)
			if err != nil {
				return nil, err
			}
			want := score.Want()
			if len(data.Numbers) > 0 {
				want = want.WithScale(finiteRange(data.Numbers))
			}
			of, err := again.Score(want)
			if err != nil {
				return nil, err
			}
			return property.NewLearned(of, floor), nil
		},
	}
}

// UnitOf returns the unit in the name of the label that m predicts. It returns "" if the name has no unit or if
// the label has classes.
func UnitOf(m Predictor) string {
	if !m.Numeric() {
		return ""
	}
	_, unit := dataset.SplitHeaderUnit(m.Label())
	return unit
}

// Learn learns a label of recipes from the amounts of their ingredients, scaled to total units. If numeric is
// true, the label has numbers, otherwise classes. The parameter sd is the label with the standard deviations of
// the numbers, or nil. A recipe counts as failed if its value is one of failureWords or a word that always
// means failure.
func Learn(ctx context.Context, b *dataset.Book, label, sd *dataset.Label, total int, numeric bool, failureWords []string, o model.LearnOptions) (*model.LearnedModel, error) {
	data, recipes, failed, err := labelledData(nil, b, label, total, numeric, failureWords)
	if err != nil {
		return nil, err
	}
	if sd != nil {
		if data.SD, err = labelStandardDeviations(sd, recipes); err != nil {
			return nil, err
		}
	}
	o.Failed = failed
	if o.Kind == model.BestKind {
		o.Features = FeatureSets(b.Ingredients, total)
	}
	return model.Learn(ctx, data, o)
}
