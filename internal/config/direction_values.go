package config

import (
	"fmt"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Span is a direction with two ends: {from: 5, to: 30}.
type Span struct{ From, To Written[float64] }

// section returns the description of a span, bound to its fields.
func (s *Span) section(name, about string) *schema.Section {
	return &schema.Section{
		Name: name, ID: name, About: about,
		Keys: []schema.Key{
			key("from", schema.Number(), "", "the lower end", "{from: 5, to: 30}", asNumber(&s.From, "from")),
			key("to", schema.Number(), "", "the upper end", "{from: 4.5, to: 30}", asNumber(&s.To, "to")),
		},
		Required: []string{"from", "to"},
	}
}

// A Target is a direction with a best value between two ends: {from: 5, at: 15, to: 30}.
type Target struct{ From, At, To Written[float64] }

// section returns the description of a target, bound to its fields.
func (t *Target) section() *schema.Section {
	return &schema.Section{
		Name: "target", ID: "target", About: "1 at `at`, 0 outside `from` to `to`.",
		Keys: []schema.Key{
			key("from", schema.Number(), "", "the lower end", "{from: 5, at: 15, to: 30}", asNumber(&t.From, "from")),
			key("at", schema.Number(), "", "the best value", "{from: 5, at: 15.5, to: 30}", asNumber(&t.At, "at")),
			key("to", schema.Number(), "", "the upper end", "{from: 5, at: 15, to: 40}", asNumber(&t.To, "to")),
		},
		Required: []string{"from", "at", "to"},
	}
}

// Decode sets the fields from a node.
func (t *Target) Decode(n *yaml.Node) error { return decodeEveryKey(t.section(), n) }

// A Normal is a direction with the shape of a normal density: {mean: 15, sd: 4}.
type Normal struct{ Mean, SD Written[float64] }

// section returns the description of a normal, bound to its fields.
func (d *Normal) section() *schema.Section {
	return &schema.Section{
		Name: "normal", ID: "normal", About: "exp(−(v − mean)²/(2·sd²)), never 0.",
		Keys: []schema.Key{
			key("mean", schema.Number(), "", "the best value", "{mean: 15, sd: 4}", asNumber(&d.Mean, "mean")),
			key("sd", schema.Above(0), "", "the standard deviation", "{mean: 15, sd: 2.5}", asNumber(&d.SD, "sd")),
		},
		Required: []string{"mean", "sd"},
	}
}

// asEveryKey decodes a mapping that must have every key of a section, and keeps its place.
func asEveryKey(at **yaml.Node, s *schema.Section) read {
	return func(n *yaml.Node) error {
		*at = n
		return decodeEveryKey(s, n)
	}
}

// decodeEveryKey decodes a mapping that must have every key of a section. It reports the first key that is
// missing or whose value is faulty.
func decodeEveryKey(s *schema.Section, n *yaml.Node) error {
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
