// Package lightgbm reads models that LightGBM saved as text, in versions v2 to v4 of the format. It
// converts them to the form that package ensemble scores.
//
// It reads numerical and categorical splits, all kinds of missing values, and random forests. Read
// returns an error that names what is not supported: linear trees and unknown objectives.
//
// LightGBM compares and adds in float64. A prediction is the sum of the leaves in the order of the
// trees. For a random forest the sum is divided by the number of iterations. The link function of
// the objective is then applied. In random forests of version v2, the leaves already include the
// link function.
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

// Limits on a model file.
const (
	maxFeatures = 1 << 20 // greatest number of features
	maxClasses  = 1 << 12 // greatest number of classes
)

// Read reads a LightGBM text model. The error describes the fault in the file, or names what is not
// supported.
func Read(r io.Reader) (*ensemble.Model, error) {
	data, err := ensemble.ReadFile(r)
	if err != nil {
		return nil, err
	}
	l := &lineReader{rest: data}
	first, _ := l.nextLine()
	if strings.TrimSpace(first) != "tree" {
		return nil, errors.New("no model of LightGBM: its first line is not tree")
	}
	head, at, err := l.readFields()
	if err != nil {
		return nil, err
	}
	f := &modelHeader{fields: head}
	m, err := f.buildModel()
	if err != nil {
		return nil, err
	}
	b := ensemble.NewBuilder(m)
	for k := 0; ; k++ {
		switch {
		case at == "end of trees":
			if k != f.treeCount || k%f.treesPerIteration != 0 {
				return nil, fmt.Errorf("there are %d trees, and tree_sizes is of %d, %d an iteration", k, f.treeCount, f.treesPerIteration)
			}
			f.iterationCount = float64(k / f.treesPerIteration)
			return m, nil
		case at != "Tree="+strconv.Itoa(k):
			return nil, fmt.Errorf("line %d: here should begin tree %d, or the trees end", l.lineNumber, k)
		}
		from := l.lineNumber
		fields, next, err := l.readFields()
		if err == nil {
			err = addTree(b, fields, k%f.treesPerIteration)
		}
		if err != nil {
			return nil, fmt.Errorf("tree %d (line %d): %w", k, from, err)
		}
		at = next
	}
}

// A lineReader returns the lines of a file, one after another.
type lineReader struct {
	rest       []byte // the text after the last line returned
	lineNumber int    // number of the last line returned; the first line is line 1
}

// nextLine returns the next line. At the end of the file, the result more is false.
func (l *lineReader) nextLine() (line string, more bool) {
	if len(l.rest) == 0 {
		return "", false
	}
	l.lineNumber++
	text, rest, _ := bytes.Cut(l.rest, []byte{'\n'})
	l.rest = rest
	return strings.TrimSuffix(string(text), "\r"), true
}

// readFields reads lines of the form "name=value" until it meets a line that begins a tree or the
// line that ends the trees. It returns a map from names to values, and the line at which it
// stopped.
func (l *lineReader) readFields() (fields map[string]string, next string, err error) {
	fields = make(map[string]string)
	for {
		line, more := l.nextLine()
		if !more {
			return nil, "", errors.New("the file ends before the trees do")
		}
		if line == "end of trees" || strings.HasPrefix(line, "Tree=") {
			return fields, line, nil
		}
		name, value, _ := strings.Cut(line, "=")
		if _, twice := fields[name]; twice && name != "" {
			return nil, "", fmt.Errorf("line %d: %.40q is there twice", l.lineNumber, name)
		}
		fields[name] = value
	}
}

// A modelHeader holds the header of a model file and what the header says about the trees.
type modelHeader struct {
	fields            map[string]string // maps the name of a field to its value
	treeCount         int               // number of trees
	treesPerIteration int               // number of trees that one iteration of boosting adds
	iterationCount    float64           // number of iterations; set after all trees have been read
}

// intField returns the value of the header field with the given name. It returns an error unless
// the value is a whole number from least to most.
func (f *modelHeader) intField(name string, least, most int) (int, error) {
	v, err := strconv.Atoi(f.fields[name])
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%s is %.40q: it must be a whole number from %d to %d", name, f.fields[name], least, most)
	}
	return v, nil
}

// buildModel returns the model that the header describes, without trees.
func (f *modelHeader) buildModel() (*ensemble.Model, error) {
	version := f.fields["version"]
	switch version {
	case "v2", "v3", "v4":
	default:
		return nil, fmt.Errorf("version %.20q is not supported: v2, v3 and v4 are", version)
	}
	m := &ensemble.Model{Producer: "LightGBM, text " + version, Inputs: strings.Fields(f.fields["feature_names"])}
	last, err := f.intField("max_feature_idx", 0, maxFeatures-1)
	if err != nil {
		return nil, err
	}
	if len(m.Inputs) != last+1 {
		return nil, fmt.Errorf("max_feature_idx is %d, and there are %d names of features", last, len(m.Inputs))
	}
	for k := range m.Inputs {
		m.Features = append(m.Features, ensemble.Feature{Input: k})
	}
	if f.treesPerIteration, err = f.intField("num_tree_per_iteration", 1, maxClasses); err != nil {
		return nil, err
	}
	if _, err := f.intField("num_class", 1, maxClasses); err != nil {
		return nil, err
	}
	f.treeCount = len(strings.Fields(f.fields["tree_sizes"]))
	m.Terms = make([][]ensemble.Term, f.treesPerIteration)
	_, average := f.fields["average_output"]
	return m, f.setObjective(m, average, average && version == "v2")
}

// setObjective sets the outputs of the model, which are computed from the sums of leaf values. If
// average is true, the model is a random forest, and each sum is divided by the number of
// iterations. If linked is true, the leaf values already include the link function of the
// objective, so that no link function is applied.
func (f *modelHeader) setObjective(m *ensemble.Model, average, linked bool) error {
	name, link, err := parseObjective(strings.Fields(f.fields["objective"]))
	if err != nil {
		return err
	}
	if linked {
		link = identity
	}
	raw := func(sums []float64, k int) float64 {
		if average {
			return sums[k] / f.iterationCount
		}
		return sums[k]
	}
	classes := make([]string, max(f.treesPerIteration, 2))
	for k := range classes {
		classes[k] = strconv.Itoa(k)
	}
	each := func(prefix string, of func(sums []float64, k int) float64) {
		for k := range f.treesPerIteration {
			name := prefix
			if f.treesPerIteration > 1 {
				name += " " + strconv.Itoa(k)
			}
			m.Outputs = append(m.Outputs, ensemble.Output{Name: name, Compute: func(sums []float64, _ int) float64 { return of(sums, k) }})
		}
	}
	switch {
	case name == "binary" && f.treesPerIteration == 1:
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes, Compute: func(sums []float64, class int) float64 {
			p := link(raw(sums, 0))
			if class == 0 {
				p = 1 - p
			}
			return p
		}})
	case name == "multiclassova":
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.treesPerIteration], Compute: func(sums []float64, class int) float64 {
			return link(raw(sums, class))
		}})
	case (name == "multiclass" || name == "softmax") && linked:
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.treesPerIteration], Compute: raw})
	case name == "multiclass" || name == "softmax":
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes[:f.treesPerIteration], Compute: func(sums []float64, class int) float64 {
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

// identity returns v unchanged. It is the link function of objectives without a link.
func identity(v float64) float64 { return v }

// parseObjective returns the name of the objective, and its link function, which converts a sum of
// leaf values to a prediction. The parameter words holds the words of the objective in the file:
// the name, followed by options such as "sigmoid:1".
func parseObjective(words []string) (name string, link func(float64) float64, err error) {
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
