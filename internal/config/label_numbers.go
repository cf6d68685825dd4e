package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
)

// LabelNumbers control how the numbers of a label are read.
type LabelNumbers struct {
	Log    Written[bool]     // its logarithm is learnt
	SD     Written[string]   // label with the standard deviations of the numbers
	Failed Written[[]string] // further values that mark a recipe as failed
}

// keys returns the keys of how numbers are read.
func (l *LabelNumbers) keys() []schema.Key {
	return []schema.Key{
		key("log", schema.Boolean(), "`false`", "learn the logarithm of numbers that are all above 0, such as those that span decades", "{label: stars, maximize: true, log: true}", asBoolean(&l.Log, "log")),
		key("sd", schema.Text("label"), "", "a column of the recipes with the standard deviations of the numbers", "{label: stars, maximize: true, sd: stars sd}", asText(&l.SD, "the column of standard deviations")),
		key("failed", schema.OneOrMore(schema.Text("value"), 0), "`failed`, `unstable`, `n/a` and the like", "further values of the label that say that a recipe failed", "{label: stars, maximize: true, failed: curdled}", asNames(&l.Failed, "what says that a recipe failed")),
	}
}

// asBoolean decodes true or false.
func asBoolean(field *Written[bool], key string) read {
	return decodeWith(field, func(n *yaml.Node) (bool, error) {
		if n.Kind != yaml.Boolean {
			return false, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write true or false")
		}
		return n.Plain() == true, nil
	})
}

// asNames decodes a name or a list of names, and normalises them.
func asNames(field *Written[[]string], what string) read {
	return decodeWith(field, func(n *yaml.Node) (names []string, err error) {
		var texts Texts
		if err := asTexts(&texts, what)(n); err != nil {
			return nil, err
		}
		for _, text := range texts.Value {
			names = append(names, dataset.NormalizeName(text.Value))
		}
		return names, nil
	})
}
