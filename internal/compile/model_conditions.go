package compile

import (
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/importedmodel"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

// maxCombinations is the maximum number of combinations of values of conditions. An imported model is evaluated
// separately for each combination.
const maxCombinations = 1024

// A conditionInput is an input of an imported model that takes the value of a condition. A condition with
// numbers has one input, which takes the number. A condition with categories has one input for each category;
// it takes 1 for that category and 0 for others.
type conditionInput struct {
	inputIndex     int    // index among the inputs of the model
	name           string // name of the input
	conditionIndex int    // index of the condition
	category       string // category for which the input is 1; empty if the condition has numbers
}

// addConditionInput adds a model input if the name of the input is that of a condition, or that of a condition
// and one of its categories, such as catalyst_A. It reports whether it has added the input.
func (b *inputMapping) addConditionInput(input int, name string) (added bool, err error) {
	plain := func(text string) string { return normalizeName(strings.ReplaceAll(text, "=", " ")) }
	for k := range b.offeredConditions {
		c := &b.offeredConditions[k]
		if plain(name) == plain(c.Name) {
			if c.Numbers == nil {
				return false, yaml.Hint(b.node.Errorf("the model takes %s as a number, and the condition has categories", inputerr.Quote(name)), "train it with an input for each category, such as %s_%s", c.Name, c.fileCondition.Categories[0])
			}
			b.addConditionSource(conditionInput{inputIndex: input, name: name, conditionIndex: k})
			return true, nil
		}
		if c.Numbers != nil {
			continue
		}
		for _, category := range c.fileCondition.Categories {
			if plain(name) == plain(c.Name+" "+category) {
				b.addConditionSource(conditionInput{input, name, k, category})
				return true, nil
			}
		}
	}
	return false, nil
}

// addConditionSource adds a model input that takes its value from a condition.
func (b *inputMapping) addConditionSource(in conditionInput) {
	b.conditionInputs = append(b.conditionInputs, in)
	b.inputSources = append(b.inputSources, ensemble.Source{Constant: true})
	if !slices.Contains(b.usedConditions, in.conditionIndex) {
		b.usedConditions = append(b.usedConditions, in.conditionIndex)
		b.offeredValueCounts = append(b.offeredValueCounts, b.offeredConditions[in.conditionIndex].Len())
	}
}

// bindConditions returns one model for each combination of values of the conditions that the model takes. The
// inputs for the conditions are fixed to that combination. The value of the last condition varies fastest.
func (b *inputMapping) bindConditions() (all []*ensemble.Score, err error) {
	number := 1
	for _, n := range b.offeredValueCounts {
		if number *= n; number > maxCombinations {
			return nil, yaml.Hint(b.node.Errorf("the model takes more than %d combinations of conditions", maxCombinations), "list fewer values of them")
		}
	}
	for at := range number {
		for _, in := range b.conditionInputs {
			b.inputSources[in.inputIndex].Value = b.conditionInputValue(in, at)
		}
		one, err := ensemble.Bind(b.model, len(b.IngredientNames), b.Total, slices.Clone(b.inputSources))
		if err != nil {
			return nil, b.node.PlaceError(err)
		}
		all = append(all, one)
	}
	return all, nil
}

// conditionInputValue returns the value of a model input that depends on a condition, for the combination of
// values with the given index.
func (b *inputMapping) conditionInputValue(in conditionInput, combination int) float64 {
	v := 0
	for k := len(b.usedConditions) - 1; k >= 0; k-- {
		v = combination % b.offeredValueCounts[k]
		if b.usedConditions[k] == in.conditionIndex {
			break
		}
		combination /= b.offeredValueCounts[k]
	}
	c := &b.offeredConditions[in.conditionIndex]
	switch {
	case c.Numbers != nil:
		return c.Numbers[v]
	case c.Categories[v] == in.category:
		return 1
	}
	return 0
}

// mergeCombinations makes one property of several. It scores a composition by the property that belongs to the
// values of the composition's conditions. Item c of properties is the property for the combination of values with
// index c.
func (b *inputMapping) mergeCombinations(properties []Property) (Property, error) {
	p := properties[0]
	if len(properties) == 1 {
		return p, nil
	}
	lines := func(property func(*Property) (mcmc.Property, error)) (*importedmodel.ConditionedProperty, error) {
		var all []mcmc.LineProperty
		for k := range properties {
			one, err := property(&properties[k])
			if err != nil {
				return nil, err
			}
			all = append(all, one.(mcmc.LineProperty)) // as imported models are
		}
		return importedmodel.NewConditioned(b.usedConditions, b.offeredValueCounts, all)
	}
	joined, err := lines(func(w *Property) (mcmc.Property, error) { return w.mcmcProperty, nil })
	if err != nil {
		return p, err
	}
	p.mcmcProperty = joined
	if p.Value != nil {
		p.Value = func(x *mcmc.Composition) float64 { return properties[joined.Combination(x)].Value(x) }
	}
	if p.importedClassChance != nil {
		p.importedClassChance = func(x *mcmc.Composition) float64 { return properties[joined.Combination(x)].importedClassChance(x) }
	}
	p.newValueScale = func() (*valueScale, error) {
		var scales []*valueScale
		for k := range properties {
			l, err := properties[k].newValueScale()
			if err != nil {
				return nil, err
			}
			scales = append(scales, l)
		}
		all := *scales[0]
		for _, l := range scales {
			all.typicalSpread = max(all.typicalSpread, l.typicalSpread)
		}
		all.scoredValue = func(x *mcmc.Composition) float64 { return scales[joined.Combination(x)].scoredValue(x) }
		all.asProperty = func(d *property.Desirability) (mcmc.Property, error) {
			at := -1
			return lines(func(*Property) (mcmc.Property, error) {
				at++
				return scales[at].asProperty(d)
			})
		}
		return &all, nil
	}
	return p, nil
}
