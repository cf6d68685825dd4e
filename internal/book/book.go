// Package book reads recipe books: recipes with their amounts, and the labels that
// describe them.
//
// A book is a table, in one of two forms, which the header distinguishes. In
// the long form a row is an ingredient of a recipe, in the columns recipe,
// ingredient, amount and, if there is one, unit; every other column is a label
// and is the same in all rows of a recipe. In the wide form a row is a recipe and
// every column an ingredient, except for the column recipe and for labels. A table
// with its rows as columns, that begins with the ingredients, is turned first. A
// second file may list the ingredients and what is known of them (group, cost,
// strength).
//
// Tables come as CSV in several encodings, with several delimiters and decimal
// marks, as .xlsx and .ods workbooks, and recipes also as JSON-LD. Where a table
// leaves something open, the reader guesses and adds a [Note]; a [Layout] settles it.
//
// CSV is read as a stream: memory grows with the recipes and their parts, not
// with the text. Workbooks, JSON and what is turned are held in memory, and bounded. Whatever is
// wrong in a file is returned as an [*Error] with file, line and column, in
// characters, or with sheet and cell; nothing is skipped in silence.
//
// Amounts are decimal numbers and are kept as such, so that the closure of a
// recipe to a total of M whole units, see [Closure], is the same on every
// machine and ties are real ties.
package book

import (
	"cmp"
	"math/big"
	"sync"

	"kir/internal/fault"
)

// A Book is a list of recipes. It is not changed after it has been read, and
// may be used by several goroutines at once.
type Book struct {
	// File is the name that the book was read under; errors begin with it.
	File string

	// Ingredients are the ones that were given to [Read] or else all that the
	// book names, in the order in which they first appear. An ingredient that
	// only ever has the amount 0 is among them.
	Ingredients *Ingredients

	// Recipes are in the order of the file (in the long form, of their first
	// rows). There is at least one, but in a file of results.
	Recipes []Recipe

	// Labels are in the order of their columns.
	Labels []Label

	// Long is whether the table has the long form.
	Long bool

	// Transposed is whether the table has a row for each ingredient and a column for each
	// recipe.
	Transposed bool

	// Notes are what was understood without being said, by line.
	Notes []Note

	// Guessed is what settles those notes that may well be wrong.
	Guessed Layout

	// Shape is what the parts of the table were taken to be; nil of a file of results.
	Shape *Shape

	// Results is the file of results whose entries are the last of the recipes; nil
	// if there is none.
	Results *Results

	once    sync.Once // makes indexed
	indexed index
}

// A Recipe is a name and the ingredients it uses.
type Recipe struct {
	Name string

	// Parts are the used ingredients, those with an amount above 0, in the order
	// of the file. There is at least one, each ingredient is in it at most once,
	// and the units of all are of one kind.
	Parts []Part

	// Line and Column are where the name stands first.
	Line, Column int

	cell string // where, in a workbook
	file string // the file, if the book is of several
}

// A Part is one used ingredient of a recipe and how much of it.
type Part struct {
	// Ingredient is an index into Book.Ingredients.
	Ingredient int32

	// Line is the line of the file that says so.
	Line int32

	// Amount is the number in the file, above 0, in the unit of the file.
	Amount Amount

	// Unit is what the amount counts. It is nil where the book gives no unit:
	// such amounts are only compared with each other.
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

// kind is the kind of the part's unit.
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

// ErrorAtRecipe returns an error at the place of a recipe, for whoever finds something wrong
// with it.
func (b *Book) ErrorAtRecipe(recipe int) *Error {
	r := &b.Recipes[recipe]
	return &Error{File: cmp.Or(r.file, b.File), Line: r.Line, Column: r.Column, Cell: r.cell}
}

// UsedCounts is the book's own law of sparsity: element n is how many recipes
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

// Closure returns the units of each part of a recipe when it is scaled to a
// total of M units; see the function [Closure]. A total that is smaller than the
// number of parts is an [*Error] that names the recipe and where it stands.
func (b *Book) Closure(recipe, total int) ([]int, error) {
	r := &b.Recipes[recipe]
	if n := len(r.Parts); total < n {
		e := b.ErrorAtRecipe(recipe)
		e.Message = fault.Quote(r.Name) + " uses " + fault.Count(n, "ingredient") + ", too many for a total of " + fault.Count(total, "unit")
		e.Hint = "take a total of at least " + fault.Count(n, "unit") + ", better many more"
		return nil, e
	}
	return Closure(r.Parts, total)
}
