package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ProcessKind is a label whose values are numbers, by a Gaussian process.
var ProcessKind = PropertyKind{
	Key: schema.NewKey("process", schema.Link("process"), "", "a label that is a number, by a Gaussian process", "{process: {label: stars, maximize: true}}"),
	New: func() Value { return new(Process) },
}

// A Process is
//
//	process: {label: stars, maximize: true, log: true, sd: stars sd, failed: curdled}
type Process struct {
	Objective // without classes
	LabelNumbers
}

// Sections implements [Value].
func (p *Process) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a Gaussian process", ID: "process",
		About:        "A label that is a number and one thing that is asked of it: bounds, or a direction.",
		Keys:         append(append(p.labelKeys("{label: stars, maximize: true}", ""), p.LabelNumbers.keys()...), floorKey(&p.Floor, "{label: stars, maximize: true, floor: 0.01}")),
		Required:     []string{"label"},
		ExactlyOneOf: []string{"at_least at_most", "between", "maximize", "minimize"},
	}}
}

// Decode implements [Value].
func (p *Process) Decode(n *yaml.Node) error {
	if err := p.checkAsked(n); err != nil {
		return err
	}
	return p.Sections()[0].Decode(n)
}
