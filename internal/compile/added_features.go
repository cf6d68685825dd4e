package compile

import (
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// compileAddedFeatures returns the features that a forest tests, and a description of the features. If the file
// adds no features, a forest tests only amounts, and the result is nil; see [Descriptors].
func compileAddedFeatures(s *readContext, add config.Written[config.AddedFeatures]) (features []model.Feature, words string, err error) {
	if add.Node == nil {
		return nil, "", nil
	}
	d := featureBuilder{ingredientNames: s.IngredientNames, total: s.Total}
	if err := d.addAttributes(s, &add.Value); err != nil {
		return nil, "", err
	}
	presence, amounts := add.Value.Presence.Value, add.Value.Amounts.Or(true)
	if d.features == nil && !presence && amounts {
		return nil, "", nil
	}
	if features, err = d.allFeatures(presence, !amounts); err != nil {
		return nil, "", placeFeatureError(add.Node, err)
	}
	return features, ", from " + d.describe(), nil
}

// addAttributes adds the features that are made of attributes of the ingredients, as the problem file asks for.
func (d *featureBuilder) addAttributes(s *readContext, add *config.AddedFeatures) error {
	for _, name := range add.Totals {
		a, err := s.Attribute(name.Node, name.Value)
		if err != nil {
			return placeFeatureError(name.Node, err)
		}
		d.addTotals(a)
	}
	for _, name := range add.Means {
		values, err := s.AttributeNumbers(name.Node, name.Value)
		if err == nil {
			err = d.addMean(name.Value, values)
		}
		if err != nil {
			return placeFeatureError(name.Node, err)
		}
	}
	for _, name := range add.Ratios {
		a, err := s.Attribute(name.Node, name.Value)
		if err == nil {
			err = d.addRatios(a)
		}
		if err != nil {
			return placeFeatureError(name.Node, err)
		}
	}
	return nil
}

// placeFeatureError adds the position of a YAML node to an error about features. An error that already has a
// position is returned unchanged.
func placeFeatureError(at *yaml.Node, err error) error {
	if bad, ok := err.(*inputerr.Error); ok && bad.File == "" {
		return yaml.Hint(at.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	return at.PlaceError(err)
}
