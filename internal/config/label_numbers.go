package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
)

// LabelNumbers tell how to learn a label whose values are numbers.
type LabelNumbers struct {
	Log    Written[bool]     // whether the logarithm of the number is learnt instead of the number
	SD     Written[string]   // name of another label that has the standard deviations of the numbers
	Failed Written[[]string] // values that mark a recipe as failed, in addition to the values that always mark a failure
}

// describeKeys returns the descriptions of the keys. The Read functions of the keys set the fields.
func (l *LabelNumbers) describeKeys() []schema.Key {
	return []schema.Key{
		newKey("log", schema.Boolean(), "`false`", "kir learns the logarithm of the label, as for positive numbers that span decades", "{label: stars, maximize: true, log: true}", booleanReader(&l.Log, "log")),
		newKey("sd", schema.Text("label"), "", "column of the recipes with the standard deviation of each number of the label", "{label: stars, maximize: true, sd: stars sd}", textReader(&l.SD, "the column of standard deviations")),
		newKey("failed", schema.OneOrMore(schema.Text("value"), 0), "`failed`, `unstable`, `n/a` and similar", "further label values that mark a failure", "{label: stars, maximize: true, failed: curdled}", namesReader(&l.Failed, "what says that a recipe failed")),
	}
}

// booleanReader returns a function that decodes true or false.
func booleanReader(field *Written[bool], key string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (bool, error) {
		if n.Kind != yaml.Boolean {
			return false, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write true or false")
		}
		return n.Plain() == true, nil
	})
}

// namesReader returns a function that decodes a name or a list of names. It normalizes the names.
func namesReader(field *Written[[]string], what string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (names []string, err error) {
		var texts Texts
		if err := textsReader(&texts, what)(n); err != nil {
			return nil, err
		}
		for _, text := range texts.Value {
			names = append(names, dataset.NormalizeName(text.Value))
		}
		return names, nil
	})
}
