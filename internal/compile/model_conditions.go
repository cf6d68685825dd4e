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

// maxCombinations is the greatest number of combinations of conditions at which an imported model is bound.
const maxCombinations = 1024

// A conditionInput is an input of an imported model that a condition gives: its number, or 1 for one of its categories
// and 0 for the others.
type conditionInput struct {
	input     int
	name      string
	condition int // index
	category  string
}

// addConditionInput adds the input of a name if that is of a condition, or of a category of one, such as catalyst_A.
func (b *inputMapping) addConditionInput(input int, name string) (added bool, err error) {
	plain := func(text string) string { return normalizeName(strings.ReplaceAll(text, "=", " ")) }
	for k := range b.offered {
		c := &b.offered[k]
		if plain(name) == plain(c.Name) {
			if c.Numbers == nil {
				return false, yaml.Hint(b.at.Errorf("the model takes %s as a number, and the condition has categories", inputerr.Quote(name)), "train it with an input for each category, such as %s_%s", c.Name, c.file.Categories[0])
			}
			b.addConditionSource(conditionInput{input: input, name: name, condition: k})
			return true, nil
		}
		if c.Numbers != nil {
			continue
		}
		for _, category := range c.file.Categories {
			if plain(name) == plain(c.Name+" "+category) {
				b.addConditionSource(conditionInput{input, name, k, category})
				return true, nil
			}
		}
	}
	return false, nil
}

func (b *inputMapping) addConditionSource(in conditionInput) {
	b.conditionInputs = append(b.conditionInputs, in)
	b.sources = append(b.sources, ensemble.Source{Constant: true})
	if !slices.Contains(b.conditionsOf, in.condition) {
		b.conditionsOf = append(b.conditionsOf, in.condition)
		b.valuesOf = append(b.valuesOf, b.offered[in.condition].Len())
	}
}

// bindConditions returns the model bound to each combination of the conditions that it takes, the value of the last
// varying fastest.
func (b *inputMapping) bindConditions() (all []*ensemble.Score, err error) {
	number := 1
	for _, n := range b.valuesOf {
		if number *= n; number > maxCombinations {
			return nil, yaml.Hint(b.at.Errorf("the model takes more than %d combinations of conditions", maxCombinations), "list fewer values of them")
		}
	}
	for at := range number {
		for _, in := range b.conditionInputs {
			b.sources[in.input].Value = b.inputValue(in, at)
		}
		one, err := ensemble.Bind(b.model, len(b.Names), b.Total, slices.Clone(b.sources))
		if err != nil {
			return nil, b.at.PlaceError(err)
		}
		all = append(all, one)
	}
	return all, nil
}

// inputValue returns the value of an input in a combination of conditions.
func (b *inputMapping) inputValue(in conditionInput, combination int) float64 {
	v := 0
	for k := len(b.conditionsOf) - 1; k >= 0; k-- {
		v = combination % b.valuesOf[k]
		if b.conditionsOf[k] == in.condition {
			break
		}
		combination /= b.valuesOf[k]
	}
	c := &b.offered[in.condition]
	switch {
	case c.Numbers != nil:
		return c.Numbers[v]
	case c.Categories[v] == in.category:
		return 1
	}
	return 0
}

// mergeCombinations returns the property of which each of the given ones is that of a combination of conditions.
func (b *inputMapping) mergeCombinations(of []Property) (Property, error) {
	p := of[0]
	if len(of) == 1 {
		return p, nil
	}
	lines := func(property func(*Property) (mcmc.Property, error)) (*importedmodel.Conditioned, error) {
		var all []mcmc.LineProperty
		for k := range of {
			one, err := property(&of[k])
			if err != nil {
				return nil, err
			}
			all = append(all, one.(mcmc.LineProperty)) // as imported models are
		}
		return importedmodel.NewConditioned(b.conditionsOf, b.valuesOf, all)
	}
	joined, err := lines(func(w *Property) (mcmc.Property, error) { return w.property, nil })
	if err != nil {
		return p, err
	}
	p.property = joined
	if p.Value != nil {
		p.Value = func(x *mcmc.Composition) float64 { return of[joined.Combination(x)].Value(x) }
	}
	if p.classChance != nil {
		p.classChance = func(x *mcmc.Composition) float64 { return of[joined.Combination(x)].classChance(x) }
	}
	p.valueScale = func() (*valueScale, error) {
		var scales []*valueScale
		for k := range of {
			l, err := of[k].valueScale()
			if err != nil {
				return nil, err
			}
			scales = append(scales, l)
		}
		all := *scales[0]
		for _, l := range scales {
			all.width = max(all.width, l.width)
		}
		all.value = func(x *mcmc.Composition) float64 { return scales[joined.Combination(x)].value(x) }
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
