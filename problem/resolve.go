package problem

import (
	"github.com/goccy/go-yaml"
)

// resolve writes the problem out with every default filled in.
func (l *loader) resolve() error {
	p := l.problem
	out := yaml.MapSlice{{Key: "name", Value: p.Name}}
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	for _, key := range []string{"recipes", "labels", "units", "ingredients"} {
		if n := l.fields[key]; n != nil {
			add(key, n.plain())
		}
	}
	add("total", p.Total)
	if n := l.fields["sparsity"]; n != nil {
		add("sparsity", n.plain())
	} else {
		add("sparsity", "recipes")
	}
	properties := yaml.MapSlice{}
	for _, w := range p.Properties {
		properties = append(properties, yaml.MapItem{Key: w.Name, Value: yaml.MapSlice{{Key: w.Kind, Value: w.settings}, {Key: "weight", Value: w.Weight}}})
	}
	add("properties", properties)
	constraints := any([]any{})
	if n := l.fields["constraints"]; n != nil && n.kind != null {
		constraints = n.plain()
	}
	add("constraints", constraints)
	add("sampler", p.Sampler)
	add("search", p.Search.resolved())
	data, err := yaml.Marshal(out)
	p.Resolved = data
	return err
}
