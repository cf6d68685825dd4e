package config

import (
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A ConstantList is a constant of an imported model for which the file lists several values. It acts as a
// condition: kir chooses one of the values together with each recipe.
type ConstantList struct {
	yaml.Entry            // key: name of the constant; value: list of its values
	Property       string // name of the property that has the model
	IsOnlyConstant bool   // whether the model has no other constant
}

// Path returns the path from the root of the file to the list of values, as a list of keys.
func (l *ConstantList) Path() []any {
	return []any{"properties", l.Property, ModelKind.Name, "constants", l.Key.Text}
}

// ConstantLists returns the constants of imported models for which the file lists several values, in the order
// of the file.
func ConstantLists(root *yaml.Node) (all []ConstantList) {
	properties := root.Get("properties")
	if properties == nil {
		return nil
	}
	for _, p := range properties.Entries {
		model := p.Value.Get(ModelKind.Name)
		if model == nil {
			continue
		}
		constants := model.Get("constants")
		if constants == nil {
			continue
		}
		for _, e := range constants.Entries {
			if len(e.Value.Items) > 1 {
				all = append(all, ConstantList{e, p.Key.Text, len(constants.Entries) == 1})
			}
		}
	}
	return all
}

// addConstantListConditions adds a condition for each constant of an imported model that has several values.
// It skips lists with errors, which are reported when the property is decoded.
func (p *Problem) addConstantListConditions(root *yaml.Node) error {
	all := slices.Clone(p.Conditions)
	for _, e := range ConstantLists(root) {
		c := Condition{Name: dataset.NormalizeName(e.Key.Text), KeyNode: e.Key, IsConstantList: true}
		if err := checkConditionName(e.Key, c.Name); err != nil {
			return err
		}
		var err error
		if c.Numbers, err = decodeConstantNumbers(e.Value); err != nil {
			continue
		}
		slices.Sort(c.Numbers)
		switch k := slices.IndexFunc(all, func(other Condition) bool { return other.Name == c.Name }); {
		case k >= 0 && k < len(p.Conditions):
			return yaml.Hint(e.Value.Errorf("%s has values here and under conditions", inputerr.Quote(c.Name)), "remove it here: the model takes the condition of that name")
		case k >= 0 && !slices.Equal(all[k].Numbers, c.Numbers):
			return yaml.Hint(e.Value.Errorf("%s has other values in line %d", inputerr.Quote(c.Name), all[k].KeyNode.Line), "list the values once, under conditions: the models take the condition of that name")
		case k < 0:
			all = append(all, c)
		}
		if len(all) > maxConditions {
			return yaml.Hint(e.Key.Errorf("there are more than %d conditions", maxConditions), "give one value to some of the constants")
		}
	}
	p.Conditions = all
	return nil
}
