package config

import (
	"fmt"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Span has the two ends of an interval that an objective refers to: {from: 5, to: 30}.
type Span struct{ From, To Written[float64] }

// describeKeys returns the description of the keys of a span. The Read functions of the keys set the fields.
func (s *Span) describeKeys(name, about string) *schema.Section {
	return &schema.Section{
		Name: name, ID: name, About: about,
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the lower end", "{from: 5, to: 30}", numberReader(&s.From, "from")),
			newKey("to", schema.Number(), "", "the upper end", "{from: 4.5, to: 30}", numberReader(&s.To, "to")),
		},
		Required: []string{"from", "to"},
	}
}

// A Target has a best value and the two ends of an interval around it: {from: 5, at: 15, to: 30}.
type Target struct{ From, At, To Written[float64] }

// describeKeys returns the description of the keys of a target. The Read functions of the keys set the fields.
func (t *Target) describeKeys() *schema.Section {
	return &schema.Section{
		Name: "target", ID: "target", About: "The score is 1 at `at` and 0 outside `from` to `to`.",
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the lower end", "{from: 5, at: 15, to: 30}", numberReader(&t.From, "from")),
			newKey("at", schema.Number(), "", "the best value", "{from: 5, at: 15.5, to: 30}", numberReader(&t.At, "at")),
			newKey("to", schema.Number(), "", "the upper end", "{from: 5, at: 15, to: 40}", numberReader(&t.To, "to")),
		},
		Required: []string{"from", "at", "to"},
	}
}

// Decode sets the fields from the node n, which must be a mapping with all keys.
func (t *Target) Decode(n *yaml.Node) error { return decodeCompleteMapping(t.describeKeys(), n) }

// A Normal has the best value (mean) and the width (standard deviation) of a score that has the shape of a
// normal density: {mean: 15, sd: 4}.
type Normal struct{ Mean, SD Written[float64] }

// describeKeys returns the description of the keys mean and sd. The Read functions of the keys set the fields.
func (d *Normal) describeKeys() *schema.Section {
	return &schema.Section{
		Name: "normal", ID: "normal", About: "The score is exp(−(v − mean)²/(2·sd²)), never 0.",
		Keys: []schema.Key{
			newKey("mean", schema.Number(), "", "the best value", "{mean: 15, sd: 4}", numberReader(&d.Mean, "mean")),
			newKey("sd", schema.Above(0), "", "the standard deviation", "{mean: 15, sd: 2.5}", numberReader(&d.SD, "sd")),
		},
		Required: []string{"mean", "sd"},
	}
}

// completeMappingReader returns a function that decodes a mapping. The mapping must have all keys of the section s.
// The function stores the node of the mapping in *node.
func completeMappingReader(node **yaml.Node, s *schema.Section) valueReader {
	return func(n *yaml.Node) error {
		*node = n
		return decodeCompleteMapping(s, n)
	}
}

// decodeCompleteMapping decodes the mapping n, which must have all keys of the section s. It returns an error for the
// first key that is missing or whose value is faulty.
func decodeCompleteMapping(s *schema.Section, n *yaml.Node) error {
	f, err := s.Fields(n)
	if err != nil {
		return err
	}
	for _, k := range s.Keys {
		if err := n.Require(s.Name, fmt.Sprintf("write {%s: ...}", strings.Join(s.Names(), ": ..., ")), k.Name); err != nil {
			return err
		}
		if err := k.Read(f[k.Name]); err != nil {
			return err
		}
	}
	return nil
}
