package problem

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/ensemble"
	"kir/internal/inputerr"
	"kir/property"
)

// An inputMapping maps a composition to the inputs of a model.
type inputMapping struct {
	*readContext
	model       *ensemble.Model
	at          *yaml.Node
	amounts     string // measure that an ingredient's name alone stands for
	sources     []ensemble.Source
	triedInputs []triedInput
}

// triedInput is an input that is a constant, not part of the composition, with the values to try.
type triedInput struct {
	input  int
	name   string
	values []float64
}

// hasPropertyUnit lists the measures of ingredients that an input can be.
var hasPropertyUnit = []string{"share", "percent", "units", "presence", "count"}

// readInputs reads the features and the constants.
func (b *inputMapping) readInputs(f fields) error {
	b.amounts = "share"
	if v := f["amounts"]; v != nil {
		if b.amounts = v.Text; !slices.Contains(hasPropertyUnit[:3], b.amounts) {
			return yaml.Hint(v.Errorf("amounts is %s", v.Describe()), "write share (x/M), percent or units: what the model was trained on")
		}
	}
	inputs := b.model.Inputs
	said := make(map[string]*yaml.Node)
	if v := f["features"]; v != nil && v.Kind == yaml.Sequence {
		if len(v.Items) != len(inputs) {
			return yaml.Hint(v.Errorf("features lists %d and the model has %s", len(v.Items), inputerr.Count(len(inputs), "input")), "the model's are %s", inputerr.List(inputs, 12))
		}
		for k, item := range v.Items {
			said[inputs[k]] = item
		}
	} else if v != nil {
		if v.Kind != yaml.Mapping {
			return yaml.Hint(v.Errorf("features are %s", v.Describe()), "write what inputs are: {x0: {share: Gin}}, or a list in the order of the inputs")
		}
		for _, e := range v.Entries {
			if !slices.Contains(inputs, e.Key.Text) {
				return yaml.SuggestName(e.Key.Errorf("the model has no input %s", inputerr.Quote(e.Key.Text)), e.Key.Text, "it has", inputs, 12)
			}
			said[e.Key.Text] = e.Value
		}
	}
	constants := make(map[string]*yaml.Node)
	if v := f["constants"]; v != nil {
		if v.Kind != yaml.Mapping {
			return yaml.Hint(v.Errorf("constants are %s", v.Describe()), "write names and values, such as {temperature: 180}")
		}
		for _, e := range v.Entries {
			constants[e.Key.Text] = e.Value
		}
	}
	var unknown []string
	for k, name := range inputs {
		item := said[name]
		switch {
		case item == nil || item.Kind == yaml.Mapping:
		case item.Kind == yaml.Text:
			name = item.Text
		default:
			return yaml.Hint(item.Errorf("the input %s is %s", inputerr.Quote(name), item.Describe()),
				"write what it is of a composition, such as Gin or {share: Gin}, and values that no composition has under constants: {%s: 1}", inputerr.Quote(name))
		}
		if v := constants[name]; v != nil {
			if err := b.readConstant(k, name, v); err != nil {
				return err
			}
			delete(constants, name)
			continue
		}
		var source ensemble.Source
		var err error
		known := true
		if item != nil && item.Kind == yaml.Mapping {
			source, err = b.readSpelledOut(item)
		} else {
			source, known, err = b.findByName(name)
		}
		if err != nil {
			return err
		}
		if !known {
			unknown = append(unknown, name)
		}
		b.sources = append(b.sources, source)
	}
	if unknown != nil {
		return yaml.Hint(b.at.Errorf("the model asks for %s, which the problem does not know; it has the ingredients %s", inputerr.List(unknown, 8), inputerr.List(b.Names, 8)),
			"say what they are under features, such as {%s: {share: %s}}, or give their values under constants", unknown[0], inputerr.Quote(b.Names[0]))
	}
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		return yaml.SuggestName(constants[name].Errorf("the model has no input %s for the constant", inputerr.Quote(name)), name, "it has", inputs, 12)
	}
	b.warnUnseen()
	return nil
}

// warnUnseen warns about ingredients that no input depends on.
func (b *inputMapping) warnUnseen() {
	seen := make([]bool, len(b.Names))
	for _, s := range b.sources {
		for _, i := range s.Ingredients {
			seen[i] = true
		}
	}
	var unseen []string
	for i, name := range b.Names {
		if !seen[i] {
			unseen = append(unseen, name)
		}
	}
	if unseen != nil {
		b.Warn(fmt.Sprintf("The model %s does not look at %s.", inputerr.Quote(b.at.Get("file").Text), inputerr.List(unseen, 8)))
	}
}

// readConstant reads the value of a constant input, or the values to try.
func (b *inputMapping) readConstant(input int, name string, n *yaml.Node) error {
	t := triedInput{input: input, name: name}
	for _, item := range n.ItemsOrSelf() {
		v := math.NaN()
		if item.Kind != yaml.Text || item.Text != "missing" {
			var err error
			if v, err = item.Float("the constant"); err != nil {
				return err
			}
		}
		t.values = append(t.values, v)
	}
	if t.values == nil {
		return yaml.Hint(n.Errorf("the constant %s has no value", inputerr.Quote(name)), "write a number, or a list of numbers to be tried, or missing")
	}
	b.triedInputs = append(b.triedInputs, t)
	b.sources = append(b.sources, ensemble.Source{Constant: true, Value: t.values[0]})
	return nil
}

// measureSource returns the source of an input that is a measure of some ingredients.
func (b *inputMapping) measureSource(measure string, of []int) ensemble.Source {
	s := ensemble.Source{Count: measure == "count", Presence: measure == "presence"}
	for _, i := range of {
		s.Ingredients = append(s.Ingredients, int32(i))
	}
	switch measure {
	case "percent":
		s.Times = 100
		fallthrough
	case "share":
		s.Over = float64(b.Total)
	}
	return s
}

// meanSource returns the source of an input that is the mean of an attribute, weighted by amounts.
func (b *inputMapping) meanSource(at *yaml.Node, name string) (ensemble.Source, error) {
	values, err := b.AttributeNumbers(at, name)
	if err != nil {
		return ensemble.Source{}, err
	}
	var s ensemble.Source
	var scale float64
	s.Weights, scale = property.Whole(values, b.Total)
	s.Over = float64(scale * float64(b.Total))
	for i := range values {
		s.Ingredients = append(s.Ingredients, int32(i))
	}
	return s, nil
}

// readSpelledOut reads an input in its long form, such as {share: {family: citrus}}.
func (b *inputMapping) readSpelledOut(n *yaml.Node) (ensemble.Source, error) {
	f, err := modelSections.ByID("input").Fields(n)
	if err != nil {
		return ensemble.Source{}, err
	}
	if len(f) != 1 {
		return ensemble.Source{}, yaml.Hint(n.Errorf("the input is %s", inputerr.Count(len(f), "thing")), "write one of %s, mean", strings.Join(hasPropertyUnit, ", "))
	}
	for measure, v := range f {
		if measure == "mean" {
			return b.meanSource(v, v.Text)
		}
		of, _, err := b.WhichIngredients(v)
		return b.measureSource(measure, of), err
	}
	return ensemble.Source{}, nil
}

// findByName finds an input by its name: an ingredient, a numeric attribute, "used", or one of these after
// the words that kir train puts before them. If no name matches exactly, it ignores case, and underscores
// equal spaces.
func (b *inputMapping) findByName(name string) (s ensemble.Source, known bool, err error) {
	clean := dataset.NormalizeName(name)
	if i := findName(b.Names, clean); i >= 0 {
		return b.measureSource(b.amounts, []int{i}), true, nil
	}
	if strings.EqualFold(clean, "used") {
		return b.measureSource("count", allIndexes(len(b.Names))), true, nil
	}
	for _, c := range [...]struct{ words, measure string }{
		{"presence of ", "presence"}, {"share of ", "share"}, {"percent of ", "percent"}, {"units of ", "units"},
		{"count of ", "count"}, {"total of ", b.amounts}, {"", b.amounts},
	} {
		rest, ok := strings.CutPrefix(normalizeName(clean), c.words)
		if !ok {
			continue
		}
		if i := findName(b.Names, rest); i >= 0 {
			return b.measureSource(c.measure, []int{i}), true, nil
		}
		if of := b.groupByWords(rest); of != nil {
			return b.measureSource(c.measure, of), true, nil
		}
	}
	if b.Attributes != nil {
		for k := range b.Attributes.Attributes {
			a := &b.Attributes.Attributes[k]
			if normalizeName(strings.TrimPrefix(normalizeName(clean), "mean of ")) == normalizeName(a.Name) {
				s, err := b.meanSource(b.at, a.Name)
				return s, true, err
			}
		}
	}
	return s, false, nil
}

// groupByWords returns the ingredients of a group such as "family citrus": those whose attribute family is
// citrus.
func (b *inputMapping) groupByWords(words string) (of []int) {
	if b.Attributes == nil {
		return nil
	}
	for k := range b.Attributes.Attributes {
		a := &b.Attributes.Attributes[k]
		value, ok := strings.CutPrefix(words, normalizeName(a.Name)+" ")
		for i, v := range a.Values {
			if ok && v != "" && normalizeName(v) == value {
				of = append(of, i)
			}
		}
		if of != nil {
			return of
		}
	}
	return nil
}

// findName returns the index of a name, or of one with the same normalised form, or −1.
func findName(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(other string) bool { return normalizeName(other) == normalizeName(name) })
}

// normalizeName returns a name in lower case, with spaces instead of underscores.
func normalizeName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", " ")) }

func allIndexes(n int) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	return of
}

// bind returns the model once for each setting of the constants to try.
func (b *inputMapping) bind() ([]*ensemble.Score, error) {
	count := 1
	for _, t := range b.triedInputs {
		if count *= len(t.values); count > maxSettings {
			return nil, yaml.Hint(b.at.Get("constants").Errorf("the constants have more than %d settings", maxSettings), "try fewer values")
		}
	}
	var settings []*ensemble.Score
	for k := range count {
		sources := slices.Clone(b.sources)
		b.eachConstant(k, func(t *triedInput, v float64) { sources[t.input].Value = v })
		s, err := ensemble.Bind(b.model, len(b.Names), b.Total, sources)
		if err != nil {
			return nil, b.at.PlaceError(err)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// eachConstant calls f with the value of each constant in a setting.
func (b *inputMapping) eachConstant(setting int, f func(t *triedInput, v float64)) {
	for k := range b.triedInputs {
		t := &b.triedInputs[k]
		f(t, t.values[setting%len(t.values)])
		setting /= len(t.values)
	}
}

// describeSetting describes a setting by the values of the constants that have several.
func (b *inputMapping) describeSetting(setting int) string {
	var all []string
	b.eachConstant(setting, func(t *triedInput, v float64) {
		switch {
		case len(t.values) == 1:
		case math.IsNaN(v):
			all = append(all, t.name+" missing")
		default:
			all = append(all, fmt.Sprintf("%s %v", t.name, v))
		}
	})
	return strings.Join(all, ", ")
}

// checkPredictions compares the model with a table of its own predictions. Each row is a composition. The
// columns are amounts of ingredients, constants, and one called prediction.
func (b *inputMapping) checkPredictions(ctx context.Context, n, within *yaml.Node, output modelOutput, settings []*ensemble.Score) (tolerance float64, err error) {
	tolerance = 1e-5
	if within != nil {
		if tolerance, err = within.Weight("the tolerance"); err != nil {
			return 0, err
		}
	}
	t, err := b.ReadSheet(ctx, n, "the table of predictions")
	if err != nil {
		return 0, err
	}
	prediction, err := t.Column("prediction")
	if err != nil {
		return 0, err
	}
	ingredient := make([]int, len(t.Columns))
	constant := make([]int, len(t.Columns))
	for c, name := range t.Columns {
		ingredient[c] = findName(b.Names, name)
		constant[c] = slices.IndexFunc(b.triedInputs, func(t triedInput) bool { return t.name == name })
		if c != prediction && ingredient[c] < 0 && constant[c] < 0 {
			return 0, yaml.SuggestName(t.ErrorIn(-1, -1, "%s is neither an ingredient nor a constant", inputerr.Quote(name)), name, "there are", b.Names, 8)
		}
	}
	for r, row := range t.Values {
		x := make([]int32, len(b.Names))
		sum := 0.0
		for c, v := range row {
			if ingredient[c] >= 0 {
				sum += v
			}
		}
		units := 0
		for c, v := range row {
			if ingredient[c] < 0 {
				continue
			}
			exact := float64(v / sum * float64(b.Total))
			whole := math.Round(exact)
			if !(math.Abs(exact-whole) <= 1e-4) || whole < 0 {
				return 0, yaml.Hint(t.ErrorIn(r, c, "%v of %v is %.6g of %d units, which is not whole", v, sum, exact, b.Total), "predict compositions of whole units")
			}
			x[ingredient[c]] = int32(whole)
			units += int(whole)
		}
		if units != b.Total {
			return 0, t.ErrorIn(r, prediction, "the amounts of the row come to %d units of %d", units, b.Total)
		}
		at, step := 0, 1
		for k, tr := range b.triedInputs {
			c := slices.Index(constant, k)
			v := 0
			if c >= 0 {
				v = slices.Index(tr.values, row[c])
			}
			if v < 0 || c < 0 && len(tr.values) > 1 {
				return 0, yaml.Hint(t.ErrorIn(r, max(c, 0), "it is not said for which of its values the constant %s stands", inputerr.Quote(tr.name)), "add a column %s with values that are tried", tr.name)
			}
			at += v * step
			step *= len(tr.values)
		}
		got, want := output.valueOf(settings[at].Sums(x)), row[prediction]
		if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			return 0, yaml.Hint(t.ErrorIn(r, prediction, "the model says %.9g here, and as its inputs are mapped it is %.9g", want, got),
				"see that features, amounts and constants are what it was trained on: its inputs are %s", inputerr.List(b.model.Inputs, 8))
		}
	}
	return tolerance, nil
}
