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

var blendKind = propertyKind{
	PropertyKind:     config.BlendKind,
	compile:          compileAs(compileBlend),
	scoresEverySplit: scoresAnySplit,
	hasDirections:    true,
}

// A blendedAttribute has a number for each ingredient, whose mean a blend scores.
type blendedAttribute struct {
	values      []float64
	description string
	unit        string
	scale       float64 // what the mean is multiplied by to be shown in the unit
}

// compileBlend makes a property of a mean weighted by amounts.
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
	l := of.valueScale(v)
	l.value, l.asProperty = mean.Mean, func(d *property.Desirability) (mcmc.Property, error) { return mean.As(d), nil }
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
	value := func(x *mcmc.Composition) float64 { return float64(of.scale * mean.Mean(x)) }
	return Property{
		About: of.description + ": " + words, Value: value, Unit: of.unit, property: mean.As(d), resolved: resolveBlend(v, n, least),
		valueScale: l.withSlack(),
	}, nil
}

// readBlendedAttribute returns the numbers of an attribute, or 1 and 0 for the ingredients with and without
// one of its values.
func readBlendedAttribute(s *readContext, v *config.Blend) (of blendedAttribute, err error) {
	name := v.Attribute.Value
	if v.Is.At != nil {
		name = dataset.NormalizeName(name)
		of.values, err = groupIndicator(s, v, name)
		of.description, of.unit, of.scale = "share of "+name+" "+joinTexts(v.Is.Value), "%", 100
		return of, err
	}
	of.values, err = s.AttributeNumbers(v.Attribute.At, name)
	of.description, of.scale = "mean "+dataset.NormalizeName(name), 1
	if s.Attributes != nil {
		if a, ok := s.Attributes.Attribute(name); ok {
			of.unit = a.Unit()
		}
	}
	return of, err
}

// valueScale returns the scale of the mean, without its value.
func (of *blendedAttribute) valueScale(v *config.Blend) *valueScale {
	// The width is a typical difference between means.
	l := &valueScale{valueName: blendWords, unit: of.unit, scale: of.scale, width: max((slices.Max(of.values)-slices.Min(of.values))/20, math.SmallestNonzeroFloat64)}
	if v.Is.At != nil {
		l.valueName, l.unit, l.notation = shareWords, "", asShare
	}
	return l
}

// resolveBlend returns the value under the kind with defaults filled in.
func resolveBlend(v *config.Blend, n *yaml.Node, least float64) (resolved yaml.Map) {
	resolved.CopyKeys(n, "attribute", "is")
	resolved.CopyKeys(n, v.Sections()[0].ExactlyOneOf...)
	resolved.CopyKeys(n, "shape")
	if v.Shape.At == nil && v.TargetShapes.At == nil && v.Range.At == nil && v.Normal.At == nil {
		resolved.Set("shape", 1)
	}
	resolved.Set("floor", least)
	return resolved
}

// joinTexts joins texts by "or".
func joinTexts(texts []config.Written[string]) string {
	var names []string
	for _, text := range texts {
		names = append(names, text.Value)
	}
	return strings.Join(names, " or ")
}

// groupIndicator returns 1 for each ingredient whose attribute has one of the values, and
// 0 for the others.
func groupIndicator(s *readContext, v *config.Blend, name string) ([]float64, error) {
	attribute, err := s.Attribute(v.Attribute.At, name)
	if err != nil {
		return nil, err
	}
	groups := groups(attribute)
	var known []string
	index := make(map[string]int, len(groups))
	for k, g := range groups {
		known = append(known, g.value)
		index[g.value] = k
	}
	if len(v.Is.Value) == 0 {
		return nil, yaml.Hint(v.Is.At.Errorf("the list of values is empty"), "there are %s", inputerr.List(known, 12))
	}
	values := make([]float64, len(s.Names))
	for _, is := range v.Is.Value {
		value := dataset.NormalizeName(is.Value)
		at, ok := index[value]
		if !ok {
			return nil, yaml.SuggestName(is.At.Errorf("no ingredient has %s %s", name, is.At.Describe()), value, "there are", known, 12)
		}
		for _, i := range groups[at].members {
			values[i] = 1
		}
	}
	return values, nil
}

// blendDesirability returns the desirability of a mean by a direction with values of its own, and a
// description.
func blendDesirability(v *config.Blend) (d *property.Desirability, words string, err error) {
	below, above := v.Exponents()
	var at *yaml.Node
	switch {
	case v.Larger.At != nil:
		at, words = v.Larger.At, "larger, "+spanWords(&v.Larger.Value)
		d, err = property.Larger(v.Larger.Value.From.Value, v.Larger.Value.To.Value, below)
	case v.Smaller.At != nil:
		at, words = v.Smaller.At, "smaller, "+spanWords(&v.Smaller.Value)
		d, err = property.Smaller(v.Smaller.Value.From.Value, v.Smaller.Value.To.Value, below)
	case v.Target.At != nil:
		at = v.Target.At
		d, words, err = targetDesirability(&v.Target.Value, below, above)
	case v.Range.At != nil:
		at, words = v.Range.At, "range, "+spanWords(&v.Range.Value)
		d, err = property.Range(v.Range.Value.From.Value, v.Range.Value.To.Value)
	case v.Normal.At != nil:
		mean, sd := v.Normal.Value.Mean.Value, v.Normal.Value.SD.Value
		at, words = v.Normal.At, fmt.Sprintf("normal, mean %v sd %v", mean, sd)
		d, err = property.Normal(mean, sd)
	}
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	if d, err = d.Floor(v.Floor.Value); err != nil {
		return nil, "", v.Floor.At.PlaceError(err)
	}
	return d, words, nil
}

// spanWords describes the ends of a direction.
func spanWords(s *config.Span) string { return fmt.Sprintf("from %v to %v", s.From.Value, s.To.Value) }

// targetDesirability returns the desirability of a value that is best at a target, and a description.
func targetDesirability(t *config.Target, below, above float64) (*property.Desirability, string, error) {
	from, at, to := t.From.Value, t.At.Value, t.To.Value
	d, err := property.Target(from, at, to, below, above)
	return d, fmt.Sprintf("target, from %v at %v to %v", from, at, to), err
}
