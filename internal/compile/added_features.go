package compile

import (
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// compileAddedFeatures returns the features that a forest's splits test, with a description. It returns nil
// for the amounts alone, which is what splits test if no features are added; see [Descriptors].
func compileAddedFeatures(s *readContext, add config.Written[config.AddedFeatures]) (features []model.Feature, words string, err error) {
	if add.At == nil {
		return nil, "", nil
	}
	d := describer{names: s.Names, total: s.Total}
	if err := d.addAttributes(s, &add.Value); err != nil {
		return nil, "", err
	}
	presence, amounts := add.Value.Presence.Value, add.Value.Amounts.Or(true)
	if d.features == nil && !presence && amounts {
		return nil, "", nil
	}
	if features, err = d.allFeatures(presence, !amounts); err != nil {
		return nil, "", placedAt(add.At, err)
	}
	return features, ", from " + d.words(), nil
}

// addAttributes makes the features of the attributes named in a problem.
func (d *describer) addAttributes(s *readContext, add *config.AddedFeatures) error {
	for _, name := range add.Totals {
		a, err := s.Attribute(name.At, name.Value)
		if err != nil {
			return placedAt(name.At, err)
		}
		d.addTotals(a)
	}
	for _, name := range add.Means {
		values, err := s.AttributeNumbers(name.At, name.Value)
		if err == nil {
			err = d.addMean(name.Value, values)
		}
		if err != nil {
			return placedAt(name.At, err)
		}
	}
	for _, name := range add.Ratios {
		a, err := s.Attribute(name.At, name.Value)
		if err == nil {
			err = d.addRatios(a)
		}
		if err != nil {
			return placedAt(name.At, err)
		}
	}
	return nil
}

// placedAt places an error about features at a node, unless it has a place.
func placedAt(at *yaml.Node, err error) error {
	if bad, ok := err.(*inputerr.Error); ok && bad.File == "" {
		return yaml.Hint(at.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	return at.PlaceError(err)
}
