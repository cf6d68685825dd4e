package compile

import (
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// wantOf returns what is asked of a label in the terms of package model.
func wantOf(o *config.Objective) model.Want {
	if !o.HasNumbers() {
		return model.AnyOf(o.Want.Value...)
	}
	switch direction, least, most := o.Direction(); direction {
	case config.Maximize:
		return model.Maximize()
	case config.Minimize:
		return model.Minimize()
	default:
		return model.Between(least, most)
	}
}

// wantError returns the error for a request that a model cannot serve.
func wantError(at *yaml.Node, m Predictor, err error) error {
	e := at.Errorf("%v", err)
	for _, item := range at.ItemsOrSelf() {
		if item.Kind == yaml.Text && !slices.Contains(m.Classes(), item.Text) {
			e.Hint = inputerr.DidYouMean(item.Text, m.Classes())
			break
		}
	}
	return e
}

// objectiveCountText describes that a model is asked for nothing, or for several things at once.
func objectiveCountText(what string, given []string) string {
	if len(given) == 0 {
		return "nothing is asked of " + what
	}
	return strings.Join(given, " and ") + " are asked of " + what + " at once"
}
