package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ProgramKind is a program that scores recipes.
var ProgramKind = PropertyKind{
	Key: schema.NewKey("program", schema.Link("program"), "", "an answer of your program; **it runs with your rights**", "{program: {command: [sh, scorer.sh]}}"),
	New: func() Value { return new(Program) },
}

// A Program is
//
//	program: {command: [python3, scorer.py], timeout: 60, processes: 2, batch: 16}
type Program struct {
	Command   *yaml.Node       // the program and its arguments
	Timeout   Written[float64] // seconds for a batch
	Processes Written[int]     // copies that may run
	Batch     Written[int]     // whole candidates that a move asks for at once
}

// Sections implements [Value].
func (p *Program) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a program", ID: "program",
		About: "A program that reads recipes and writes scores, as [examples/scorer](../examples/scorer) shows. It runs with your rights.",
		Keys: []schema.Key{
			key("command", schema.OneOrMore(schema.Text("word"), 1), "", "the program and its arguments; no shell reads them", "{command: [sh, scorer.sh]}", asNode(&p.Command)),
			key("timeout", schema.Between(0.001, 1e6), "60", "seconds for a batch", "{command: [sh, scorer.sh], timeout: 5}", decodeWith(&p.Timeout, decodeTimeout)),
			key("processes", schema.Integer(1, 1024), "1", "how many copies may run", "{command: [sh, scorer.sh], processes: 2}", asWhole(&p.Processes, "processes", 1, 1024)),
			key("batch", schema.Integer(1, 1024), "16", "how many whole candidates a move asks for at once", "{command: [sh, scorer.sh], batch: 4}", asWhole(&p.Batch, "batch", 1, 1024)),
		},
		Required: []string{"command"},
	}}
}

func decodeTimeout(n *yaml.Node) (float64, error) {
	seconds, err := n.Float("the timeout")
	if err == nil && (seconds < 0.001 || seconds > 1e6) {
		err = yaml.Hint(n.Errorf("the timeout is %s seconds", n.Describe()), "write from 0.001 to 1000000")
	}
	return seconds, err
}

// Decode implements [Value].
func (p *Program) Decode(n *yaml.Node) error { return p.Sections()[0].Decode(n) }
