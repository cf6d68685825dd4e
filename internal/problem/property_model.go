package problem

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/ensemble/lightgbm"
	"kir/internal/ensemble/onnx"
	"kir/internal/ensemble/xgboost"
	"kir/internal/importedmodel"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/mcmc"
	"kir/property"
)

// maxSettings is the greatest number of settings of constants that are tried.
const maxSettings = 64

var modelKind = propertyKind{
	PropertyKind: config.PropertyKind{Key: newKey("model", schema.Link("model"), "", "a tree ensemble of another program", "{model: {file: model.txt, class: 1, constants: {temperature: 180}}}")},
	Sections:     modelSections,
	read:         readModel,
	readOnce:     true,
}

// modelSections describe a model, an input in its long form, and directions with their ends.
var modelSections = schema.Sections{
	{
		Name: "a model", ID: "model",
		About: "A model in ONNX, XGBoost's JSON or UBJSON, or LightGBM's text, and one thing that is asked of it: classes, bounds, a direction, or a value to reach.",
		Keys: []schema.Key{
			newKey("file", schema.Text("file"), "", "the model", "{file: model.txt, class: 1, constants: {temperature: 180}}"),
			newKey("output", schema.Text("output"), "the first", "which of its outputs", "{file: model.txt, output: probability, class: 1, constants: {temperature: 180}}"),
			newKey("class", schema.OneOrMore(schema.Text("class"), 1), "", "of a model of classes: one, or any of several", "{file: model.txt, class: [1], constants: {temperature: 180}}"),
			newKey("at_least", schema.Number(), "", "of a number: at least this", "{file: value.txt, at_least: 0.5, constants: {temperature: 180}}"),
			newKey("at_most", schema.Number(), "", "at most this", "{file: value.txt, at_most: 0.5, constants: {temperature: 180}}"),
			newKey("between", schema.Pair(schema.Number()), "", "from the first to the second", "{file: value.txt, between: [-1, 2], constants: {temperature: 180}}"),
			newKey("maximize", schema.Either(schema.OnlyTrue(), schema.Link("maximize")), "", "as large as can be, from what scores 0 to what scores 1; `true`: all that the model can say", "{file: value.txt, maximize: true, constants: {temperature: 180}}"),
			newKey("minimize", schema.Either(schema.OnlyTrue(), schema.Link("minimize")), "", "as small as can be", "{file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 180}}"),
			newKey("target", schema.Link("target"), "", "best at a value", "{file: value.txt, target: {from: -2, at: 0.5, to: 2}, constants: {temperature: 180}}"),
			newKey("sd", schema.Above(0), "0: a hard bound", "of bounds: how far what is lies from what the model says", "{file: value.txt, at_least: 0.5, sd: 0.2, constants: {temperature: 180}}"),
			newKey("features", schema.Either(schema.MapOf("inputs", modelInput(), nil), schema.List(modelInput(), 0)), "by their names", "what the model's inputs are, by name or in their order", "{file: value.txt, maximize: true, features: {Gin: {percent: Gin}}, constants: {temperature: 180}}"),
			newKey("amounts", schema.Choice("share", "percent", "units"), "`share`", "what an input is that is called as an ingredient", "{file: value.txt, maximize: true, amounts: percent, constants: {temperature: 180}}"),
			newKey("constants", schema.MapOf("inputs", schema.OneOrMore(schema.Either(schema.Number(), schema.Choice("missing")), 1), nil), "none", "inputs that are no part of a composition; several values are each tried", "{file: value.txt, maximize: true, constants: {temperature: [150, 180]}}"),
			newKey("check", schema.Text("file"), "none", "a table of the model's own predictions that kir must give, too", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv}"),
			newKey("tolerance", schema.AtLeast(0), "0.00001", "how far a prediction may be off", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv, tolerance: 0.001}"),
			floorKey("{file: model.txt, class: 1, constants: {temperature: 180}, floor: 0.01}"),
		},
		Required:     []string{"file"},
		ExactlyOneOf: []string{"class", "at_least", "at_most", "between", "maximize", "minimize", "target"},
		Requires:     map[string]string{"tolerance": "check"},
		Excludes:     map[string]string{"sd": "class maximize minimize target"},
	},
	{
		Name: "an input", ID: "input", About: "The figure of a recipe that an input of the model stands for.",
		Keys: []schema.Key{
			newKey("mean", schema.Text("attribute"), "", "the mean of an attribute", "{mean: cost}"),
			newKey("share", schema.Ingredients(), "", "what they take of the total, 0 to 1", "{share: {family: citrus}}"),
			newKey("percent", schema.Ingredients(), "", "the same, 0 to 100", "{percent: Gin}"),
			newKey("units", schema.Ingredients(), "", "the same in units", "{units: Gin}"),
			newKey("presence", schema.Ingredients(), "", "1 if any of them is used, else 0", "{presence: Milk}"),
			newKey("count", schema.Ingredients(), "", "how many of them are used", "{count: \"*\"}"),
		},
		ExactlyOneOf: []string{"mean", "share", "percent", "units", "presence", "count"},
	},
	directionSection("maximize", "0", "2"),
	directionSection("minimize", "2", "-1"),
}

// modelInput is the type of an input: its name, or its long form.
func modelInput() schema.Type {
	return schema.Either(schema.Type{Words: "name", Schema: schema.Object{"type": "string"}}, schema.Link("input"))
}

// directionSection returns a direction with its ends.
func directionSection(name, from, to string) *schema.Section {
	return &schema.Section{
		Name: name, ID: name, About: "A direction with its ends; beyond them the score stays as it is there.",
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the value that scores 0", "{from: "+from+", to: "+to+"}"),
			newKey("to", schema.Number(), "", "the value that scores 1", "{from: "+from+".5, to: "+to+"}"),
		},
		Required: []string{"from", "to"},
	}
}

// readModel reads a property that scores the output of an imported tree ensemble.
func readModel(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
	if err := n.Require("the model", "write {file: model.onnx, class: Fresh}", "file"); err != nil {
		return Property{}, err
	}
	least, err := readFloor(f)
	if err != nil {
		return Property{}, err
	}
	m, err := loadModel(ctx, s, f["file"])
	if err != nil {
		return Property{}, err
	}
	output, err := chooseOutput(m, n, f)
	if err != nil {
		return Property{}, err
	}
	b := &inputMapping{readContext: s, model: m, at: n}
	if err := b.readInputs(f); err != nil {
		return Property{}, err
	}
	settings, err := b.bind()
	if err != nil {
		return Property{}, err
	}
	desirability, about, err := readModelDesirability(n, f, output, settings)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "file", "output", "class", "at_least", "at_most", "between", "maximize", "minimize", "target", "sd", "features")
	resolved.Set("amounts", b.amounts)
	resolved.CopyKeys(n, "constants", "check")
	if v := f["check"]; v != nil {
		tolerance, err := b.checkPredictions(ctx, v, f["tolerance"], output, settings)
		if err != nil {
			return Property{}, err
		}
		resolved.Set("tolerance", tolerance)
	} else if f["tolerance"] != nil {
		return Property{}, yaml.Hint(f["tolerance"].Errorf("there is nothing to check"), "add check: a table of the model's own predictions, or remove it")
	}
	resolved.Set("floor", least)
	model := importedmodel.New(settings, func(sums []float64) float64 { return desirability(output.valueOf(sums)) }, least)
	p := Property{
		About:    fmt.Sprintf("%s of %s: %s", output.name, inputerr.Quote(f["file"].Text), about),
		property: model, resolved: resolved,
	}
	if output.probability {
		bare := importedmodel.New(settings, func(sums []float64) float64 { return desirability(output.valueOf(sums)) }, 0)
		p.Class, p.classChance = output.class, func(x *mcmc.Composition) float64 { return portable.Exp(bare.LogScore(x)) }
		p.valueScale = func() (*valueScale, error) {
			l := scoreScale(bare)
			l.valueName, l.notation = chanceWords, asShare
			return l, nil
		}
	} else {
		p.Value = func(x *mcmc.Composition) (v float64, at string) {
			sums, setting := model.Sums(x)
			return output.valueOf(sums), b.describeSetting(setting)
		}
		p.valueScale = func() (*valueScale, error) { return modelScale(settings, output) }
	}
	return p, nil
}

// modelScale returns the value scale of a number that an imported model predicts.
func modelScale(settings []*ensemble.Score, output modelOutput) (*valueScale, error) {
	if len(settings) > 1 {
		return nil, fmt.Errorf("the model is asked in %d settings of its constants, and a limit is of one", len(settings))
	}
	least, greatest := settings[0].Bounds()
	of := importedmodel.New(settings, func([]float64) float64 { return 1 }, 0)
	return &valueScale{
		valueName: modelWords,
		shownValue: func(x *mcmc.Composition) float64 {
			sums, _ := of.Sums(x)
			return output.valueOf(sums)
		},
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return importedmodel.New(settings, func(sums []float64) float64 { return portable.Exp(d.Log(output.valueOf(sums))) }, 0), nil
		},
		scale: 1, width: max(math.Abs(output.valueOf(greatest)-output.valueOf(least))/20, math.SmallestNonzeroFloat64),
	}, nil
}

// loadModel reads a model's file and detects its format.
func loadModel(ctx context.Context, s *readContext, n *yaml.Node) (m *ensemble.Model, err error) {
	err = s.Files.Read(ctx, n, "the file of the model", func(r io.Reader, _ string) (err error) {
		b := bufio.NewReader(r)
		start, _ := b.Peek(64)
		switch start = bytes.TrimLeft(start, " \t\r\n"); {
		case bytes.HasPrefix(start, []byte("tree")):
			m, err = lightgbm.Read(b)
		case bytes.HasPrefix(start, []byte("{")):
			m, err = xgboost.Read(b)
		default:
			m, err = onnx.Read(b)
		}
		if err != nil && ctx.Err() == nil {
			err = yaml.Hint(n.Errorf("%s is no model that can be used: %v", inputerr.Quote(n.Text), err), "it can be ONNX, XGBoost's JSON or UBJSON, or LightGBM's text")
		}
		return err
	})
	return m, err
}

// A modelOutput is the output of a model that a property uses.
type modelOutput struct {
	name        string
	class       string // description of the wanted classes
	probability bool
	valueOf     func(sums []float64) float64
}

// chooseOutput finds the output, and its wanted classes.
func chooseOutput(m *ensemble.Model, n *yaml.Node, f fields) (modelOutput, error) {
	at := 0
	if v := f["output"]; v != nil {
		name, err := v.Str("the output")
		if err != nil {
			return modelOutput{}, err
		}
		names := make([]string, len(m.Outputs))
		for k, o := range m.Outputs {
			names[k] = o.Name
		}
		if at = slices.Index(names, name); at < 0 {
			return modelOutput{}, yaml.SuggestName(v.Errorf("the model has no output %s", v.Describe()), name, "it has", names, 12)
		}
	}
	o := m.Outputs[at]
	v := f["class"]
	switch {
	case o.Classes == nil && v != nil:
		return modelOutput{}, yaml.Hint(v.Errorf("the output %s is a number and has no classes", inputerr.Quote(o.Name)), "ask for maximize: true, minimize: true, target, at_least, at_most or between")
	case o.Classes == nil:
		return modelOutput{name: o.Name, valueOf: func(sums []float64) float64 { return o.Of(sums, 0) }}, nil
	case v == nil:
		return modelOutput{}, yaml.Hint(n.Errorf("the output %s is of classes, and none is wanted", inputerr.Quote(o.Name)), "add class: one of %s, or a list of them", inputerr.List(o.Classes, 12))
	}
	var classes []int
	var names []string
	for _, item := range v.ItemsOrSelf() {
		name, err := item.Str("the class")
		if err != nil {
			return modelOutput{}, err
		}
		k := slices.Index(o.Classes, name)
		if k < 0 {
			return modelOutput{}, yaml.SuggestName(item.Errorf("the model has no class %s", item.Describe()), name, "it has", o.Classes, 12)
		}
		if slices.Contains(classes, k) {
			return modelOutput{}, yaml.Hint(item.Errorf("the class %s is named twice", item.Describe()), "name it once")
		}
		classes, names = append(classes, k), append(names, name)
	}
	if classes == nil {
		return modelOutput{}, yaml.Hint(v.Errorf("no class is wanted"), "name one of %s", inputerr.List(o.Classes, 12))
	}
	class := strings.Join(names, " or ")
	return modelOutput{o.Name + " of " + class, class, true, func(sums []float64) float64 {
		p := 0.0
		for _, k := range classes {
			p += o.Of(sums, k)
		}
		return p
	}}, nil
}

// readModelDesirability reads the desirability of the output's value, from 0 to 1.
func readModelDesirability(n *yaml.Node, f fields, output modelOutput, settings []*ensemble.Score) (desirability func(v float64) float64, about string, err error) {
	var given []string
	for _, key := range []string{"at_least", "at_most", "between", "maximize", "minimize", "target"} {
		if f[key] != nil {
			given = append(given, key)
		}
	}
	bounded := len(given) == 1 && !strings.HasSuffix(given[0], "imize") && given[0] != "target"
	if v := f["sd"]; v != nil && !bounded {
		return nil, "", yaml.Hint(v.Errorf("sd is for bounds, and there are none"), "remove it")
	}
	if output.probability {
		if len(given) > 0 {
			return nil, "", yaml.Hint(f[given[0]].Errorf("%s is for numbers, and the model tells the probability of a class", given[0]), "remove it")
		}
		return func(p float64) float64 { return min(max(p, 0), 1) }, "as probable as can be", nil
	}
	if len(given) != 1 {
		return nil, "", yaml.Hint(n.Errorf("%s", objectiveCountText("the model", given)), "say one of maximize: true, minimize: true, target, at_least, at_most, between")
	}
	if given[0] == "target" {
		d, about, err := readDesirability(n, map[string]*yaml.Node{"target": f["target"]})
		if err != nil {
			return nil, "", err
		}
		return func(v float64) float64 { return portable.Exp(d.Log(v)) }, about, nil
	}
	if !bounded {
		return readModelDirection(given[0], f[given[0]], output, settings)
	}
	want, at, err := readWant(n, map[string]*yaml.Node{given[0]: f[given[0]]})
	if err != nil {
		return nil, "", err
	}
	low, high, _ := want.Bounds()
	about = want.String()
	v := f["sd"]
	if v == nil {
		return func(v float64) float64 {
			if low <= v && v <= high {
				return 1
			}
			return 0
		}, about, nil
	}
	sd, err := v.Float("sd")
	if err == nil && sd <= 0 {
		err = yaml.Hint(v.Errorf("sd is %v", sd), "it must be above 0: the standard deviation of what is, about what the model says")
	}
	if err != nil || math.IsInf(low, -1) && math.IsInf(high, 1) {
		return nil, about, at.PlaceError(err)
	}
	// Φ((high − v)/sd) − Φ((low − v)/sd), computed from the smaller tails to avoid cancellation.
	return func(v float64) float64 {
		a, b := (low-v)/(sd*math.Sqrt2), (high-v)/(sd*math.Sqrt2)
		if a < 0 {
			a, b = -b, -a
		}
		return float64((portable.Erfc(a) - portable.Erfc(b)) / 2)
	}, fmt.Sprintf("%s, give or take %v", about, sd), nil
}

// readModelDirection reads maximize or minimize: true, or the values that score 0 and 1.
func readModelDirection(key string, n *yaml.Node, output modelOutput, settings []*ensemble.Score) (desirability func(v float64) float64, about string, err error) {
	from, to := math.Inf(1), math.Inf(-1)
	if n.Kind == yaml.Mapping {
		f, err := modelSections.ByID(key).Fields(n)
		if err != nil {
			return nil, "", err
		}
		if err := n.Require(key, "write {from: 2, to: 5}: the values that score 0 and 1", "from", "to"); err != nil {
			return nil, "", err
		}
		if from, err = f["from"].Float("from"); err != nil {
			return nil, "", err
		}
		if to, err = f["to"].Float("to"); err != nil {
			return nil, "", err
		}
	} else {
		if _, err := readDirection(key, n); err != nil {
			return nil, "", err
		}
		for _, s := range settings {
			least, greatest := s.Bounds()
			a, b := output.valueOf(least), output.valueOf(greatest)
			from, to = min(from, a, b), max(to, a, b)
		}
		if key == "minimize" {
			from, to = to, from
		}
	}
	if math.IsInf(from, 0) || math.IsInf(to, 0) || math.IsNaN(from+to) || from == to || from < to != (key == "maximize") {
		return nil, "", yaml.Hint(n.Errorf("there is nothing to %s from %v to %v", key, from, to), "write {from: 2, to: 5} as suits the model: the values that score 0 and 1")
	}
	return func(v float64) float64 { return min(max((v-from)/(to-from), 0), 1) }, fmt.Sprintf("%s, from %.4g to %.4g", key, from, to), nil
}
