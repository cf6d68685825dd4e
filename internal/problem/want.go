package problem

import (
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
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

// readWant reads the objective of a forest. at is the node for errors about it.
func readWant(n *yaml.Node, f fields) (want model.Want, at *yaml.Node, err error) {
	var given []string
	for _, key := range []string{"want", "at_least", "at_most", "between", "maximize", "minimize"} {
		if f[key] != nil {
			given = append(given, key)
			at = f[key]
		}
	}
	if len(given) == 2 && given[0] == "at_least" && given[1] == "at_most" {
		low, err := f["at_least"].Float("at_least")
		if err != nil {
			return want, at, err
		}
		high, err := f["at_most"].Float("at_most")
		return model.Between(low, high), at, err
	}
	if len(given) != 1 {
		return want, at, yaml.Hint(n.Errorf("%s", objectiveCountText("the forest", given)), "say want: a class or a list of classes; or for a number maximize: true, minimize: true, at_least, at_most or between")
	}
	switch given[0] {
	case "maximize", "minimize":
		want, err := readDirection(given[0], at)
		return want, at, err
	case "want":
		var classes []string
		for _, item := range at.ItemsOrSelf() {
			class, err := item.Str("the wanted class")
			if err != nil {
				return want, at, err
			}
			classes = append(classes, dataset.NormalizeName(class))
		}
		return model.AnyOf(classes...), at, nil
	case "at_least":
		low, err := at.Float("at_least")
		return model.AtLeast(low), at, err
	case "at_most":
		high, err := at.Float("at_most")
		return model.AtMost(high), at, err
	}
	items, err := at.List("between")
	if err != nil {
		return want, at, err
	}
	if len(items) != 2 {
		return want, at, yaml.Hint(at.Errorf("between has %s", inputerr.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	low, err := items[0].Float("the lowest number")
	if err != nil {
		return want, at, err
	}
	high, err := items[1].Float("the highest number")
	if err == nil && low > high {
		err = yaml.Hint(at.Errorf("no number is between %v and %v", low, high), "write the lower one first")
	}
	return model.Between(low, high), at, err
}
