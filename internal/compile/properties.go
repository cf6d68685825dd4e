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

// A Property is one of the properties of a problem: an objective, or a value that limits refer to.
type Property struct {
	Name   string
	Kind   string  // the key of its kind, such as "forest"
	Weight float64 // exponent c: the target is multiplied by y(x)^c
	About  string  // description of the objective

	Model Predictor // model learnt from recipes or loaded; else nil

	// Learning says what there is to learn, if the problem is read for a campaign. The target then has no
	// objective for this property.
	Learning *Learning

	// Value returns the value of a composition in a unit of its own, such as a mean or a model's number. It is
	// nil if the property has no such value.
	Value func(x *mcmc.Composition) float64
	Unit  string // unit of the value; empty if unknown

	// Class describes the classes whose probability a model of classes scores, such as "Fresh or Sour". It
	// is empty for other properties.
	Class string

	// Figures are figures of a composition in units of their own, such as the return and the volatility of
	// a portfolio. nil if there are none.
	Figures []Figure

	// Posterior is what a preference has learnt, and HeldOut how well it predicts held-out pairs. They are
	// empty for other properties.
	Posterior *property.PreferencePosterior
	HeldOut   property.HeldOut

	learnt           *learntModel                      // the learnt model; else nil
	valueScale       func() (*valueScale, error)       // returns the value scale, if it is not the score itself; else nil; see valueScaleOf
	classChance      func(x *mcmc.Composition) float64 // chance of the wanted class by an imported model; else nil
	figureObjectives []Objective                       // figures that can be objectives of their own; see Objective.Figure
	property         mcmc.Property
	command          *Command     // command of a program; else nil
	written          config.Value // as the file has it; nil for functions of a program
	at               *yaml.Node   // node under the kind
	resolved         any          // value under the kind, with defaults filled in
}

// ScoresByHeldOut reports whether known recipes are scored by models that have not learnt from them, such
// as the trees of a forest that left a recipe out.
func (w *Property) ScoresByHeldOut() bool { return w.learnt != nil && w.learnt.data != nil }

// Calibration returns the calibration of a model's probabilities on held-out recipes. It returns nil if the
// model has no classes, or if it is unknown which recipes the model has learnt from.
func (w *Property) Calibration() (*model.Calibration, error) {
	if w.Class == "" || !w.ScoresByHeldOut() {
		return nil, nil
	}
	return w.learnt.heldOutCalibration()
}

// ClassMembership returns 1 if recipe r of the book is in the wanted class and 0 if not. It returns NaN
// without the label.
func (w *Property) ClassMembership(label *dataset.Label, r int) float64 {
	switch {
	case label.ClassOf[r] < 0:
		return math.NaN()
	case w.learnt.want.Has(label.Value(r)):
		return 1
	}
	return 0
}

// Probability returns the probability of the wanted class for a composition, by a model of classes and
// without the floor.
func (w *Property) Probability(x *mcmc.Composition) float64 {
	if w.learnt != nil {
		return w.learnt.probability(w.learnt.amounts(x))
	}
	if w.classChance != nil {
		return w.classChance(x)
	}
	return portable.Exp(w.property.LogScore(x))
}

// A Predictor is a model of a label: a [model.Forest] or a [model.Learned].
type Predictor interface {
	Label() string
	Numeric() bool
	Classes() []string
	Rows() int
	Range() (smallest, largest float64)
	Quality() model.Quality
	Predict(x []int32) model.Prediction
}

// A Figure is a number of a composition that a property is computed from.
type Figure struct {
	Name    string // empty: the property's name
	Unit    string
	Percent bool // a share, shown in percent
	Of      func(x *mcmc.Composition) float64
}

// compileProperties compiles the properties of a file, and returns those without errors. If it returns an error, the
// caller must close the returned properties.
func compileProperties(ctx context.Context, s *loader, entries []*config.Entry[config.Property]) (all []Property, err error) {
	for _, e := range entries {
		kind := s.kinds.property(e.Value.Kind)
		if kind == nil || kind.compiledOnce && e.Faulty {
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
		return Property{}, yaml.Hint(v.At.Errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", inputerr.Quote(v.Name), s.Total), "take a total of at most %d", schema.MaxSplits)
	}
	s.reportProgress("reading the property %s", inputerr.Quote(v.Name))
	p, err := kind.compile(ctx, s, v.Value, v.At)
	p.Name, p.Kind, p.Weight, p.written, p.at = v.Name, v.Kind, v.Weight, v.Value, v.At
	return p, err
}
