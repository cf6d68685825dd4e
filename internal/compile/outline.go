package compile

import (
	"context"
	"path/filepath"
	"time"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/measure"
	"kir/mcmc"
	"kir/rule"
)

// An Outline is a problem without its properties. It is faster to read than a [Problem].
type Outline struct {
	Text        []byte // contents of the problem file
	Name        string
	HasName     bool // whether the file gives the name; otherwise the name is a default
	Ingredients []string
	Attributes  *dataset.Ingredients // ingredients with their attributes; nil if the file gives only the number of ingredients
	Book        *dataset.Book        // known recipes; nil if there are none
	Units       *measure.Units       // units of the recipes; nil means default units
	Total       int
	Conditions  []config.Condition
	Rules       rule.Set // rules on amounts, without the distribution of the number of ingredients and without rules that depend on conditions
	Sampler     mcmc.Settings
	Time        time.Duration
	Search      config.Search
}

// ReadOutline reads a problem file without its properties.
func ReadOutline(ctx context.Context, path string) (*Outline, error) {
	out := new(Outline)
	files := &yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	var err error
	if out.Text, err = files.ReadFile(ctx, path, yaml.MaxBytes); err != nil {
		return nil, err
	}
	root, err := readProblemText(ctx, files, path, out.Text)
	if err != nil {
		return nil, err
	}
	bad := &config.Diagnostics{File: root.File, Root: root}
	file, err := config.Read(root, path, allKinds().configKinds(), bad)
	if err != nil {
		return nil, err
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	out.Name, out.HasName, out.Search = file.Name, file.Named, file.Search
	if out.Sampler, out.Time, err = compileSampler(file.Sampler, nil, bad); err != nil {
		return nil, err
	}
	s := &loader{readContext: readContext{Data: config.Data{Files: files}, kinds: allKinds()}, diagnostics: bad, path: path}
	if err := s.readInputs(ctx, file); err != nil {
		return nil, err
	}
	out.Ingredients, out.Attributes, out.Book, out.Total = s.IngredientNames, s.Attributes, s.Book, s.Total
	out.Units, out.Conditions = s.Units, file.Conditions
	rules, err := compileRules(ctx, s, file.Constraints, len(file.Constraints))
	if err != nil {
		return nil, err
	}
	if err := s.diagnostics.Err(); err != nil {
		return nil, err
	}
	plain, _ := separateTiedRules(rules)
	out.Rules = newRuleSet(&s.readContext, plain).Set
	return out, nil
}

// PropertyNames returns the names of the properties in a problem file. It reads no other part of the problem.
func PropertyNames(ctx context.Context, path string) (names []string, err error) {
	files := &yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	text, err := files.ReadFile(ctx, path, yaml.MaxBytes)
	if err != nil {
		return nil, err
	}
	root, err := readProblemText(ctx, files, path, text)
	if err != nil {
		return nil, err
	}
	if n := root.Get("properties"); n != nil {
		for _, e := range n.Entries {
			names = append(names, dataset.NormalizeName(e.Key.Text))
		}
	}
	return names, nil
}

// Outline returns the problem without its properties. The field Text of the result is empty.
func (p *Problem) Outline() *Outline {
	set := newRuleSet(&readContext{Data: config.Data{IngredientNames: p.Ingredients, Total: p.Total}}, p.Rules).Set
	o := &Outline{Name: p.Name, Ingredients: p.Ingredients, Attributes: p.attributes, Book: p.Book, Units: p.units, Total: p.Total, Rules: set, Sampler: p.Sampler, Time: p.Time, Search: p.Search}
	if p.fileProblem != nil {
		o.Conditions = p.fileProblem.Conditions
	}
	return o
}
