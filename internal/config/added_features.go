package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// AddedFeatures are features that a forest tests in addition to the amounts of ingredients, or instead of the
// amounts if amounts is false:
//
//	add: {totals: family, means: cost, ratios: note, presence: true, amounts: false}
type AddedFeatures struct {
	Totals   []Written[string] // names of attributes; for each value, the total of the ingredients with that value is a feature
	Means    []Written[string] // names of numeric attributes; the mean of each attribute is a feature
	Ratios   []Written[string] // names of attributes; for each pair of values, the log-ratio of their totals is a feature
	Amounts  Written[bool]     // whether the amounts of ingredients are features; true if the file does not say
	Presence Written[bool]     // whether there is a feature for each ingredient that tells if the ingredient is used
}

// describeKeys returns the description of the keys under add. The Read functions of the keys set the fields.
func (a *AddedFeatures) describeKeys() *schema.Section {
	return &schema.Section{
		Name: "add", ID: "added features", About: "`add` gives a forest features of recipes besides the amounts. [models.md](models.md#forests-of-descriptors) describes these features.",
		Keys: []schema.Key{
			newKey("totals", schema.OneOrMore(schema.Text("attribute"), 0), "none", "total amount of each group of ingredients with the same value of the attribute", "{totals: [family, note]}", attributeNamesReader(&a.Totals, "totals")),
			newKey("means", schema.OneOrMore(schema.Text("attribute"), 0), "none", "mean of a numerical attribute, weighted by amounts", "{means: cost}", attributeNamesReader(&a.Means, "means")),
			newKey("ratios", schema.OneOrMore(schema.Text("attribute"), 0), "none", "log-ratio of the total amounts of each pair of groups", "{ratios: family}", attributeNamesReader(&a.Ratios, "ratios")),
			newKey("amounts", schema.Boolean(), "`true`", "whether the amounts are features", "{totals: family, amounts: false}", booleanReader(&a.Amounts, "amounts")),
			newKey("presence", schema.Boolean(), "`false`", "whether features say which ingredients or groups are used", "{presence: true}", booleanReader(&a.Presence, "presence")),
		},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"required": []string{"amounts"}, "properties": schema.Object{"amounts": schema.Object{"const": false}}}},
			{"required": []string{"totals"}}, {"required": []string{"means"}}, {"required": []string{"ratios"}}, {"required": []string{"presence"}},
		}}},
	}
}

func decodeAddedFeatures(n *yaml.Node) (a AddedFeatures, err error) {
	err = a.describeKeys().Decode(n)
	return a, err
}

// attributeNamesReader returns a function that decodes the name of an attribute, or a list of distinct names.
// It normalizes the names.
func attributeNamesReader(field *[]Written[string], key string) valueReader {
	return func(n *yaml.Node) error {
		var names []Written[string]
		for _, item := range n.ItemsOrSelf() {
			name, err := item.Str("the attribute")
			if err != nil {
				return err
			}
			name = dataset.NormalizeName(name)
			if slices.ContainsFunc(names, func(other Written[string]) bool { return other.Value == name }) {
				return yaml.Hint(item.Errorf("the %s by %s are added twice", key, inputerr.Quote(name)), "name each attribute once")
			}
			names = append(names, Written[string]{name, item})
		}
		*field = names
		return nil
	}
}
