package compile

import (
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/mcmc"
)

// writeResolved sets [Problem.Resolved] to the problem file in YAML, with every default written out. If there
// is a results file next to the problem file, Resolved names it.
func (p *Problem) writeResolved() (err error) {
	root, results := p.fileProblem.Root, p.resultsPath
	var out yaml.Map
	out.Set("name", p.Name)
	if n := root.Get("recipes"); results == "" {
		out.CopyKeys(root, "recipes")
	} else {
		var tables []any
		if n != nil {
			for _, table := range n.ItemsOrSelf() {
				tables = append(tables, table.Plain())
			}
		}
		out.Set("recipes", append(tables, results))
	}
	out.CopyKeys(root, "labels", "units", "ingredients")
	out.Set("total", p.Total)
	out.CopyKeys(root, "conditions")
	if n := root.Get("sparsity"); n != nil {
		out.Set("sparsity", n.Plain())
	} else {
		out.Set("sparsity", "recipes")
	}
	properties := yaml.Map{}
	for _, w := range p.Properties {
		var one yaml.Map
		one.Set(w.Kind, w.resolvedValue)
		one.Set("weight", w.Weight)
		properties.Set(w.Name, one)
	}
	out.Set("properties", properties)
	constraints := any([]any{})
	if n := root.Get("constraints"); n != nil && n.Kind != yaml.Null {
		constraints = n.Plain()
	}
	out.Set("constraints", constraints)
	out.CopyKeys(root, "trade")
	out.Set("sampler", p.samplerYAML())
	out.Set("search", p.Search.YAML())
	if n := root.Get("campaign"); n != nil {
		out.Set("campaign", p.Campaign.YAML())
	}
	p.Resolved, err = yaml.Marshal(out)
	return err
}

// samplerYAML returns the sampler settings in the form of a problem file.
func (p *Problem) samplerYAML() any {
	if p.Sampler.Draws != mcmc.AutoDraws {
		return p.Sampler
	}
	limit := "none"
	if p.Time > 0 {
		limit = p.Time.String()
	}
	var out yaml.Map
	out.Set("kernel", p.Sampler.Kernel)
	out.Set("chains", p.Sampler.Chains)
	out.Set("warmup", p.Sampler.Warmup)
	out.Set("draws", config.Auto)
	out.Set("time", limit)
	out.Set("seed", p.Sampler.Seed)
	return out
}
