package problem

import (
	"context"
	"math"
	"slices"
	"strings"

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

	// Value returns the value of a composition in a unit of its own, such as a mean or a model's number,
	// and a description of the constants at which it is reached. It is nil if the property has no such
	// value.
	Value func(x *mcmc.Composition) (v float64, at string)
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

	learnt        *learntModel                      // the learnt model; else nil
	valueScale    func() (*valueScale, error)       // returns the value scale, if it is not the score itself; else nil; see valueScaleOf
	classChance   func(x *mcmc.Composition) float64 // chance of the wanted class by an imported model; else nil
	subObjectives []subObjective                    // figures that can be objectives of their own
	property      mcmc.Property
	command       *Command   // command of a program; else nil
	at            *yaml.Node // node under the kind
	resolved      any        // value under the kind, with defaults filled in
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
		return w.learnt.probability(x.Amounts())
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

// floorKey returns the key of the least score.
func floorKey(example string) schema.Key {
	return newKey("floor", schema.Between(0, 1), "0", "the least score", example)
}

// readFloor reads the least score, 0 by default.
func readFloor(f fields) (float64, error) {
	v := f["floor"]
	if v == nil {
		return 0, nil
	}
	least, err := v.Weight("the floor")
	if err == nil && least > 1 {
		err = yaml.Hint(v.Errorf("the floor is %v", least), "it is the least score, from 0 to 1")
	}
	return least, err
}

// readProperties reads the properties, and returns those without errors. If it returns an error, the caller
// must close the returned properties.
func readProperties(ctx context.Context, s *loader, n *yaml.Node) (all []Property, err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, s.diagnostics.Add(yaml.Hint(n.Errorf("properties are %s", n.Describe()), "write a name and a property each, such as taste: {forest: {label: taste, want: Fresh}}"))
	}
	for _, e := range n.Entries {
		name := dataset.NormalizeName(e.Key.Text)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			_ = s.diagnostics.Add(yaml.Hint(e.Key.Errorf("%s is no name for a property", inputerr.Quote(e.Key.Text)), "give it a name of one line"))
		}
		if slices.Contains(schema.Reserved(), name) {
			_ = s.diagnostics.Add(yaml.Hint(e.Key.Errorf("a property cannot be called %s", inputerr.Quote(name)), "the draws have a column of that name: choose another"))
		}
		var p Property
		first, before := true, len(s.diagnostics.All)
		err := s.diagnostics.Collect(e.Value, func(n *yaml.Node) (err error) {
			if !first && p.Kind != "" && s.kinds.property(p.Kind).readOnce {
				return nil
			}
			first = false
			p, err = readProperty(ctx, &s.readContext, name, n)
			return err
		})
		if err != nil {
			return all, err
		}
		if len(s.diagnostics.All) == before {
			all = append(all, p)
		}
	}
	return all, nil
}

// readProperty reads one property.
func readProperty(ctx context.Context, s *readContext, name string, n *yaml.Node) (Property, error) {
	section := s.kinds.schema().Property()
	f, err := section.Fields(n)
	if err != nil {
		return Property{}, err
	}
	weight := 1.0
	if w := f["weight"]; w != nil {
		if weight, err = w.Weight("the weight"); err != nil {
			return Property{}, err
		}
		delete(f, "weight")
	}
	if len(f) != 1 {
		return Property{}, yaml.Hint(n.Errorf("property %s names %s", inputerr.Quote(name), inputerr.Count(len(f), "kind")), "name one of %s", strings.Join(section.ExactlyOneOf, ", "))
	}
	var kind *propertyKind
	var v *yaml.Node
	for name, at := range f {
		kind, v = s.kinds.property(name), at
	}
	if s.Total > schema.MaxSplits && kind.scoredBySplit != nil && kind.scoredBySplit(v) {
		return Property{}, yaml.Hint(v.Errorf("%s is scored at each of the ways to share two ingredients' units, too many with a total of %d", inputerr.Quote(name), s.Total), "take a total of at most %d", schema.MaxSplits)
	}
	s.reportProgress("reading the property %s", inputerr.Quote(name))
	p, err := kind.readAt(ctx, s, v)
	p.Name, p.Kind, p.Weight, p.at = name, kind.Name, weight, v
	return p, err
}

// readAt reads the value under the key of a kind.
func (k *propertyKind) readAt(ctx context.Context, s *readContext, n *yaml.Node) (p Property, err error) {
	var f fields
	if n.Kind == yaml.Mapping || !k.allowsText {
		if f, err = k.sections()[0].Fields(n); err != nil {
			return p, err
		}
	}
	if k.read != nil {
		return k.read(ctx, s, n, f)
	}
	v := k.New()
	if err := v.Decode(n); err != nil {
		return p, err
	}
	return k.compile(ctx, s, v, n)
}
