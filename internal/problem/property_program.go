package problem

import (
	"context"
	"math"
	"strings"
	"time"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/property"
)

// programBatch is the default number of whole candidates that a program scores at once.
const programBatch = 16

var programKind = propertyKind{
	Key: newKey("program", schema.Link("program"), "", "an answer of your program; **it runs with your rights**", "{program: {command: [sh, scorer.sh]}}"),
	Sections: schema.Sections{{
		Name: "a program", ID: "program",
		About: "A program that reads recipes and writes scores, as [examples/scorer](../examples/scorer) shows. It runs with your rights.",
		Keys: []schema.Key{
			newKey("command", schema.OneOrMore(schema.Text("word"), 1), "", "the program and its arguments; no shell reads them", "{command: [sh, scorer.sh]}"),
			newKey("timeout", schema.Between(0.001, 1e6), "60", "seconds for a batch", "{command: [sh, scorer.sh], timeout: 5}"),
			newKey("processes", schema.Integer(1, 1024), "1", "how many copies may run", "{command: [sh, scorer.sh], processes: 2}"),
			newKey("batch", schema.Integer(1, 1024), "16", "how many whole candidates a move asks for at once", "{command: [sh, scorer.sh], batch: 4}"),
		},
		Required: []string{"command"},
	}},
	read:          readProgram,
	readOnce:      true,
	scoredBySplit: alwaysBySplit,
}

// readProgram reads a property that another program scores.
func readProgram(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
	command, err := readCommand(ctx, n, s.Files.Dir)
	if err != nil {
		return Property{}, err
	}
	o := property.ProgramOptions{
		Command: command.Words, Dir: command.Dir, Ingredients: s.Names, Total: s.Total,
		Timeout: time.Minute, Processes: 1, Batch: programBatch, Tell: s.notify, Starting: command.checkUnchanged,
	}
	seconds := o.Timeout.Seconds()
	if v := f["timeout"]; v != nil {
		if seconds, err = v.Float("the timeout"); err != nil {
			return Property{}, err
		}
		if seconds < 0.001 || seconds > 1e6 {
			return Property{}, yaml.Hint(v.Errorf("the timeout is %s seconds", v.Describe()), "write from 0.001 to 1000000")
		}
		o.Timeout = time.Duration(math.Round(seconds * float64(time.Second)))
	}
	if v := f["processes"]; v != nil {
		if o.Processes, err = v.Whole("processes", 1, 1024); err != nil {
			return Property{}, err
		}
	}
	if v := f["batch"]; v != nil {
		if o.Batch, err = v.Whole("batch", 1, 1024); err != nil {
			return Property{}, err
		}
	}
	if err := requireConsent(ctx, f["command"], command); err != nil {
		return Property{}, err
	}
	p, err := property.NewProgram(o)
	if err != nil {
		return Property{}, f["command"].PlaceError(err)
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "command")
	resolved.Set("timeout", seconds)
	resolved.Set("processes", o.Processes)
	resolved.Set("batch", o.Batch)
	return Property{About: "scores by " + inputerr.Quote(strings.Join(command.Words, " ")) + ", which runs with your rights", property: p, command: command, resolved: resolved}, nil
}
