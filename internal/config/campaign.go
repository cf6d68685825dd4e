package config

import (
	"fmt"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Campaign has the settings for choosing batches of experiments.
type Campaign struct {
	Batch  int               // number of recipes in a batch
	MaxNew int               // maximum number of ingredients in a batch that are in no recipe tried before; −1 means no limit
	Cost   string            // name of the attribute with the cost of using an ingredient in a trial; if empty, all trials have equal costs
	Alike  []BatchValueLimit // limits on the number of different values of a condition within a batch

	costNode *yaml.Node // YAML node with the name of the attribute; nil if there is none
}

// BatchValueLimit limits the number of different values that a condition may have within one batch. For
// example, an oven has one temperature at a time.
type BatchValueLimit struct {
	Condition string // name of the condition
	Values    int    // maximum number of different values of the condition within a batch

	node *yaml.Node
}

// decodeBatchValueLimits decodes limits on the number of different values of conditions within a batch. The node n is a
// mapping from names of conditions to the limits, or a list of names of conditions. For a list each limit is 1.
func decodeBatchValueLimits(n *yaml.Node) (all []BatchValueLimit, err error) {
	if n.Kind == yaml.Mapping {
		for _, e := range n.Entries {
			values, err := e.Value.Whole("the number of values", 1, schema.MaxBatch)
			if err != nil {
				return nil, err
			}
			all = append(all, BatchValueLimit{dataset.NormalizeName(e.Key.Text), values, e.Key.Scalar(e.Key.Text)})
		}
		return all, nil
	}
	items, err := n.List("alike")
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		name, err := item.Str("a condition")
		if err != nil {
			return nil, err
		}
		all = append(all, BatchValueLimit{dataset.NormalizeName(name), 1, item})
	}
	return all, nil
}

// decodeCampaign decodes the settings of a campaign:
//
//	campaign: {batch: 8, max_new: 2, cost: price}
func decodeCampaign(n *yaml.Node) (Campaign, error) {
	c := Campaign{Batch: schema.DefaultBatch, MaxNew: -1}
	if n == nil || n.Kind == yaml.Null {
		return c, nil
	}
	f, err := schema.Campaign.Fields(n)
	if err != nil {
		return c, err
	}
	if v := f["batch"]; v != nil {
		if c.Batch, err = v.Whole("the batch", 1, schema.MaxBatch); err != nil {
			return c, err
		}
	}
	if v := f["max_new"]; v != nil {
		if c.MaxNew, err = v.Whole("max_new", 0, schema.MaxIngredients); err != nil {
			return c, err
		}
	}
	if v := f["alike"]; v != nil {
		if c.Alike, err = decodeBatchValueLimits(v); err != nil {
			return c, err
		}
	}
	if v := f["cost"]; v != nil {
		if c.Cost, err = v.Str("the cost"); err != nil {
			return c, err
		}
		c.Cost, c.costNode = dataset.NormalizeName(c.Cost), v
	}
	return c, nil
}

// CheckCampaign returns an error if the cost of a trial is unknown for an ingredient, or if a condition under
// the key "alike" does not exist. It adds a warning if the file gives a fixed value to a condition under
// "alike".
func (d *Data) CheckCampaign(c Campaign) error {
	for _, a := range c.Alike {
		k, err := d.FindCondition(a.node)
		if err != nil {
			return err
		}
		if d.Conditions[k].Given {
			d.Warn(fmt.Sprintf("The %s is given, and so the same in all of a batch: alike (line %d) changes nothing.", a.Condition, a.node.Line))
		}
	}
	if c.costNode == nil {
		return nil
	}
	values, err := d.AttributeNumbers(c.costNode, c.Cost)
	if err != nil {
		return err
	}
	for i, cost := range values {
		if !(cost >= 0) {
			return yaml.Hint(c.costNode.Errorf("the %s of %s is not known, or below 0", c.Cost, inputerr.Quote(d.IngredientNames[i])), "fill in the cell")
		}
	}
	return nil
}

// YAML returns the settings in the form of a problem file.
func (c Campaign) YAML() yaml.Map {
	var out yaml.Map
	out.Set("batch", c.Batch)
	if c.MaxNew >= 0 {
		out.Set("max_new", c.MaxNew)
	}
	if len(c.Alike) > 0 {
		var alike yaml.Map
		for _, a := range c.Alike {
			alike.Set(a.Condition, a.Values)
		}
		out.Set("alike", alike)
	}
	if c.Cost != "" {
		out.Set("cost", c.Cost)
	}
	return out
}
