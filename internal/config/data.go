package config

import (
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/rule"
)

// Data is what the words of a problem file are about: the ingredients and their attributes, the total, and
// the known recipes.
type Data struct {
	Names       []string             // names of the ingredients
	Attributes  *dataset.Ingredients // nil if the ingredients are only counted
	Total       int                  // M, in units; within a block, the block's total
	Whole       int                  // M, within blocks too
	Book        *dataset.Book        // known recipes; nil if there are none
	Recipes     [][]rule.Part        // recipes of the book, closed to the total
	RuleRecipes int                  // number of recipes from which rules are derived; excludes results if there are other recipes
	Units       *dataset.Units       // units of the recipes; nil: default units
	Files       *yaml.Files          // files that the problem names

	Conditions   []Condition          // what a trial sets beside the recipe
	Constituents map[string][]float64 // by name: share of the constituent in each ingredient
	Block        *Block               // the block whose constraints are compiled; nil outside of blocks
	Nested       bool                 // constraints within another one are compiled
	Table        string               // ingredients file as the problem names it, or empty

	Warnings []string // notes about valid input
}

// Warn records a warning.
func (d *Data) Warn(message string) { d.Warnings = append(d.Warnings, message) }

// A Block is a set of ingredients with a total of its own.
type Block struct {
	Members []int
	Text    string
}

// Indexes returns the members, or nil for a nil block.
func (b *Block) Indexes() []int {
	if b == nil {
		return nil
	}
	return b.Members
}

// withBlock calls f with a total and a block in place of those of d.
func (d *Data) withBlock(total int, b *Block, f func() error) error {
	before, block := d.Total, d.Block
	d.Total, d.Block = total, b
	defer func() { d.Total, d.Block = before, block }()
	return f()
}

// OutsideBlock returns a copy of the data for all ingredients.
func (d *Data) OutsideBlock() *Data {
	all := *d
	all.Block = nil
	return &all
}

// restrictToBlock returns the ingredients of that are in the current block. It returns an error if none is.
func (d *Data) restrictToBlock(n *yaml.Node, of []int, text string) ([]int, error) {
	if d.Block == nil {
		return of, nil
	}
	in := slices.DeleteFunc(slices.Clone(of), func(i int) bool { return !slices.Contains(d.Block.Members, i) })
	if len(in) == 0 {
		return nil, yaml.Hint(n.Errorf("%s is no part of the block %s", inputerr.Quote(text), d.Block.Text), "rules within a block are about its own ingredients: write it outside")
	}
	return in, nil
}

// RefuseInBlock returns an error within a block, for constraints that concern whole compositions.
func (d *Data) RefuseInBlock(n *yaml.Node, what string) error {
	if d.Block == nil {
		return nil
	}
	return yaml.Hint(n.Errorf("%s of the whole composition, and this stands within the block %s", what, d.Block.Text), "write it outside of the block")
}
