package compile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

// blendKind is the kind of property that scores the mean of an attribute of the ingredients, weighted by
// amounts.
var blendKind = propertyKind{
	PropertyKind:     config.BlendKind,
	compile:          withValueType(compileBlend),
	scoresEverySplit: alwaysScoresEverySplit,
	hasDirections:    true,
}

// A blendedAttribute has one number for each ingredient. A blend scores the mean of the numbers, weighted by
// amounts.
type blendedAttribute struct {
	values      []float64 // item i is the number for ingredient i
	description string    // description of the mean, in words
	unit        string    // unit of the shown mean
	shownFactor float64   // shown mean divided by the mean of the numbers in values
}

// compileBlend makes a property that scores the mean of an attribute, weighted by amounts.
func compileBlend(ctx context.Context, s *readContext, v *config.Blend, n *yaml.Node) (Property, error) {
	of, err := readBlendedAttribute(s, v)
	if err != nil {
		return Property{}, err
	}
	if err := v.CheckOneDirection(n); err != nil {
		return Property{}, err
	}
	mean, err := property.NewBlend(of.values, s.Total, property.Exponential(1))
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	l := of.newValueScale(v)
	l.scoredValue, l.asProperty = mean.Mean, func(d *property.Desirability) (mcmc.Property, error) { return mean.WithDesirability(d), nil }
	var d *property.Desirability
	var words string
	least := v.Floor.Value
	if v.IsExtreme() {
		least = v.Floor.Or(objectiveFloor)
		d, words, err = l.extremeDesirability(ctx, s, n, of.unit, &v.Objective)
	} else {
		d, words, err = blendDesirability(v)
	}
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) float64 { return float64(of.shownFactor * mean.Mean(x)) }
	return Property{
		About: of.description + ": " + words, Value: value, Unit: of.unit, mcmcProperty: mean.WithDesirability(d), resolvedValue: resolvedBlend(v, n, least),
		newValueScale: l.setRoundingError(),
	}, nil
}

// readBlendedAttribute returns the numbers of an attribute of the ingredients. If the blend names values of
// the attribute, the numbers are 1 for ingredients with one of these values and 0 for others.
func readBlendedAttribute(s *readContext, v *config.Blend) (of blendedAttribute, err error) {
	name := v.Attribute.Value
	if v.AttributeValues.Node != nil {
		name = dataset.NormalizeName(name)
		of.values, err = groupIndicator(s, v, name)
		of.description, of.unit, of.shownFactor = "share of "+name+" "+joinTexts(v.AttributeValues.Value), "%", 100
		return of, err
	}
	of.values, err = s.AttributeNumbers(v.Attribute.Node, name)
	of.description, of.shownFactor = "mean "+dataset.NormalizeName(name), 1
	if s.Attributes != nil {
		if a, ok := s.Attributes.Attribute(name); ok {
			of.unit = a.Unit()
		}
	}
	return of, err
}

// newValueScale returns the value scale of the mean. The caller must set the functions scoredValue and
// asProperty of the scale.
func (of *blendedAttribute) newValueScale(v *config.Blend) *valueScale {
	// The width is a typical difference between means.
	l := &valueScale{valueName: blendMeanName, shownUnit: of.unit, shownFactor: of.shownFactor, typicalSpread: max((slices.Max(of.values)-slices.Min(of.values))/20, math.SmallestNonzeroFloat64)}
	if v.AttributeValues.Node != nil {
		l.valueName, l.shownUnit, l.notation = groupShareName, "", shareNotation
	}
	return l
}

// resolvedBlend returns the mapping under the key "blend", with all defaults written out. The parameter floor
// is the minimum of the score.
func resolvedBlend(v *config.Blend, n *yaml.Node, floor float64) (resolved yaml.Map) {
	resolved.CopyKeys(n, "attribute", "is")
	resolved.CopyKeys(n, v.Sections()[0].ExactlyOneOf...)
	resolved.CopyKeys(n, "shape")
	if v.Shape.Node == nil && v.TargetShapes.Node == nil && v.Range.Node == nil && v.Normal.Node == nil {
		resolved.Set("shape", 1)
	}
	resolved.Set("floor", floor)
	return resolved
}

// joinTexts joins texts by the word "or".
func joinTexts(texts []config.Written[string]) string {
	var names []string
	for _, text := range texts {
		names = append(names, text.Value)
	}
	return strings.Join(names, " or ")
}

// groupIndicator returns one number for each ingredient: 1 if the ingredient's attribute has one of the values
// that the blend names, and 0 otherwise.
func groupIndicator(s *readContext, v *config.Blend, name string) ([]float64, error) {
	attribute, err := s.Attribute(v.Attribute.Node, name)
	if err != nil {
		return nil, err
	}
	groups := groupByValue(attribute)
	var known []string
	index := make(map[string]int, len(groups))
	for k, g := range groups {
		known = append(known, g.value)
		index[g.value] = k
	}
	if len(v.AttributeValues.Value) == 0 {
		return nil, yaml.Hint(v.AttributeValues.Node.Errorf("the list of values is empty"), "there are %s", inputerr.List(known, 12))
	}
	values := make([]float64, len(s.IngredientNames))
	for _, is := range v.AttributeValues.Value {
		value := dataset.NormalizeName(is.Value)
		at, ok := index[value]
		if !ok {
			return nil, yaml.SuggestName(is.Node.Errorf("no ingredient has %s %s", name, is.Node.Describe()), value, "there are", known, 12)
		}
		for _, i := range groups[at].members {
			values[i] = 1
		}
	}
	return values, nil
}

// blendDesirability returns the desirability of a mean, for a blend whose direction has numbers, such as a
// target or a range. It also returns a description.
func blendDesirability(v *config.Blend) (d *property.Desirability, words string, err error) {
	below, above := v.Exponents()
	var at *yaml.Node
	switch {
	case v.Larger.Node != nil:
		at, words = v.Larger.Node, fmt.Sprintf("as large as possible, from %v (worst) to %v (best)", v.Larger.Value.From.Value, v.Larger.Value.To.Value)
		d, err = property.LargerIsBetter(v.Larger.Value.From.Value, v.Larger.Value.To.Value, below)
	case v.Smaller.Node != nil:
		at, words = v.Smaller.Node, fmt.Sprintf("as small as possible, from %v (worst) to %v (best)", v.Smaller.Value.To.Value, v.Smaller.Value.From.Value)
		d, err = property.SmallerIsBetter(v.Smaller.Value.From.Value, v.Smaller.Value.To.Value, below)
	case v.Target.Node != nil:
		at = v.Target.Node
		d, words, err = targetDesirability(&v.Target.Value, below, above)
	case v.Range.Node != nil:
		at, words = v.Range.Node, fmt.Sprintf("from %v to %v", v.Range.Value.From.Value, v.Range.Value.To.Value)
		d, err = property.WithinRange(v.Range.Value.From.Value, v.Range.Value.To.Value)
	case v.Normal.Node != nil:
		mean, sd := v.Normal.Value.Mean.Value, v.Normal.Value.SD.Value
		at, words = v.Normal.Node, fmt.Sprintf("near %v, give or take %v", mean, sd)
		d, err = property.BellShaped(mean, sd)
	}
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	if d, err = d.Floor(v.Floor.Value); err != nil {
		return nil, "", v.Floor.Node.PlaceError(err)
	}
	return d, words, nil
}

// targetDesirability returns the desirability of a value that is best at a target, and a description. The
// parameters below and above are the exponents of the desirability on the two sides of the target.
func targetDesirability(t *config.Target, below, above float64) (*property.Desirability, string, error) {
	from, at, to := t.From.Value, t.At.Value, t.To.Value
	d, err := property.Target(from, at, to, below, above)
	return d, fmt.Sprintf("near %v, and between %v and %v", at, from, to), err
}
