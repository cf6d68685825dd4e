package config

import "kir/internal/config/yaml"

// A PredictedLimit limits the prediction of a property, such as a predicted viscosity. The bounds are kept as
// YAML nodes, because their form depends on the property.
type PredictedLimit struct {
	Property    string     // name of the property
	NameNode    *yaml.Node // YAML node of the name
	Least, Most *yaml.Node // YAML nodes of the bounds; nil if there is no bound
	Sure        *yaml.Node // YAML node of the minimum probability that a measurement is within the bounds; if nil, the expected value must be within the bounds
	Text        string     // text of the rule
	At          *yaml.Node
}

// checkPredictedLimit checks a limit of the prediction of a property, without the [Data] of the problem.
func (r *limitRule) checkPredictedLimit(n *yaml.Node) error {
	for _, key := range []string{"attribute", "of"} {
		if v := n.Get(key); v != nil {
			return yaml.Hint(v.Errorf("a limit of a property has no %s", key), "remove it, or write attribute instead of property")
		}
	}
	if r.Min == nil && r.Max == nil {
		return yaml.Hint(n.Errorf("the limit bounds nothing"), "add min or max")
	}
	return nil
}

// predictedDemand returns the demand of a rule that limits the prediction of a property.
func (r *limitRule) predictedDemand(d *Data) ([]Demand, error) {
	if err := d.RefuseInBlock(r.node, "a limit of a property is"); err != nil {
		return nil, err
	}
	if d.InNestedRules {
		return nil, yaml.Hint(r.node.Errorf("a limit of a property stands within another rule"), "write it in a line of its own under constraints")
	}
	name := r.Property.Value
	l := &PredictedLimit{Property: name, NameNode: r.Property.Node, Least: r.Min, Most: r.Max, Sure: r.Sure, At: r.node}
	var bounds [2]string
	for k, v := range []*yaml.Node{l.Least, l.Most} {
		if v != nil {
			bounds[k] = v.Text
		}
	}
	l.Text = "limit of " + name + " (" + boundsText(bounds[0], bounds[1], "")
	if l.Sure != nil {
		l.Text += ", with a probability of at least " + l.Sure.Text
	}
	l.Text += ")"
	return []Demand{{Text: l.Text, Predicted: l}}, nil
}
