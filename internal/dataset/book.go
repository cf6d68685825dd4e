// Package dataset reads datasets of recipes: recipes with their amounts, and the labels that describe
// them.
//
// A dataset is a table in one of two forms, which the header distinguishes. In the long form a row
// is an ingredient of a recipe, in the columns recipe, ingredient, amount and optionally unit.
// Every other column is a label, with one value in all rows of a recipe. In the wide form a row is
// a recipe and every column an ingredient, except for the column recipe and for labels. A table
// with its rows as columns, which begins with the ingredients, is transposed first. A second file
// may list the ingredients with their attributes (group, cost, strength).
//
// Tables come as CSV in several encodings, with several delimiters and decimal marks, or as .xlsx
// and .ods workbooks. Where a table is ambiguous, the reader guesses and adds a [Note]; a [Layout]
// settles it.
//
// CSV is read as a stream: memory grows with the recipes and their amounts, not with the text.
// Workbooks and transposed tables are held in memory, and bounded. Every fault in a file is
// returned as an [*Error] with file, line and column, in characters, or with sheet and cell.
// Nothing is skipped in silence.
//
// Amounts stay decimal numbers. So the closure of a recipe to a total of M whole units, see
// [Closure], is the same on every machine, and ties are real ties.
package dataset

import (
	"cmp"
	"math/big"
	"sync"

	"kir/internal/inputerr"
)

// A Book is a dataset: a list of recipes. It does not change after it has been read, so that
// several goroutines may use it at once.
type Book struct {
	// File is the name under which the book was read; errors begin with it.
	File string

	// Ingredients are those given to [Read], or else all that the book names, in the order in which
	// they first appear. They include an ingredient whose amount is always 0.
	Ingredients *Ingredients

	// Recipes are in the order of the file (in the long form, of their first rows). There is at
	// least one, except in a file of results.
	Recipes []Recipe

	// Labels are in the order of their columns.
	Labels []Label

	// Long reports whether the table has the long form.
	Long bool

	// Transposed reports whether the table has a row for each ingredient and a column for each
	// recipe.
	Transposed bool

	// Notes are the reader's interpretations of what the table leaves open, by line.
	Notes []Note

	// Guessed is the layout that settles those notes that may well be wrong.
	Guessed Layout

	// Shape is how the parts of the table were interpreted; nil for a file of results.
	Shape *Shape

	// Results is the file of results whose entries are the last of the recipes; nil if there is
	// none.
	Results *Results

	once    sync.Once // guards the creation of indexed
	indexed index
}

// A Recipe is a name and the ingredients it uses.
type Recipe struct {
	Name string

	// Parts are the amounts of the used ingredients, all above 0, in the order of the file. There
	// is at least one. Each ingredient occurs at most once, and all units are of one kind.
	Parts []Part

	// Line and Column are the first position of the name.
	Line, Column int

	cell string // address of the cell, in a workbook
	file string // the file, if the book was joined from several
}

// A Part is the amount of one used ingredient of a recipe.
type Part struct {
	// Ingredient is an index into Book.Ingredients.
	Ingredient int32

	// Line is the line of the amount in the file.
	Line int32

	// Amount is the number in the file, above 0, in the unit of the file.
	Amount Amount

	// Unit is the unit of the amount. It is nil where the book gives no unit: such amounts are only
	// compared with each other.
	Unit *Unit
}

// Base returns the amount in the base unit of its kind, exactly: Amount · Unit.Size.
func (p Part) Base() *big.Rat {
	base := p.Amount.Rat()
	if p.Unit != nil {
		base.Mul(base, p.Unit.Size.Rat())
	}
	return base
}

// kind returns the kind of the part's unit.
func (p Part) kind() Kind {
	if p.Unit == nil {
		return Plain
	}
	return p.Unit.Kind
}

// Label returns the label of that name, and whether there is one.
func (b *Book) Label(name string) (*Label, bool) {
	name = NormalizeName(name)
	for i := range b.Labels {
		if b.Labels[i].Name == name {
			return &b.Labels[i], true
		}
	}
	return nil, false
}

// ErrorAtRecipe returns an error at the position of a recipe, for callers that find a fault in it.
func (b *Book) ErrorAtRecipe(recipe int) *Error {
	r := &b.Recipes[recipe]
	return &Error{File: cmp.Or(r.file, b.File), Line: r.Line, Column: r.Column, Cell: r.cell}
}

// UsedCounts returns the book's distribution of sparsity: element n is the number of recipes that
// use exactly n ingredients. Element 0 is 0, the last element is above 0.
func (b *Book) UsedCounts() []int {
	counts := []int{0}
	for i := range b.Recipes {
		n := len(b.Recipes[i].Parts)
		for len(counts) <= n {
			counts = append(counts, 0)
		}
		counts[n]++
	}
	return counts
}

// Closure returns the units of each part of a recipe when it is scaled to a total of M units; see
// the function [Closure]. If the total is smaller than the number of parts, the error is an
// [*Error] with the recipe's name and position.
func (b *Book) Closure(recipe, total int) ([]int, error) {
	r := &b.Recipes[recipe]
	if n := len(r.Parts); total < n {
		e := b.ErrorAtRecipe(recipe)
		e.Message = inputerr.Quote(r.Name) + " uses " + inputerr.Count(n, "ingredient") + ", too many for a total of " + inputerr.Count(total, "unit")
		e.Hint = "take a total of at least " + inputerr.Count(n, "unit") + ", better many more"
		return nil, e
	}
	return Closure(r.Parts, total)
}
