package problem

import (
	"kir/internal/problem/yaml"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// A Property is one of the problem's wishes.
type Property struct {
	Name   string
	Kind   string  // the key that names it, such as "forest"
	Weight float64 // c: the target is multiplied by y(x)^c
	About  string  // what it wishes for, in words

	Model Predictor // what was learnt from recipes, or loaded; else nil

	// Value is of a model of a number: what it says of a composition, in its own unit,
	// and at which values of the constants that are tried, in words; else nil.
	Value func(x *mcmc.Composition) (v float64, at string)

	// Taste and HeldOut are of a preference: what was learnt, and how well it tells
	// pairs that it has not learnt from; else nil and nothing.
	Taste   *property.Taste
	HeldOut property.HeldOut

	learnt   *learnt // of what was learnt
	property mcmc.Property
	resolved any // what stands under the kind, with defaults written out
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

// floor reads the least score, 0 if there is none.
func floor(f map[string]*yaml.Node) (float64, error) {
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
