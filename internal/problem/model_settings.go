package problem

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
)

// maxSettings is the greatest number of settings of constants that are tried.
const maxSettings = 64

// triedInput is an input that is a constant, not part of the composition, with the values to try.
type triedInput struct {
	input  int
	name   string
	values []float64
}

// addConstant adds a constant input.
func (b *inputMapping) addConstant(input int, c *config.Constant) {
	b.triedInputs = append(b.triedInputs, triedInput{input, c.Name, c.Values})
	b.sources = append(b.sources, ensemble.Source{Constant: true, Value: c.Values[0]})
}

// bind returns the model once for each setting of the constants to try, which stand at a node.
func (b *inputMapping) bind(constants *yaml.Node) ([]*ensemble.Score, error) {
	count := 1
	for _, t := range b.triedInputs {
		if count *= len(t.values); count > maxSettings {
			return nil, yaml.Hint(constants.Errorf("the constants have more than %d settings", maxSettings), "try fewer values")
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
