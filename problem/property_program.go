package problem

import (
	"math"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"kir/fault"
	"kir/property"
)

// program reads a property that another program works out.
func (l *loader) program(n *node) (Property, error) {
	f, err := n.fields("a program", "command", "timeout", "processes")
	if err != nil {
		return Property{}, err
	}
	if f["command"] == nil {
		return Property{}, hint(n.errorf("the program has no command"), "write {command: [python3, scorer.py]}")
	}
	o := property.ProgramOptions{
		Dir: l.dir, Ingredients: l.problem.Ingredients, Total: l.problem.Total,
		Timeout: time.Minute, Processes: 1, Tell: l.options.Tell,
	}
	words := []*node{f["command"]}
	if f["command"].kind == sequence {
		words = f["command"].items
	}
	if len(words) == 0 {
		return Property{}, hint(f["command"].errorf("the command is empty"), "write {command: [python3, scorer.py]}")
	}
	for _, w := range words {
		word, err := w.str("a word of the command")
		if err != nil {
			return Property{}, err
		}
		if strings.ContainsRune(word, 0) {
			return Property{}, w.errorf("a word of the command has a zero byte in it")
		}
		o.Command = append(o.Command, word)
	}
	seconds := o.Timeout.Seconds()
	if v := f["timeout"]; v != nil {
		if seconds, err = v.float("the timeout"); err != nil {
			return Property{}, err
		}
		if seconds < 0.001 || seconds > 1e6 {
			return Property{}, hint(v.errorf("the timeout is %s seconds", v.shown()), "write from 0.001 to 1000000")
		}
		o.Timeout = time.Duration(math.Round(seconds * float64(time.Second)))
	}
	if v := f["processes"]; v != nil {
		if o.Processes, err = v.whole("processes", 1, 1024); err != nil {
			return Property{}, err
		}
	}
	p, err := property.NewProgram(o)
	if err != nil {
		e := words[0].errorf("%v", err)
		e.Err = err
		return Property{}, hint(e, "name a program on the PATH, or a path relative to the problem file such as ./scorer")
	}
	l.problem.closers = append(l.problem.closers, p)
	var s settings
	s.keep(f, "command")
	s.set("timeout", seconds)
	s.set("processes", o.Processes)
	return Property{About: "scores by " + fault.Quote(strings.Join(o.Command, " ")) + ", which runs with your rights", property: p, settings: yaml.MapSlice(s)}, nil
}
