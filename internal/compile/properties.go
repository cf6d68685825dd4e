package compile

import (
	"context"
	"math"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// A Property is one of the properties of a problem. It is an objective, or it computes a value that rules
// limit.
type Property struct {
	Name   string
	Kind   string  // key of the kind of property in the file, such as "forest"
	Weight float64 // exponent c of the score y(x): the target probability of a composition x has the factor y(x)^c
	About  string  // description of the objective

	Model Predictor // model of a label, learnt from recipes or loaded; nil if there is none

	// Learning describes what a campaign must learn, if the problem is read for its campaign. The target then
	// does not have this property as an objective.
	Learning *Learning

	// Value returns the value of a composition, such as the mean of an attribute or the number that a model
	// predicts. Its unit is Unit. Value is nil if the property has only a score.
	Value func(x *mcmc.Composition) float64
	Unit  string // unit of Value; empty if unknown

	// Class describes the wanted classes if the property scores their probability, such as "Fresh or Sour".
	// It is empty for other properties.
	Class string

	// Figures are further numbers that are shown for a composition, such as the return and the volatility of
	// a portfolio. It is nil if there are none.
	Figures []Figure

	// Posterior is the result of learning a preference, that is, the posterior distribution. HeldOut tells how
	// well the preference predicts held-out pairs. Both are empty for other properties.
	Posterior *property.PreferencePosterior
	HeldOut   property.HeldOutAccuracy

	learntModel         *learntModel                      // model learnt from recipes; nil if there is none
	newValueScale       func() (*valueScale, error)       // returns the value scale; nil if the value is the score; see [valueScaleOf]
	importedClassChance func(x *mcmc.Composition) float64 // returns the probability of the wanted class by an imported model; nil if there is none
	figureObjectives    []Objective                       // figures that can be objectives of a trade-off; see [Objective.Figure]
	mcmcProperty        mcmc.Property                     // computes the score
	command             *Command                          // command of the program that computes the score; nil if there is none
	fileValue           config.Value                      // the property as the file writes it; nil for functions of Go code
	node                *yaml.Node                        // node under the key of the kind
	resolvedValue       any                               // the value under the key of the kind, with all defaults written out
}

// ScoresByHeldOut reports whether each known recipe is scored by models that have not learnt from that recipe.
// For a forest, these models are the trees that left out the recipe.
func (w *Property) ScoresByHeldOut() bool {
	return w.learntModel != nil && w.learntModel.trainingData != nil
}

// Calibration returns the calibration of the predicted class probabilities on held-out recipes. It returns nil
// if the model predicts numbers, or if it is unknown from which recipes the model has learnt.
func (w *Property) Calibration() (*model.Calibration, error) {
	if w.Class == "" || !w.ScoresByHeldOut() {
		return nil, nil
	}
	return w.learntModel.heldOutCalibration()
}

// ClassMembership returns 1 if the recipe with index r is in the wanted class, and 0 if it is in another class.
// It returns NaN if the recipe has no value of the label.
func (w *Property) ClassMembership(label *dataset.Label, r int) float64 {
	switch {
	case label.ClassOf[r] < 0:
		return math.NaN()
	case w.learntModel.wantedValues.Has(label.Value(r)):
		return 1
	}
	return 0
}

// Probability returns the probability that a composition has the wanted class, without the floor of the score.
// The property must have a wanted class.
func (w *Property) Probability(x *mcmc.Composition) float64 {
	if w.learntModel != nil {
		return w.learntModel.classProbability(w.learntModel.modelAmounts(x))
	}
	if w.importedClassChance != nil {
		return w.importedClassChance(x)
	}
	return portable.Exp(w.mcmcProperty.LogScore(x))
}

// A Predictor is a model that predicts a label: a [model.Forest] or a [model.LearnedModel].
type Predictor interface {
	Label() string
	Numeric() bool
	Classes() []string
	Rows() int
	Range() (smallest, largest float64)
	Quality() model.Quality
	Predict(x []int32) model.Prediction
}

// A Figure is a number that reports show for a composition in addition to the score of a property, such as the
// return of a portfolio.
type Figure struct {
	Name    string // name in reports; if empty, the name of the property is used
	Unit    string
	Percent bool                              // whether the number is a share that reports show in percent
	ValueOf func(x *mcmc.Composition) float64 // returns the number for a composition
}

// compileProperties compiles the properties of a file. It returns all properties without errors. If err is not
// nil, the caller must close the returned properties.
func compileProperties(ctx context.Context, s *loader, entries []*config.Entry[config.Property]) (all []Property, err error) {
	for _, e := range entries {
		kind := s.kinds.propertyKindNamed(e.Value.Kind)
		if kind == nil || kind.compiledOnce && e.HasErrors {
			continue
		}
		var p Property
		compiled, before := false, len(s.diagnostics.All)
		err := e.Compile(s.diagnostics, func(v config.Property) (err error) {
			if compiled && kind.compiledOnce {
				return nil
			}
			compiled = true
			p, err = compileProperty(ctx, &s.readContext, kind, v)
			return err
		})
		if err != nil {
			return all, err
		}
		if compiled && len(s.diagnostics.All) == before {
			all = append(all, p)
		}
	}
	return all, nil
}

// compileProperty compiles one property.
func compileProperty(ctx context.Context, s *readContext, kind *propertyKind, v config.Property) (Property, error) {
	if s.Total > schema.MaxSplits && kind.scoresEverySplit != nil && kind.scoresEverySplit(v.Value) {
		return Property{}, yaml.Hint(v.Node.Errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", inputerr.Quote(v.Name), s.Total), "take a total of at most %d", schema.MaxSplits)
	}
	s.reportProgress("reading the property %s", inputerr.Quote(v.Name))
	p, err := kind.compile(ctx, s, v.Value, v.Node)
	p.Name, p.Kind, p.Weight, p.fileValue, p.node = v.Name, v.Kind, v.Weight, v.Value, v.Node
	return p, err
}
