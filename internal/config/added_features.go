package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// AddedFeatures are the features that splits of a forest test beside the amounts, or instead of them:
//
//	add: {totals: family, means: cost, ratios: note, presence: true, amounts: false}
type AddedFeatures struct {
	Totals, Means, Ratios []Written[string] // names of attributes
	Amounts               Written[bool]     // true if not written
	Presence              Written[bool]
}

// section returns the description of the features.
func (a *AddedFeatures) section() *schema.Section {
	return &schema.Section{
		Name: "add", ID: "added features", About: "Features of a forest beside the amounts. [models.md](models.md#forests-of-descriptors) says what each is.",
		Keys: []schema.Key{
			key("totals", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the total of each group of an attribute", "{totals: [family, note]}", asAttributes(&a.Totals, "totals")),
			key("means", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the mean of an attribute of numbers, weighted by amounts", "{means: cost}", asAttributes(&a.Means, "means")),
			key("ratios", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the log-ratio of the totals of each two groups of an attribute", "{ratios: family}", asAttributes(&a.Ratios, "ratios")),
			key("amounts", schema.Boolean(), "`true`", "the amounts themselves", "{totals: family, amounts: false}", asBoolean(&a.Amounts, "amounts")),
			key("presence", schema.Boolean(), "`false`", "whether an ingredient, or any of a group, is there at all", "{presence: true}", asBoolean(&a.Presence, "presence")),
		},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"required": []string{"amounts"}, "properties": schema.Object{"amounts": schema.Object{"const": false}}}},
			{"required": []string{"totals"}}, {"required": []string{"means"}}, {"required": []string{"ratios"}}, {"required": []string{"presence"}},
		}}},
	}
}

func decodeAddedFeatures(n *yaml.Node) (a AddedFeatures, err error) {
	err = a.section().Decode(n)
	return a, err
}

// asAttributes decodes a name or a list of different names of attributes, and normalises them.
func asAttributes(field *[]Written[string], key string) read {
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
