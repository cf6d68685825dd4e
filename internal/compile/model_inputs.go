package compile

import (
	"fmt"
	"maps"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/inputerr"
	"kir/property"
)

// An inputMapping finds the source of each input of an imported model: a constant, a condition, or a quantity
// of the composition such as the share of an ingredient.
type inputMapping struct {
	*readContext
	model          *ensemble.Model
	node           *yaml.Node        // YAML node of the property
	defaultMeasure string            // measure, such as "share", for every input that has the name of an ingredient
	inputSources   []ensemble.Source // item j tells how the input of the model with index j is computed from the composition
	constants      []constantInput

	conditionInputs    []conditionInput // inputs that take their values from conditions
	usedConditions     []int            // indices of the conditions that occur in conditionInputs
	offeredValueCounts []int            // item j is the number of offered values of condition usedConditions[j]
}

// A constantInput is an input of the model that the problem file sets to a constant.
type constantInput struct {
	inputIndex int     // index among the inputs of the model
	name       string  // name of the input
	value      float64 // value of the constant; NaN stands for a missing value
}

// mapInputs finds the source of each input of the model: a constant, a condition, or a quantity of the
// composition.
func (b *inputMapping) mapInputs(v *config.Model) error {
	inputs := b.model.Inputs
	features, err := b.fileInputsByName(v.Features)
	if err != nil {
		return err
	}
	constants := make(map[string]*config.Constant)
	for k := range v.Constants.Value {
		c := &v.Constants.Value[k]
		constants[c.Name] = c
	}
	var unknown []string
	for k, name := range inputs {
		item := features[name]
		if name, err = inputName(item, name); err != nil {
			return err
		}
		if c := constants[name]; c != nil {
			delete(constants, name)
			if !c.HasSeveralValues {
				b.constants = append(b.constants, constantInput{k, name, c.Value})
				b.inputSources = append(b.inputSources, ensemble.Source{Constant: true, Value: c.Value})
				continue
			}
		}
		if item == nil || item.Figure == nil {
			if added, err := b.addConditionInput(k, name); err != nil {
				return err
			} else if added {
				continue
			}
		}
		source, known, err := b.sourceOfInput(item, name)
		if err != nil {
			return err
		}
		if !known {
			unknown = append(unknown, name)
		}
		b.inputSources = append(b.inputSources, source)
	}
	if unknown != nil {
		return yaml.Hint(b.node.Errorf("the model asks for %s, which the problem does not know; it has the ingredients %s", inputerr.List(unknown, 8), inputerr.List(b.IngredientNames, 8)),
			"say what they are under features, such as {%s: {share: %s}}, list them under conditions, or give their values under constants", unknown[0], inputerr.Quote(b.IngredientNames[0]))
	}
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		return yaml.SuggestName(constants[name].Node.Errorf("the model has no input %s for the constant", inputerr.Quote(name)), name, "it has", inputs, 12)
	}
	b.warnUnusedIngredients(v.File.Text)
	return nil
}

// fileInputsByName returns the inputs that the problem file describes. The keys of the map are the names of the
// inputs in the model.
func (b *inputMapping) fileInputsByName(f config.Written[config.Features]) (map[string]*config.Input, error) {
	inputs := b.model.Inputs
	if f.Value.Ordered && len(f.Value.Inputs) != len(inputs) {
		return nil, yaml.Hint(f.Node.Errorf("features lists %d and the model has %s", len(f.Value.Inputs), inputerr.Count(len(inputs), "input")), "the model's are %s", inputerr.List(inputs, 12))
	}
	all := make(map[string]*config.Input)
	for k := range f.Value.Inputs {
		item := &f.Value.Inputs[k]
		if f.Value.Ordered {
			all[inputs[k]] = item
			continue
		}
		name := item.Key.Text
		if !slices.Contains(inputs, name) {
			return nil, yaml.SuggestName(item.Key.Errorf("the model has no input %s", inputerr.Quote(name)), name, "it has", inputs, 12)
		}
		all[name] = item
	}
	return all, nil
}

// inputName returns the name by which the source of an input is found. It is the name in item, the description
// in the problem file, or else the name of the input in the model. The parameter item is nil if the file does
// not describe the input.
func inputName(item *config.Input, name string) (string, error) {
	switch {
	case item == nil || item.Figure != nil:
		return name, nil
	case item.Name.Node != nil:
		return item.Name.Value, nil
	}
	return "", yaml.Hint(item.At.Errorf("the input %s is %s", inputerr.Quote(name), item.At.Describe()),
		"write what it is of a composition, such as Gin or {share: Gin}, and values that no composition has under constants: {%s: 1}", inputerr.Quote(name))
}

// sourceOfInput returns the source of an input that is a quantity of the composition. The quantity follows from
// item, the description in the problem file, or else from the name of the input. The result known is false if
// neither tells the quantity.
func (b *inputMapping) sourceOfInput(item *config.Input, name string) (s ensemble.Source, known bool, err error) {
	if item == nil || item.Figure == nil {
		return b.sourceByName(name)
	}
	var f config.Figure
	if err := f.Decode(item.Figure); err != nil {
		return s, true, err
	}
	if f.Mean.Node != nil {
		s, err = b.meanSource(f.Mean.Node, f.Mean.Value)
		return s, true, err
	}
	measure, ingredients := f.Measure()
	of, _, err := b.WhichIngredients(ingredients)
	return b.measureSource(measure, of), true, err
}

// warnUnusedIngredients adds a warning about ingredients on which no input depends.
func (b *inputMapping) warnUnusedIngredients(file string) {
	seen := make([]bool, len(b.IngredientNames))
	for _, s := range b.inputSources {
		for _, i := range s.Ingredients {
			seen[i] = true
		}
	}
	var unseen []string
	for i, name := range b.IngredientNames {
		if !seen[i] {
			unseen = append(unseen, name)
		}
	}
	if unseen != nil {
		b.Warn(fmt.Sprintf("The model %s does not look at %s.", inputerr.Quote(file), inputerr.List(unseen, 8)))
	}
}

// measureSource returns the source of an input that is a measure of some ingredients: their count, presence,
// share, percent or units.
func (b *inputMapping) measureSource(measure string, of []int) ensemble.Source {
	s := ensemble.Source{CountsUsed: measure == "count", Presence: measure == "presence"}
	for _, i := range of {
		s.Ingredients = append(s.Ingredients, int32(i))
	}
	switch measure {
	case "percent":
		s.Multiplier = 100
		fallthrough
	case "share":
		s.Divisor = float64(b.Total)
	}
	return s
}

// meanSource returns the source of an input that is the mean of an attribute, weighted by the amounts of the
// ingredients.
func (b *inputMapping) meanSource(at *yaml.Node, name string) (ensemble.Source, error) {
	values, err := b.AttributeNumbers(at, name)
	if err != nil {
		return ensemble.Source{}, err
	}
	var s ensemble.Source
	var scale float64
	s.Weights, scale = property.ScaleToIntegers(values, b.Total)
	s.Divisor = float64(scale * float64(b.Total))
	for i := range values {
		s.Ingredients = append(s.Ingredients, int32(i))
	}
	return s, nil
}
