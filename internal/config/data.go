package config

import (
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/rule"
)

// Data has the data to which the names in a problem file refer: the ingredients and their attributes, the
// total, the conditions, and the known recipes.
type Data struct {
	IngredientNames  []string             // names of the ingredients
	Attributes       *dataset.Ingredients // ingredients with their attributes; nil if the file gives only the number of ingredients
	Total            int                  // M: the total of a composition in units; while a block is compiled, the total of the block
	CompositionTotal int                  // M: the total of a composition in units, even while a block is compiled
	Book             *dataset.Book        // known recipes; nil if there are none
	Recipes          [][]rule.Part        // amounts of the known recipes, scaled to the total in whole units
	RuleRecipes      int                  // rules are derived from the first RuleRecipes known recipes; recorded results, which come last, are left out if there are other recipes
	Units            *measure.Units       // units of amounts in the recipes; nil means default units
	Files            *yaml.Files          // reads the files that the problem names

	Conditions      []Condition          // quantities that a trial sets in addition to the recipe
	Constituents    map[string][]float64 // maps the name of a constituent to its shares; item i is the share in ingredient i
	Block           *Block               // the [Block] whose constraints are being compiled; nil outside of blocks
	InNestedRules   bool                 // whether constraints within another constraint are being compiled
	IngredientsPath string               // path of the ingredients file, as the problem file writes it; empty if there is none

	Warnings []string // sentences about valid input that may not be intended
}

// Warn records a warning.
func (d *Data) Warn(message string) { d.Warnings = append(d.Warnings, message) }

// A Block is a set of ingredients whose amounts have a fixed total.
type Block struct {
	Members []int  // indices of the ingredients
	Text    string // description of the ingredients
}

// Indexes returns the indices of the ingredients in the block. If the receiver b is nil, it returns nil.
func (b *Block) Indexes() []int {
	if b == nil {
		return nil
	}
	return b.Members
}

// callWithinBlock calls the function f while d has the given total and block. It then restores the earlier total and
// block.
func (d *Data) callWithinBlock(total int, b *Block, f func() error) error {
	before, block := d.Total, d.Block
	d.Total, d.Block = total, b
	defer func() { d.Total, d.Block = before, block }()
	return f()
}

// WithoutBlock returns a copy of the data that does not belong to a block.
func (d *Data) WithoutBlock() *Data {
	all := *d
	all.Block = nil
	return &all
}

// restrictToBlock returns the given ingredients that are in the current block. If none of them is in the block,
// it returns an error. Outside of blocks it returns all of them. The parameter text describes the
// ingredients in the error.
func (d *Data) restrictToBlock(n *yaml.Node, ingredients []int, text string) ([]int, error) {
	if d.Block == nil {
		return ingredients, nil
	}
	in := slices.DeleteFunc(slices.Clone(ingredients), func(i int) bool { return !slices.Contains(d.Block.Members, i) })
	if len(in) == 0 {
		return nil, yaml.Hint(n.Errorf("%s is no part of the block %s", inputerr.Quote(text), d.Block.Text), "rules within a block are about its own ingredients: write it outside")
	}
	return in, nil
}

// RefuseInBlock returns an error if a block is being compiled. Constraints on whole compositions call it. The
// parameter messageStart is the beginning of the error message.
func (d *Data) RefuseInBlock(n *yaml.Node, messageStart string) error {
	if d.Block == nil {
		return nil
	}
	return yaml.Hint(n.Errorf("%s of the whole composition, and this stands within the block %s", messageStart, d.Block.Text), "write it outside of the block")
}
