// Package config has the contents of problem files as they are written. [Read] decodes the settings. A [Value]
// decodes one constraint or one property. It is a struct whose sections give the decoder, the JSON Schema and
// the reference documentation. Every error is an [inputerr.Error] with file, line and column.
//
// The package does not use chains, models or searches. It uses package rule to express what constraints demand
// of compositions; see [Constraint].
package config

import (
	"math"
	"path/filepath"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Problem is a problem file as it is written, before it is compiled.
type Problem struct {
	Root  *yaml.Node
	Name  string
	Named bool // whether the file gives the name; otherwise the name is a default

	Law      *Law       // distribution of the number of ingredients (sparsity law); nil means the distribution in the recipes
	LawNode  *yaml.Node // YAML node of the sparsity law; nil if the file has none
	LawError error      // the reason why Law could not be decoded; nil if it could

	Total       Written[int]
	Constraints []*Entry[Item]
	Properties  []*Entry[Property]
	Trade       *Entry[[]Written[string]] // names of the objectives of the trade-off

	PropertyErrors int // number of errors in Properties and Trade; constraints can be compiled despite such errors

	Conditions []Condition

	Sampler  Sampler
	Search   Search
	Campaign Campaign

	Labels      []Written[string] // labels that the file lists under the key "labels"
	LabelsError error             // the reason why Labels could not be decoded; nil if they could

	kinds *Kinds
}

// Read decodes a problem file. Its constraints and properties may have the given kinds. Read adds input errors
// to bad and returns other errors.
func Read(root *yaml.Node, path string, kinds *Kinds, bad *Diagnostics) (p *Problem, err error) {
	if err := bad.Collect(root, func(n *yaml.Node) error { _, err := schema.Problem.Fields(n); return err }); err != nil {
		return nil, err
	}
	bad.HasUnknownKeys = len(bad.All) > 0
	p = &Problem{Root: root, Named: root.Get("name") != nil, kinds: kinds}
	for _, section := range []struct {
		key    string
		decode func(*yaml.Node) error
	}{
		{"name", func(n *yaml.Node) (err error) { p.Name, err = decodeName(n, path); return err }},
		{"sampler", func(n *yaml.Node) (err error) { p.Sampler, err = decodeSampler(n); return err }},
		{"search", func(n *yaml.Node) (err error) { p.Search, err = decodeSearch(n); return err }},
		{"conditions", func(n *yaml.Node) (err error) { p.Conditions, err = decodeConditions(n); return err }},
		{"campaign", func(n *yaml.Node) (err error) { p.Campaign, err = decodeCampaign(n); return err }},
	} {
		if err := bad.Collect(root.Get(section.key), section.decode); err != nil {
			return nil, err
		}
	}
	p.Total, err = decodeTotal(root)
	if err := bad.Add(err); err != nil {
		return nil, err
	}
	p.Labels, p.LabelsError = decodeLabels(root.Get("labels"))
	if p.LawNode = root.Get("sparsity"); p.LawNode != nil {
		p.Law, p.LawError = decodeLaw(p.LawNode, true)
	}
	if p.Constraints, err = kinds.readConstraints(root.Get("constraints"), bad); err != nil {
		return nil, err
	}
	before := len(bad.All)
	if p.Properties, err = kinds.readProperties(root.Get("properties"), bad); err != nil {
		return nil, err
	}
	if err := bad.Collect(root, p.addConstantListConditions); err != nil {
		return nil, err
	}
	p.Trade, err = newEntry(root.Get("trade"), bad, decodeTrade)
	p.PropertyErrors = len(bad.All) - before
	return p, err
}

// AddWithinBook adds a constraint: the amount of every ingredient must be within the range of amounts that the
// ingredient has in the known recipes.
func (p *Problem) AddWithinBook(bad *Diagnostics) error {
	e, err := newEntry(withinBookNode(p.Root), bad, p.kinds.decodeItem)
	p.Constraints = append(p.Constraints, e)
	return err
}

// decodeTotal decodes the total of a composition, in units.
func decodeTotal(root *yaml.Node) (total Written[int], err error) {
	n := root.Get("total")
	if n == nil {
		return total, yaml.Hint(root.Errorf("the problem has no total"), "add total: how many units a composition divides, such as 1000 for steps of 0.1 %%")
	}
	err = wholeReader(&total, "the total", 1, math.MaxInt32)(n)
	return total, err
}

// decodeLabels decodes the labels that the file lists under the key "labels".
func decodeLabels(n *yaml.Node) (labels []Written[string], err error) {
	if n == nil {
		return nil, nil
	}
	items, err := n.List("labels")
	if err != nil {
		return nil, err
	}
	labels = make([]Written[string], len(items))
	for k, item := range items {
		if err := textReader(&labels[k], "a label")(item); err != nil {
			return nil, err
		}
	}
	return labels, nil
}

// decodeTrade decodes the names of the objectives of the trade-off.
func decodeTrade(n *yaml.Node) (names []Written[string], err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Sequence {
		return nil, yaml.Hint(n.Errorf("trade is %s", n.Describe()), "write a list of objectives, such as [cost, viscosity]")
	}
	names = make([]Written[string], len(n.Items))
	for k, item := range n.Items {
		if err := textReader(&names[k], "an objective of the trade-off")(item); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// decodeName decodes the name of the problem. The default is the name of the file, or the name of its
// directory if the file is problem.yaml.
func decodeName(n *yaml.Node, path string) (string, error) {
	if n != nil {
		return n.Str("the name")
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if abs, err := filepath.Abs(path); err == nil && name == "problem" {
		name = filepath.Base(filepath.Dir(abs))
	}
	return name, nil
}
