package config

import (
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/rule"
)

// Data has the data to which the names in a problem file refer: the ingredients and their attributes, the
// total, the conditions, and the known recipes.
type Data struct {
	IngredientNames  []string             // names of the ingredients
	Attributes       *dataset.Ingredients // ingredients with their attributes; nil if the file gives only the number of ingredients
	Total            int                  // M: the total in units; within a block, the total of the block
	CompositionTotal int                  // M: the total of a composition in units, also within blocks
	Book             *dataset.Book        // known recipes; nil if there are none
	Recipes          [][]rule.Part        // known recipes, scaled to the total in whole units
	RuleRecipes      int                  // number of known recipes from which rules are derived; recorded results at the end are left out if there are other recipes
	Units            *dataset.Units       // units of amounts in the recipes; nil means default units
	Files            *yaml.Files          // reads the files that the problem names

	Conditions      []Condition          // quantities that a trial sets in addition to the recipe
	Constituents    map[string][]float64 // by name of the constituent: its share in each ingredient
	Block           *Block               // block whose constraints are being compiled; nil outside of blocks
	InNestedRules   bool                 // whether constraints within another constraint are being compiled
	IngredientsPath string               // path of the ingredients file, as the problem file writes it; empty if there is none

	Warnings []string // sentences about valid input that may be wrong
}

// Warn records a warning.
func (d *Data) Warn(message string) { d.Warnings = append(d.Warnings, message) }

// A Block is a set of ingredients whose amounts have a fixed total.
type Block struct {
	Members []int  // indices of the ingredients
	Text    string // description of the ingredients
}

// Indexes returns the indices of the ingredients in the block. It returns nil for a nil block.
func (b *Block) Indexes() []int {
	if b == nil {
		return nil
	}
	return b.Members
}

// withBlock calls f while d has the given total and block. It then restores the earlier total and block.
func (d *Data) withBlock(total int, b *Block, f func() error) error {
	before, block := d.Total, d.Block
	d.Total, d.Block = total, b
	defer func() { d.Total, d.Block = before, block }()
	return f()
}

// WithoutBlock returns a copy of the data in which no block is being compiled.
func (d *Data) WithoutBlock() *Data {
	all := *d
	all.Block = nil
	return &all
}

// restrictToBlock returns the given ingredients that are in the current block. It returns an error if no
// given ingredient is. Outside of blocks it returns all given ingredients. The parameter text describes the
// ingredients.
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

// RefuseInBlock returns an error if a block is being compiled. It is for constraints on whole compositions.
// The parameter what is the beginning of the message.
func (d *Data) RefuseInBlock(n *yaml.Node, what string) error {
	if d.Block == nil {
		return nil
	}
	return yaml.Hint(n.Errorf("%s of the whole composition, and this stands within the block %s", what, d.Block.Text), "write it outside of the block")
}
