package compile

import (
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/inputerr"
)

// A modelOutput is the output of an imported model that a property scores.
type modelOutput struct {
	name          string
	classText     string                       // description of the wanted classes; empty for a number
	isProbability bool                         // whether the value is the probability of the wanted classes
	valueOf       func(sums []float64) float64 // computes the value of the output from the sums over the trees
}

// chooseOutput returns the output that the problem file names, or else the first output. It also looks up the
// wanted classes of the output.
func chooseOutput(m *ensemble.Model, v *config.Model, n *yaml.Node) (modelOutput, error) {
	at := 0
	if name := v.Output; name.Node != nil {
		names := make([]string, len(m.Outputs))
		for k, o := range m.Outputs {
			names[k] = o.Name
		}
		if at = slices.Index(names, name.Value); at < 0 {
			return modelOutput{}, yaml.SuggestName(name.Node.Errorf("the model has no output %s", name.Node.Describe()), name.Value, "it has", names, 12)
		}
	}
	o := &m.Outputs[at]
	switch {
	case o.Classes == nil && v.Class.Node != nil:
		return modelOutput{}, yaml.Hint(v.Class.Node.Errorf("the output %s is a number and has no classes", inputerr.Quote(o.Name)), "ask for maximize: true, minimize: true, target, at_least, at_most or between")
	case o.Classes == nil:
		return modelOutput{name: o.Name, valueOf: func(sums []float64) float64 { return o.Compute(sums, 0) }}, nil
	case v.Class.Node == nil:
		return modelOutput{}, yaml.Hint(n.Errorf("the output %s is of classes, and none is wanted", inputerr.Quote(o.Name)), "add class: one of %s, or a list of them", inputerr.List(o.Classes, 12))
	}
	classes, names, err := wantedClasses(o.Classes, v.Class)
	if err != nil {
		return modelOutput{}, err
	}
	class := strings.Join(names, " or ")
	return modelOutput{o.Name + " of " + class, class, true, func(sums []float64) float64 {
		p := 0.0
		for _, k := range classes {
			p += o.Compute(sums, k)
		}
		return p
	}}, nil
}

// wantedClasses returns the indices and the names of the wanted classes. The parameter allClasses lists the
// classes of the output.
func wantedClasses(allClasses []string, wanted config.Texts) (classes []int, names []string, err error) {
	for _, class := range wanted.Value {
		k := slices.Index(allClasses, class.Value)
		if k < 0 {
			return nil, nil, yaml.SuggestName(class.Node.Errorf("the model has no class %s", class.Node.Describe()), class.Value, "it has", allClasses, 12)
		}
		if slices.Contains(classes, k) {
			return nil, nil, yaml.Hint(class.Node.Errorf("the class %s is named twice", class.Node.Describe()), "name it once")
		}
		classes, names = append(classes, k), append(names, class.Value)
	}
	if classes == nil {
		return nil, nil, yaml.Hint(wanted.Node.Errorf("no class is wanted"), "name one of %s", inputerr.List(allClasses, 12))
	}
	return classes, names, nil
}
