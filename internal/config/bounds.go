package config

import (
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// decodeBetween decodes two numbers, the lower one first.
func decodeBetween(n *yaml.Node) (ends [2]float64, err error) {
	items, err := n.List("between")
	if err != nil {
		return ends, err
	}
	if len(items) != len(ends) {
		return ends, yaml.Hint(n.Errorf("between has %s", inputerr.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	for k, what := range []string{"the lowest number", "the highest number"} {
		if ends[k], err = items[k].Float(what); err != nil {
			return ends, err
		}
	}
	if ends[0] > ends[1] {
		return ends, yaml.Hint(n.Errorf("no number is between %v and %v", ends[0], ends[1]), "write the lower one first")
	}
	return ends, nil
}
