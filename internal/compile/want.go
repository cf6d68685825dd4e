package compile

import (
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// modelWant converts an objective of the problem file to the form of package model.
func modelWant(o *config.Objective) model.Want {
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

// wantError returns an input error: the model m cannot score the wanted values, whose node is at. The parameter
// err is the reason.
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

// objectiveCountText returns a message that no objective was given, or more than one. The parameter given lists
// the keys of the objectives, and what names the property or model.
func objectiveCountText(what string, given []string) string {
	if len(given) == 0 {
		return "nothing is asked of " + what
	}
	return strings.Join(given, " and ") + " are asked of " + what + " at once"
}
