package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ProcessKind is the kind of property that a Gaussian process predicts. Its label must have numbers.
var ProcessKind = PropertyKind{
	Key: schema.NewKey("process", schema.Link("process"), "", "predicts a numerical label by a Gaussian process", "{process: {label: stars, maximize: true}}"),
	New: func() Value { return new(Process) },
}

// A Process is the value of a property that a Gaussian process predicts:
//
//	process: {label: stars, maximize: true, log: true, sd: stars sd, failed: curdled}
type Process struct {
	Objective // wanted numbers of the label
	LabelNumbers
}

// Sections implements [Value].
func (p *Process) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a Gaussian process", ID: "process",
		About:        "`process` needs a numerical label and one goal: bounds, `maximize` or `minimize`.",
		Keys:         append(append(p.labelObjectiveKeys("{label: stars, maximize: true}", ""), p.LabelNumbers.describeKeys()...), newFloorKey(&p.Floor, "{label: stars, maximize: true, floor: 0.01}")),
		Required:     []string{"label"},
		ExactlyOneOf: []string{"at_least at_most", "between", "maximize", "minimize"},
	}}
}

// Decode implements [Value].
func (p *Process) Decode(n *yaml.Node) error {
	if err := p.checkOneObjective(n); err != nil {
		return err
	}
	return p.Sections()[0].Decode(n)
}
