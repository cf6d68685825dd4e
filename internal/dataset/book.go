// Package dataset reads datasets of recipes. A recipe has amounts of ingredients, and labels that
// describe the recipe.
//
// A dataset is a table in one of two forms. The header of the table tells the two forms apart. In
// the long form each row holds one ingredient of a recipe, in the columns recipe, ingredient,
// amount and optionally unit. Every other column is a label, which has the same value in all rows
// of a recipe. In the wide form each row is a recipe, and every column is an ingredient, except the
// column recipe and the labels. A transposed table has a row for each ingredient and a column for
// each recipe; the reader turns a transposed table into the wide form. A second file may list the
// ingredients with their attributes (group, cost, strength).
//
// Tables come as CSV in several encodings, with several delimiters and decimal marks, or as .xlsx
// and .ods workbooks. Where a table is ambiguous, the reader guesses and adds a [Note]. A [Layout]
// replaces the guesses.
//
// CSV is read as a stream: memory grows with the recipes and their amounts, not with the text.
// Workbooks and transposed tables are held in memory, and their size is limited. Every fault in a
// file is returned as an [*Error] with the file, the line and the column, in characters, or with
// the sheet and the cell. No row or column is skipped without an error or a note.
//
// Amounts stay exact decimal numbers. Therefore the closure of a recipe to a total of M whole
// units, see [Closure], is the same on every machine, and only equal remainders tie.
package dataset

import (
	"cmp"
	"math/big"
	"sync"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A Book is a dataset: a list of recipes. A Book does not change after it has been read, so several
// goroutines may use it at once.
type Book struct {
	// File is the name under which the book was read. Error messages begin with File.
	File string

	// Ingredients are the ingredients given to [Read]. If none were given, Ingredients are all
	// those that the book names, in the order in which they first appear, including those whose
	// amount is always 0.
	Ingredients *Ingredients

	// Recipes are in the order of the file; in the long form, in the order of their first rows.
	// There is at least one recipe, except in a file of results.
	Recipes []Recipe

	// Labels are the labels of the recipes, in the order of the columns.
	Labels []Label

	// LongForm reports whether the table has the long form.
	LongForm bool

	// Transposed reports whether the table has a row for each ingredient and a column for each
	// recipe.
	Transposed bool

	// Asides are the rows or columns of the table that describe the ingredients. They are left
	// out of the recipes.
	Asides []Aside

	// Notes are the reader's interpretations of what the table leaves open, in the order of the
	// lines.
	Notes []Note

	// GuessedLayout is a layout with those guesses of the reader that may well be wrong.
	GuessedLayout Layout

	// Shape says how the parts of the table were interpreted. It is nil for a file of results.
	Shape *Shape

	// Results is the file of results that the last recipes of the book come from. It is nil if no
	// recipe comes from a file of results.
	Results *Results

	indexOnce   sync.Once   // guards the creation of cachedIndex
	cachedIndex recipeIndex // what [Book.ingredientIndex] returns
}

// A Recipe is a named list of amounts of ingredients.
type Recipe struct {
	Name string

	// Parts are the amounts of the used ingredients, in the order of the file. There is at least
	// one part, and all amounts are above 0. Each ingredient occurs at most once, and all units are
	// of one kind.
	Parts []Part

	// Line and Column are the position of the first cell with the recipe's name, counted from 1.
	Line, Column int

	cellAddress string // address of the name's cell in a workbook; empty for other files
	sourceFile  string // name of the file of the recipe, if the book was joined from several files
}

// A Part is the amount of one used ingredient of a recipe.
type Part struct {
	// Ingredient is an index into the Names of Book.Ingredients.
	Ingredient int32

	// Line is the line of the amount in the file, counted from 1.
	Line int32

	// Amount is the number in the file, above 0, in the unit Unit.
	Amount measure.Amount

	// Unit is the unit of Amount. It is nil if the book gives no unit; amounts without a unit are
	// only compared with each other.
	Unit *measure.Unit
}

// Base returns the exact amount in the base unit of the [Kind] of its unit: Amount · Unit.Size, or
// Amount if there is no unit.
func (p Part) Base() *big.Rat {
	base := p.Amount.Rat()
	if p.Unit != nil {
		base.Mul(base, p.Unit.Size.Rat())
	}
	return base
}

// kind returns the kind of the part's unit, or Plain if the part has no unit.
func (p Part) kind() measure.Kind {
	if p.Unit == nil {
		return measure.Unitless
	}
	return p.Unit.Kind
}

// Label returns the label with a given name. ok is false if the book has no such label.
func (b *Book) Label(name string) (label *Label, ok bool) {
	name = NormalizeName(name)
	for i := range b.Labels {
		if b.Labels[i].Name == name {
			return &b.Labels[i], true
		}
	}
	return nil, false
}

// ErrorAtRecipe returns an error with the position of a recipe but no message. The caller sets the
// message and the hint. recipe is an index into Recipes.
func (b *Book) ErrorAtRecipe(recipe int) *Error {
	r := &b.Recipes[recipe]
	return &Error{File: cmp.Or(r.sourceFile, b.File), Line: r.Line, Column: r.Column, Cell: r.cellAddress}
}

// RecipeCountsBySize counts the recipes by their number of ingredients: element n is the number of recipes
// that use exactly n ingredients. Element 0 is 0, and the last element is above 0.
func (b *Book) RecipeCountsBySize() []int {
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

// Closure scales a recipe to a total of whole units; see the function [Closure]. recipe is an index
// into Recipes. Element k of the result is the number of units of part k. If total is smaller than
// the number of parts, the error is an [*Error] with the recipe's name and position.
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
