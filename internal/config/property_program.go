package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ProgramKind is the kind of property that another program scores.
var ProgramKind = PropertyKind{
	Key: schema.NewKey("program", schema.Link("program"), "", "scores recipes by your program, which **runs with your rights**", "{program: {command: [sh, scorer.sh]}}"),
	New: func() Value { return new(Program) },
}

// A Program is the value of a property that another program scores:
//
//	program: {command: [python3, scorer.py], timeout: 60, processes: 2, batch: 16}
type Program struct {
	Command   *yaml.Node       // the program and its arguments
	Timeout   Written[float64] // maximum time of a batch, in seconds
	Processes Written[int]     // maximum number of copies of the program that run at the same time
	Batch     Written[int]     // number of compositions that are scored in one request
}

// Sections implements [Value].
func (p *Program) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a program", ID: "program",
		About: "`program` names a program that reads recipes and writes scores, such as [examples/scorer](../examples/scorer). The program runs with your rights.",
		Keys: []schema.Key{
			newKey("command", schema.OneOrMore(schema.Text("word"), 1), "", "the program and its arguments, run without a shell", "{command: [sh, scorer.sh]}", nodeReader(&p.Command)),
			newKey("timeout", schema.Between(0.001, 1e6), "60", "time limit for scoring a batch, in seconds", "{command: [sh, scorer.sh], timeout: 5}", decodingReader(&p.Timeout, decodeTimeout)),
			newKey("processes", schema.Integer(1, 1024), "1", "number of copies of the program that may run at the same time", "{command: [sh, scorer.sh], processes: 2}", wholeReader(&p.Processes, "processes", 1, 1024)),
			newKey("batch", schema.Integer(1, 1024), "16", "number of recipes that a move sends to the program at once", "{command: [sh, scorer.sh], batch: 4}", wholeReader(&p.Batch, "batch", 1, 1024)),
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
