package problem

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Campaign has the settings for choosing batches of experiments.
type Campaign struct {
	Batch  int    // recipes per batch
	MaxNew int    // the most ingredients of a batch that no tried recipe has; −1: no limit
	Cost   string // attribute with the cost of a trial of an ingredient; empty: all trials cost the same
}

// readCampaign reads
//
//	campaign: {batch: 8, max_new: 2, cost: price}
func readCampaign(s *readContext, n *yaml.Node) (Campaign, error) {
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
	if v := f["cost"]; v != nil {
		if c.Cost, err = v.Str("the cost"); err != nil {
			return c, err
		}
		c.Cost = dataset.NormalizeName(c.Cost)
		values, err := s.AttributeNumbers(v, c.Cost)
		if err != nil {
			return c, err
		}
		for i, cost := range values {
			if !(cost >= 0) {
				return c, yaml.Hint(v.Errorf("the %s of %s is not known, or below 0", c.Cost, inputerr.Quote(s.Names[i])), "fill in the cell")
			}
		}
	}
	return c, nil
}

// yamlMap returns the section in the form of a problem file.
func (c Campaign) yamlMap() yaml.Map {
	var out yaml.Map
	out.Set("batch", c.Batch)
	if c.MaxNew >= 0 {
		out.Set("max_new", c.MaxNew)
	}
	if c.Cost != "" {
		out.Set("cost", c.Cost)
	}
	return out
}
