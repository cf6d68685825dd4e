package config

import (
	"fmt"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

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
