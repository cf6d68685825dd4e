package compile

import (
	"context"
	"math"
	"strings"
	"time"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/property"
)

// defaultProgramBatch is the default number of compositions that a program scores in one request.
const defaultProgramBatch = 16

// programKind is the kind of property that an external program scores.
var programKind = propertyKind{
	PropertyKind:     config.ProgramKind,
	compile:          withValueType(compileProgram),
	compiledOnce:     true,
	scoresEverySplit: alwaysScoresEverySplit,
}

// compileProgram makes a property that an external program scores.
func compileProgram(ctx context.Context, s *readContext, v *config.Program, n *yaml.Node) (Property, error) {
	command, err := readCommand(ctx, n, s.Files.Dir)
	if err != nil {
		return Property{}, err
	}
	seconds := v.Timeout.Or(time.Minute.Seconds())
	o := property.ProgramOptions{
		Command: command.Words, Dir: command.Dir, Ingredients: s.IngredientNames, Total: s.Total,
		Timeout: time.Duration(math.Round(seconds * float64(time.Second))), Processes: v.Processes.Or(1), Batch: v.Batch.Or(defaultProgramBatch),
		Warn: s.notify, BeforeStart: command.checkUnchanged,
	}
	for k := range s.offeredConditions {
		of := &s.offeredConditions[k]
		c := property.ProgramCondition{Name: of.Name}
		for v := range of.Len() {
			c.Values = append(c.Values, of.Value(v))
		}
		o.Conditions = append(o.Conditions, c)
	}
	if err := requireConsent(ctx, v.Command, command); err != nil {
		return Property{}, err
	}
	p, err := property.NewProgram(o)
	if err != nil {
		return Property{}, v.Command.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "command")
	resolved.Set("timeout", seconds)
	resolved.Set("processes", o.Processes)
	resolved.Set("batch", o.Batch)
	return Property{About: "scores by " + inputerr.Quote(strings.Join(command.Words, " ")) + ", which runs with your rights", mcmcProperty: p, command: command, resolvedValue: resolved}, nil
}
