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

// learntTrees is the number of trees in a forest of a learnt model. With random splits, more trees make no
// difference on held-out rows.
const learntTrees = 100

var learnKind = propertyKind{
	PropertyKind:  config.LearnKind,
	compile:       compileAs(compileLearn),
	hasDirections: true,
}

var processKind = propertyKind{
	PropertyKind:  config.ProcessKind,
	compile:       compileAs(compileProcess),
	hasDirections: true,
}

// compileLearn makes a property of the best model of a label that the known recipes allow.
func compileLearn(ctx context.Context, s *readContext, v *config.Learn, n *yaml.Node) (Property, error) {
	if v.File != nil {
		return loadLearnt(ctx, s, v, n)
	}
	if s.learnsLater {
		return compileLearning(s, n, &v.Objective, v.LabelNumbers, config.Written[config.AddedFeatures]{})
	}
	o := learnOptions(s, model.Best)
	o.Forest.Trees, o.Forest.Seed = v.Trees.Or(o.Forest.Trees), v.Seed.Or(o.Forest.Seed)
	if s.Book != nil {
		o.Features = FeatureSets(s.Book.Ingredients, s.Total)
		for k := range o.Features {
			o.Features[k].Features = s.conditionTable.withFeatures(o.Features[k].Features, len(s.Names))
		}
	}
	return learnLabel(ctx, s, n, &v.Objective, v.LabelNumbers, o)
}

// compileProcess makes a property of a Gaussian process that learns a label of the known recipes.
func compileProcess(ctx context.Context, s *readContext, v *config.Process, n *yaml.Node) (Property, error) {
	if s.learnsLater {
		return compileLearning(s, n, &v.Objective, v.LabelNumbers, config.Written[config.AddedFeatures]{})
	}
	return learnLabel(ctx, s, n, &v.Objective, v.LabelNumbers, learnOptions(s, model.ProcessAlone))
}

// learnOptions returns the default options for learning a label.
func learnOptions(s *readContext, kind model.Kind) model.LearnOptions {
	return model.LearnOptions{Kind: kind, Forest: model.Options{Trees: learntTrees, Seed: 1, Importances: true, Workers: s.workers}}
}

// learnLabel learns a label from the known recipes, and makes a property of the model.
func learnLabel(ctx context.Context, s *readContext, n *yaml.Node, objective *config.Objective, numbers config.LabelNumbers, o model.LearnOptions) (Property, error) {
	label, err := labelNamed(s, n, objective.Label)
	if err != nil {
		return Property{}, err
	}
	if !objective.HasNumbers() {
		if err := checkFewClasses(objective.Want.At, label); err != nil {
			return Property{}, err
		}
	}
	words := numbers.Failed.Value
	data, recipes, failed, err := labelledData(s, s.Book, label, s.Total, objective.HasNumbers(), words)
	if err != nil {
		return Property{}, objective.Label.At.PlaceError(err)
	}
	o.Log, o.Failed = numbers.Log.Value, failed
	if data.SD, err = s.standardDeviations(numbers.SD, recipes); err != nil {
		return Property{}, err
	}
	m, err := s.modelCache.learn(ctx, data, o)
	if err != nil {
		return Property{}, objective.Label.At.PlaceError(err)
	}
	warnFailures(s, label, words, data, failed)
	p, err := learntProperty(s, m, data, recipes, objective)
	if err != nil {
		return Property{}, err
	}
	p.resolved = resolvedLearnt(n, label.Name, m, o, objective.Floor.Value)
	return p, nil
}

// resolvedLearnt returns the mapping at a node of a model learnt from the known recipes, with defaults filled
// in.
func resolvedLearnt(n *yaml.Node, label string, m *model.Learned, o model.LearnOptions, least float64) (resolved yaml.Map) {
	resolved.Set("label", label)
	if o.Kind == model.Best {
		resolved.Set("trees", o.Forest.Trees)
		resolved.Set("seed", o.Forest.Seed)
	}
	if m.Numeric() {
		resolved.Set("log", o.Log)
	}
	resolved.Set("floor", least)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "sd", "failed")
	return resolved
}

// learntProperty returns the property of a learnt model.
func learntProperty(s *readContext, m *model.Learned, data *model.Data, recipes []int, objective *config.Objective) (Property, error) {
	want, at, least := wantOf(objective), objective.AskedAt(), objective.Floor.Value
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
	known := newLearnt(m, data, recipes, score, least).joinConditions(s.conditions())
	return Property{
		About:      describeLearnt(m, want),
		Model:      m,
		Unit:       UnitOf(m),
		Class:      class,
		learnt:     known,
		valueScale: func() (*valueScale, error) { return learntScale(m, known) },
		property:   known.wrap(property.NewLearned(score, least)),
	}, nil
}

// describeLearnt describes the objective of a learnt model.
func describeLearnt(m *model.Learned, want model.Want) string {
	text := m.Label() + " " + want.String()
	if m.Options().Log {
		text += ", by its logarithm"
	}
	return text
}

// newLearnt returns the learntModel of a model, with which its predictions are checked.
func newLearnt(m *model.Learned, data *model.Data, recipes []int, score *model.LearnedScore, least float64) *learntModel {
	return &learntModel{
		data: data, recipes: recipes,
		want: score.Want(),
		heldOut: func() ([]float64, error) {
			scores := score.HeldOut()
			for r := range scores {
				scores[r] = math.Max(least, scores[r]) // NaN stays NaN
			}
			return scores, nil
		},
		predicted: func() ([]model.Prediction, error) {
			if !m.Numeric() {
				return nil, nil
			}
			return m.HeldOut(), nil
		},
		probability:   score.Stated,
		heldOutStated: func() ([]float64, error) { return score.HeldOutStated(), nil },
		calibrate:     func() (*model.Calibration, error) { return score.Calibrated(), nil },
		relearn: func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			again, err := m.Refit(ctx, part)
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
			return property.NewLearned(of, least), nil
		},
	}
}

// UnitOf returns the unit in the name of a model's label; empty if it has none or is not numeric.
func UnitOf(m Predictor) string {
	if !m.Numeric() {
		return ""
	}
	_, unit := dataset.SplitHeaderUnit(m.Label())
	return unit
}

// Learn learns a label of a book's recipes from their amounts, closed to total units. The label has classes
// or numbers. sd is the label with the standard deviations of the numbers, or nil. Recipes whose value is
// among words, or always means failure, count as failed.
func Learn(ctx context.Context, b *dataset.Book, label, sd *dataset.Label, total int, numeric bool, words []string, o model.LearnOptions) (*model.Learned, error) {
	data, recipes, failed, err := labelledData(nil, b, label, total, numeric, words)
	if err != nil {
		return nil, err
	}
	if sd != nil {
		if data.SD, err = standardDeviations(sd, recipes); err != nil {
			return nil, err
		}
	}
	o.Failed = failed
	if o.Kind == model.Best {
		o.Features = FeatureSets(b.Ingredients, total)
	}
	return model.Learn(ctx, data, o)
}
