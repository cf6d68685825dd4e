package problem

import (
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// wantOf returns what is asked of a label in the terms of package model.
func wantOf(o *config.LabelObjective) model.Want {
	switch {
	case o.Want.At != nil:
		return model.AnyOf(o.Want.Value...)
	case o.AtLeast.At != nil && o.AtMost.At != nil:
		return model.Between(o.AtLeast.Value, o.AtMost.Value)
	case o.AtLeast.At != nil:
		return model.AtLeast(o.AtLeast.Value)
	case o.AtMost.At != nil:
		return model.AtMost(o.AtMost.Value)
	case o.Between.At != nil:
		return model.Between(o.Between.Value[0], o.Between.Value[1])
	case o.Minimize.At != nil:
		return model.Minimize()
	}
	return model.Maximize()
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
