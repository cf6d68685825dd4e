package problem

import (
	"context"
	"math"
	"strings"
	"time"

	"kir/fault"
	"kir/problem/schema"
	"kir/problem/yaml"
	"kir/property"
)

// readProgram reads a property that another program works out.
func readProgram(_ context.Context, s *shelf, n *yaml.Node) (Property, error) {
	f, err := schema.Program.Fields(n)
	if err != nil {
		return Property{}, err
	}
	if err := n.Require("the program", "write {command: [python3, scorer.py]}", "command"); err != nil {
		return Property{}, err
	}
	o := property.ProgramOptions{
		Dir: s.files.Dir, Ingredients: s.names, Total: s.total,
		Timeout: time.Minute, Processes: 1, Tell: s.tell,
	}
	words := f["command"].ItemsOrSelf()
	if len(words) == 0 {
		return Property{}, yaml.Hint(f["command"].Errorf("the command is empty"), "write {command: [python3, scorer.py]}")
	}
	for _, w := range words {
		word, err := w.Str("a word of the command")
		if err != nil {
			return Property{}, err
		}
		if strings.ContainsRune(word, 0) {
			return Property{}, w.Errorf("a word of the command has a zero byte in it")
		}
		o.Command = append(o.Command, word)
	}
	seconds := o.Timeout.Seconds()
	if v := f["timeout"]; v != nil {
		if seconds, err = v.Float("the timeout"); err != nil {
			return Property{}, err
		}
		if seconds < 0.001 || seconds > 1e6 {
			return Property{}, yaml.Hint(v.Errorf("the timeout is %s seconds", v.Shown()), "write from 0.001 to 1000000")
		}
		o.Timeout = time.Duration(math.Round(seconds * float64(time.Second)))
	}
	if v := f["processes"]; v != nil {
		if o.Processes, err = v.Whole("processes", 1, 1024); err != nil {
			return Property{}, err
		}
	}
	p, err := property.NewProgram(o)
	if err != nil {
		e := words[0].Errorf("%v", err)
		e.Err = err
		return Property{}, yaml.Hint(e, "name a program on the PATH, or a path relative to the problem file such as ./scorer")
	}
	var resolved yaml.Map
	resolved.Keep(n, "command")
	resolved.Set("timeout", seconds)
	resolved.Set("processes", o.Processes)
	return Property{About: "scores by " + fault.Quote(strings.Join(o.Command, " ")) + ", which runs with your rights", property: p, resolved: resolved}, nil
}
