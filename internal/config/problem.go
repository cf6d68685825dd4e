// Package config holds problem files as they are written. [Read] decodes the settings; a [Value] decodes each
// constraint and each property: it is a struct whose sections are decoder, JSON Schema and reference at once. Every
// error is an [inputerr.Error] with file, line and column.
//
// The package knows no chain, model or search. It knows the vocabulary of rules, so that constraints say
// themselves what they demand of compositions; see [Constraint].
package config

import (
	"path/filepath"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
)

// A Problem is a problem file as it is written.
type Problem struct {
	Root  *yaml.Node
	Name  string
	Named bool // the file gives the name; it is not the default

	Law      *Law       // law of the number of ingredients; nil: that of the recipes
	LawNode  *yaml.Node // its place in the file; nil if the file does not have it
	LawError error      // why Law could not be decoded

	Sampler  Sampler
	Search   Search
	Campaign Campaign
	Labels   []string // labels listed in the key labels
}

// Read decodes the settings of a problem file. It adds errors of input to bad, and returns other errors.
func Read(root *yaml.Node, path string, bad *Diagnostics) (*Problem, error) {
	if err := bad.Collect(root, func(n *yaml.Node) error { _, err := schema.Problem.Fields(n); return err }); err != nil {
		return nil, err
	}
	bad.HasUnknownKeys = len(bad.All) > 0
	p := &Problem{Root: root, Named: root.Get("name") != nil}
	for _, section := range []struct {
		key    string
		decode func(*yaml.Node) error
	}{
		{"name", func(n *yaml.Node) (err error) { p.Name, err = decodeName(n, path); return err }},
		{"sampler", func(n *yaml.Node) (err error) { p.Sampler, err = decodeSampler(n); return err }},
		{"search", func(n *yaml.Node) (err error) { p.Search, err = decodeSearch(n); return err }},
		{"campaign", func(n *yaml.Node) (err error) { p.Campaign, err = decodeCampaign(n); return err }},
	} {
		if err := bad.Collect(root.Get(section.key), section.decode); err != nil {
			return nil, err
		}
	}
	if p.LawNode = root.Get("sparsity"); p.LawNode != nil {
		p.Law, p.LawError = decodeLaw(p.LawNode, true)
	}
	if n := root.Get("labels"); n != nil {
		for _, item := range n.ItemsOrSelf() {
			p.Labels = append(p.Labels, dataset.NormalizeName(item.Text))
		}
	}
	return p, nil
}

// decodeName decodes the problem's name. The default is the file's name, or the directory's name if the file
// is problem.yaml.
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
