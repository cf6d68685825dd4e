// Package lightgbm reads models that LightGBM saved as text, versions v2 to v4, into the form that
// package ensemble scores.
//
// It reads numerical and categorical splits, all kinds of missing values, and random forests. An
// error names and rejects linear trees and unknown objectives.
//
// LightGBM compares and adds in float64. A prediction is the sum of the trees' leaves in their
// order, divided by the number of iterations if it is a forest, and then the objective's link. In
// forests of version v2 the link is already applied to the leaves.
package lightgbm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kir/internal/ensemble"
	"kir/internal/portable"
)

// These limits apply to a file.
const (
	maxFeatures = 1 << 20
	maxClasses  = 1 << 12
)

// Read reads a LightGBM text model. The error describes the fault in the file, or names what is not supported.
func Read(r io.Reader) (*ensemble.Model, error) {
	data, err := ensemble.ReadFile(r)
	if err != nil {
		return nil, err
	}
	l := &lines{rest: data}
	first, _ := l.next()
	if strings.TrimSpace(first) != "tree" {
		return nil, errors.New("no model of LightGBM: its first line is not tree")
	}
	head, at, err := l.fields()
	if err != nil {
		return nil, err
	}
	f := &file{head: head}
	m, err := f.buildModel()
	if err != nil {
		return nil, err
	}
	b := ensemble.NewBuilder(m)
	for k := 0; ; k++ {
		switch {
		case at == "end of trees":
			if k != f.trees || k%f.perIteration != 0 {
				return nil, fmt.Errorf("there are %d trees, and tree_sizes is of %d, %d an iteration", k, f.trees, f.perIteration)
			}
			f.iterations = float64(k / f.perIteration)
			return m, nil
		case at != "Tree="+strconv.Itoa(k):
			return nil, fmt.Errorf("line %d: here should begin tree %d, or the trees end", l.number, k)
		}
		from := l.number
		fields, next, err := l.fields()
		if err == nil {
			err = addTree(b, fields, k%f.perIteration)
		}
		if err != nil {
			return nil, fmt.Errorf("tree %d (line %d): %w", k, from, err)
		}
		at = next
	}
}

// lines iterates over the lines of a file.
type lines struct {
	rest   []byte
	number int
}

// next returns the next line; more is false after the last.
func (l *lines) next() (line string, more bool) {
	if len(l.rest) == 0 {
		return "", false
	}
	l.number++
	text, rest, _ := bytes.Cut(l.rest, []byte{'\n'})
	l.rest = rest
	return strings.TrimSuffix(string(text), "\r"), true
}

// fields reads lines "name=value" until a line begins a tree or ends the trees. It returns the values by name, and
// that line.
func (l *lines) fields() (fields map[string]string, next string, err error) {
	fields = make(map[string]string)
	for {
		line, more := l.next()
		if !more {
			return nil, "", errors.New("the file ends before the trees do")
		}
		if line == "end of trees" || strings.HasPrefix(line, "Tree=") {
			return fields, line, nil
		}
		name, value, _ := strings.Cut(line, "=")
		if _, twice := fields[name]; twice && name != "" {
			return nil, "", fmt.Errorf("line %d: %.40q is there twice", l.number, name)
		}
		fields[name] = value
	}
}

// A file holds the header of a model file.
type file struct {
	head         map[string]string
	trees        int
	perIteration int
	iterations   float64 // number of iterations, known once the trees are read
}

func (f *file) readInt(name string, least, most int) (int, error) {
	v, err := strconv.Atoi(f.head[name])
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%s is %.40q: it must be a whole number from %d to %d", name, f.head[name], least, most)
	}
	return v, nil
}

func (f *file) buildModel() (*ensemble.Model, error) {
	version := f.head["version"]
	switch version {
	case "v2", "v3", "v4":
	default:
		return nil, fmt.Errorf("version %.20q is not supported: v2, v3 and v4 are", version)
	}
	m := &ensemble.Model{Maker: "LightGBM, text " + version, Inputs: strings.Fields(f.head["feature_names"])}
	last, err := f.readInt("max_feature_idx", 0, maxFeatures-1)
	if err != nil {
		return nil, err
	}
	if len(m.Inputs) != last+1 {
		return nil, fmt.Errorf("max_feature_idx is %d, and there are %d names of features", last, len(m.Inputs))
	}
	for k := range m.Inputs {
		m.Features = append(m.Features, ensemble.Feature{Input: k})
	}
	if f.perIteration, err = f.readInt("num_tree_per_iteration", 1, maxClasses); err != nil {
		return nil, err
	}
	if _, err := f.readInt("num_class", 1, maxClasses); err != nil {
		return nil, err
	}
	f.trees = len(strings.Fields(f.head["tree_sizes"]))
	m.Terms = make([][]ensemble.Term, f.perIteration)
	_, average := f.head["average_output"]
	return m, f.setObjective(m, average, average && version == "v2")
}

// setObjective sets the model's output, which is computed from the sums. For a forest (average) it divides the sums
// by the iterations. If the leaves are already transformed (linked), it applies no link function.
func (f *file) setObjective(m *ensemble.Model, average, linked bool) error {
	name, link, err := readLink(strings.Fields(f.head["objective"]))
	if err != nil {
		return err
	}
	if linked {
		link = identity
	}
	raw := func(sums []float64, k int) float64 {
		if average {
			return sums[k] / f.iterations
		}
		return sums[k]
	}
	classes := make([]string, max(f.perIteration, 2))
	for k := range classes {
		classes[k] = strconv.Itoa(k)
	}
	each := func(prefix string, of func(sums []float64, k int) float64) {
		for k := range f.perIteration {
			name := prefix
			if f.perIteration > 1 {
				name += " " + strconv.Itoa(k)
			}
			m.Outputs = append(m.Outputs, ensemble.Output{Name: name, Of: func(sums []float64, _ int) float64 { return of(sums, k) }})
		}
	}
	switch {
	case name == "binary" && f.perIteration == 1:
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes, Of: func(sums []float64, class int) float64 {
			p := link(raw(sums, 0))
			if class == 0 {
				p = 1 - p
			}
			return p
		}})
	case name == "multiclassova":
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.perIteration], Of: func(sums []float64, class int) float64 {
			return link(raw(sums, class))
		}})
	case (name == "multiclass" || name == "softmax") && linked:
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.perIteration], Of: raw})
	case name == "multiclass" || name == "softmax":
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.perIteration], Of: func(sums []float64, class int) float64 {
			most, all := raw(sums, 0), 0.0
			for k := range sums {
				most = max(most, raw(sums, k))
			}
			for k := range sums {
				all += portable.Exp(raw(sums, k) - most)
			}
			return portable.Exp(raw(sums, class)-most) / all
		}})
	default:
		each("value", func(sums []float64, k int) float64 { return link(raw(sums, k)) })
	}
	each("margin", raw)
	return nil
}

func identity(v float64) float64 { return v }

// readLink returns the name of an objective, and the link function from a sum to a prediction.
func readLink(words []string) (name string, link func(float64) float64, err error) {
	sigmoid, sqrt := 1.0, false
	for k, w := range words {
		key, value, _ := strings.Cut(w, ":")
		switch {
		case k == 0:
			name = w
		case key == "sigmoid":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return "", nil, fmt.Errorf("the objective has the sigmoid %.20q", value)
			}
			sigmoid = v
		case w == "sqrt":
			sqrt = true
		}
	}
	switch name {
	case "", "custom", "regression", "regression_l2", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg":
		if sqrt {
			return name, func(v float64) float64 { return math.Copysign(v*v, v) }, nil
		}
		return name, identity, nil
	case "poisson", "gamma", "tweedie":
		return name, portable.Exp, nil
	case "binary", "multiclassova":
		return name, func(v float64) float64 { return 1 / (1 + portable.Exp(float64(-sigmoid*v))) }, nil
	case "cross_entropy", "xentropy":
		return name, func(v float64) float64 { return 1 / (1 + portable.Exp(-v)) }, nil
	case "cross_entropy_lambda", "xentlambda":
		return name, func(v float64) float64 { return portable.Log1p(portable.Exp(v)) }, nil
	case "multiclass", "softmax":
		return name, identity, nil
	}
	return "", nil, fmt.Errorf("the objective %.40q is not supported", name)
}
