package recipe

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/fault"
)

// Options are what a reader of books is told beside the file. The zero value
// will do for a book in the long form.
type Options struct {
	// Labels are the columns that are labels. A wide book needs them: any other
	// column than recipe is an ingredient there. In a long book they must exist,
	// and other columns may be labels as well.
	Labels []string

	// Units are the units that the book may use, if not [DefaultUnits].
	Units *Units

	// Ingredients are the only ones that the book may use, and give them their
	// order. If nil, they are taken from the book.
	Ingredients *Ingredients
}

// A NoLabelError is behind the [*Error] for a label of [Options] that the book
// has no column for. Whoever named the label may know a better place to point to.
type NoLabelError struct{ Name string }

func (e *NoLabelError) Error() string { return "no label " + fault.Quote(e.Name) }

// ReadFile reads a book from a file, see [Read].
func ReadFile(path string, o Options) (*Book, error) {
	return readFile(path, func(r io.Reader) (*Book, error) { return Read(r, path, o) })
}

// Read reads a book from CSV in UTF-8, with or without a byte-order mark, lines
// ending in LF or CRLF. file is the name for messages. The form is long if the
// header has a column ingredient or amount, otherwise wide; these names and
// recipe and unit are recognised in whatever case. See the package's
// documentation for the forms.
//
// In the long form the rows of a recipe need not follow each other. An amount of
// 0 says that an ingredient is not used; in the wide form, so does an empty
// cell. A unit may be empty, which makes the amounts of that recipe plain
// numbers. A label may be empty, in all rows of a recipe or in none. Rows of
// nothing at all are skipped; there are no comments. A row may take up to 4 MiB.
//
// What is wrong in the file is an [*Error]: a row that is shorter or longer than
// the header, a quote out of place, invalid UTF-8, a column that is missing,
// doubled or without a name, an empty name of a recipe or ingredient, a recipe
// and ingredient that are there twice, an amount that is unreadable, negative or
// not finite, an unknown unit, units of different kinds in a recipe, a recipe
// whose amounts are all 0, a label that changes within a recipe, an ingredient
// that is not one of those given, a file without recipes.
func Read(r io.Reader, file string, o Options) (*Book, error) {
	t, err := newTable(r, file)
	if err != nil {
		return nil, err
	}
	b := &builder{
		table: t,
		book:  &Book{File: file, Ingredients: o.Ingredients},
		units: o.Units,
		spelt: make(map[string]*Unit),
		index: make(map[string]int32),
	}
	if b.units == nil {
		b.units = DefaultUnits()
	}
	if o.Ingredients == nil {
		b.open = true
		b.book.Ingredients = &Ingredients{index: make(map[string]int32)}
	}
	readRow, err := b.readHeader(o.Labels)
	if err != nil {
		return nil, err
	}
	for {
		if err := t.next(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if err := readRow(); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// A builder puts a book together row by row.
type builder struct {
	table *table
	book  *Book
	units *Units
	spelt map[string]*Unit // as the book writes them
	open  bool             // the book may name new ingredients

	// columns; -1 where there is none
	recipe, ingredient, amount, unit int
	parts                            []widePart // wide form
	used                             []Part     // wide form, room for a row's
	labels                           []labelColumn

	recipes recipeList
	index   map[string]int32          // recipes by name
	last    int32                     // the recipe of the row before
	big     map[int32]map[int32]int32 // lines of the parts of recipes with many
	unused  map[[2]int32]int32        // lines of amounts of 0, by recipe and ingredient
}

// A recipeList grows without copying what it has: books may hold millions.
type recipeList struct {
	chunks [][]Recipe // each but the last is full
	count  int
}

// recipeChunk is how many recipes a chunk of a recipeList holds.
const recipeChunk = 1 << 12

// add appends a recipe and returns its number.
func (l *recipeList) add(r Recipe) int32 {
	if l.count%recipeChunk == 0 {
		l.chunks = append(l.chunks, make([]Recipe, 0, min(recipeChunk, 64+l.count)))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, r)
	l.count++
	return int32(l.count - 1)
}

// at returns a recipe by its number. It is valid until the next add.
func (l *recipeList) at(i int32) *Recipe {
	return &l.chunks[i/recipeChunk][i%recipeChunk]
}

// all returns the recipes in one slice and empties the list.
func (l *recipeList) all() []Recipe {
	all := make([]Recipe, 0, l.count)
	for i, chunk := range l.chunks {
		all = append(all, chunk...)
		l.chunks[i] = nil
	}
	*l = recipeList{}
	return all
}

// A widePart is an ingredient's column in the wide form.
type widePart struct {
	column     int
	ingredient int32
}

const longForm = "the long form has the columns recipe, ingredient, amount and perhaps unit and labels"

// manyParts is from where on a recipe's parts are looked up in a map.
const manyParts = 24

// readHeader works out what the columns are and returns what reads a row.
func (b *builder) readHeader(labels []string) (readRow func() error, err error) {
	t := b.table
	for _, c := range []struct {
		name   string
		column *int
	}{{"recipe", &b.recipe}, {"ingredient", &b.ingredient}, {"amount", &b.amount}, {"unit", &b.unit}} {
		if *c.column, err = t.findOnly(c.name); err != nil {
			return nil, err
		}
	}

	isLabel := make(map[int]bool)
	for _, text := range labels {
		name := Name(text)
		column := -1
		for i, other := range t.header {
			if name == other {
				column = i
			}
		}
		if column < 0 {
			hint := fault.DidYouMean(name, t.header)
			if hint == "" {
				hint = "the columns are " + fault.List(t.header, 12)
			}
			e := t.errorAt(0, "no column is called "+fault.Quote(name)+", which is to be a label", hint)
			e.Err = &NoLabelError{Name: name}
			return nil, e
		}
		isLabel[column] = true
	}

	long := b.ingredient >= 0 || b.amount >= 0
	var needed []string
	if long {
		needed = []string{"recipe", "ingredient", "amount"}
	} else {
		needed = []string{"recipe"}
	}
	for _, name := range needed {
		if t.find(name) >= 0 {
			continue
		}
		hint := longForm + "; the wide form has recipe and a column for each ingredient"
		column := 0
		for i, other := range t.header {
			if _, ok := fault.Nearest(other, []string{name}); ok {
				column, hint = i, "is it "+fault.Quote(other)+"? "+hint
				break
			}
		}
		return nil, t.errorAt(column, "no column is called "+fault.Quote(name), hint)
	}

	for i, name := range t.header {
		switch {
		case long && (i == b.recipe || i == b.ingredient || i == b.amount || i == b.unit), !long && i == b.recipe:
			if isLabel[i] {
				return nil, t.errorAt(i, "column "+fault.Quote(name)+" cannot be a label", "a label is another column than that")
			}
		case long || isLabel[i]:
			b.labels = append(b.labels, labelColumn{column: i, Label: Label{Name: name}, class: make(map[string]int32)})
		default:
			ingredient, err := b.findIngredient(name, i)
			if err != nil {
				return nil, err
			}
			b.parts = append(b.parts, widePart{i, ingredient})
		}
	}
	if long {
		return b.readLong, nil
	}
	if len(b.parts) == 0 {
		return nil, t.errorAt(b.recipe, "the header names no ingredient", longForm+"; the wide form has recipe and a column for each ingredient")
	}
	return b.readWide, nil
}

// findRecipe returns the recipe of the current row; it is a new one if the book
// has none of that name.
func (b *builder) findRecipe() (recipe int32, isNew bool, err error) {
	t := b.table
	name := Name(t.row[b.recipe])
	if name == "" {
		return 0, false, t.errorAt(b.recipe, "a recipe without a name", "name it, or remove the row")
	}
	if b.recipes.count > 0 && b.recipes.at(b.last).Name == name {
		return b.last, false, nil
	}
	recipe, ok := b.index[name]
	if !ok {
		if b.recipes.count == math.MaxInt32 {
			return 0, false, t.errorAt(b.recipe, "too many recipes", "a book may have up to 2^31 - 1")
		}
		r := Recipe{Name: strings.Clone(name)}
		r.Line, r.Column = t.position(b.recipe)
		if b.ingredient >= 0 && b.recipes.count > 0 {
			// Likely as many as the one before has.
			r.Parts = make([]Part, 0, min(len(b.recipes.at(b.last).Parts), manyParts))
		}
		recipe = b.recipes.add(r)
		b.index[r.Name] = recipe
		for i := range b.labels {
			b.labels[i].add(t)
		}
	}
	b.last = recipe
	return recipe, !ok, nil
}

// findIngredient returns the ingredient of that name, which stands in a field of
// the current row.
func (b *builder) findIngredient(name string, field int) (int32, error) {
	in := b.book.Ingredients
	i, ok := in.index[name]
	switch {
	case ok:
		return i, nil
	case b.open:
		return in.add(strings.Clone(name)), nil
	}
	message := fault.Quote(name) + " is not one of the " + fault.Count(in.Len(), "ingredient")
	if in.File != "" {
		message += " in " + in.File
	}
	hint := fault.DidYouMean(name, in.Names)
	if hint == "" {
		hint = "add it there"
		if b.ingredient < 0 {
			hint += ", or if it is a label, name it as one"
		}
	}
	return 0, b.table.errorAt(field, message, hint)
}

// readLong takes in a row of the long form.
func (b *builder) readLong() error {
	t := b.table
	recipe, isNew, err := b.findRecipe()
	if err != nil {
		return err
	}
	r := b.recipes.at(recipe)
	if !isNew {
		for i := range b.labels {
			l := &b.labels[i]
			was := l.Value(int(recipe))
			if is := Name(t.row[l.column]); is != was {
				return t.errorAt(l.column, fmt.Sprintf("%s of %s changes from %s on line %d to %s", fault.Quote(l.Name), fault.Quote(r.Name), fault.Quote(was), r.Line, fault.Quote(is)), "write the same in all rows of a recipe")
			}
		}
	}

	name := Name(t.row[b.ingredient])
	if name == "" {
		return t.errorAt(b.ingredient, "an ingredient without a name", "name it, or remove the row")
	}
	ingredient, err := b.findIngredient(name, b.ingredient)
	if err != nil {
		return err
	}
	if first, ok := b.lineOf(recipe, ingredient); ok {
		return t.errorAt(b.ingredient, fmt.Sprintf("%s is in %s twice: first on line %d", fault.Quote(name), fault.Quote(r.Name), first), "put the sum of the amounts into one row")
	}

	amount, message, hint := parseAmount(strings.TrimSpace(t.row[b.amount]))
	if message != "" {
		return t.errorAt(b.amount, message, hint)
	}
	var unit *Unit
	if b.unit >= 0 {
		if unit, err = b.findUnit(t.row[b.unit]); err != nil {
			return err
		}
	}
	line, _ := t.csv.FieldPos(b.recipe)
	part := Part{Ingredient: ingredient, Line: int32(min(line, math.MaxInt32)), Amount: amount, Unit: unit}
	if amount.IsZero() {
		if b.unused == nil {
			b.unused = make(map[[2]int32]int32)
		}
		b.unused[[2]int32{recipe, ingredient}] = part.Line
		return nil
	}
	if len(r.Parts) > 0 && r.Parts[0].kind() != part.kind() {
		return b.mixed(r, part)
	}
	r.Parts = append(r.Parts, part)
	if len(r.Parts) >= manyParts {
		b.remember(recipe)
	}
	return nil
}

// mixed says that the current row's unit cannot be added to those of the recipe.
func (b *builder) mixed(r *Recipe, part Part) error {
	describe := func(u *Unit) string {
		if u == nil {
			return "no unit"
		}
		return fault.Quote(u.Name) + " (" + u.Kind.String() + ")"
	}
	first := r.Parts[0]
	message := fmt.Sprintf("%s mixes %s on line %d with %s", fault.Quote(r.Name), describe(first.Unit), first.Line, describe(part.Unit))
	hint := "use units of one kind in a recipe"
	if first.Unit != nil && part.Unit != nil {
		hint += ", or give " + fault.Quote(part.Unit.Name) + " a size in " + fault.Quote(first.Unit.Name)
	}
	return b.table.errorAt(b.unit, message, hint)
}

// lineOf returns the line on which a recipe already has an ingredient.
func (b *builder) lineOf(recipe, ingredient int32) (line int32, ok bool) {
	if parts := b.recipes.at(recipe).Parts; len(parts) < manyParts {
		for i := range parts {
			if parts[i].Ingredient == ingredient {
				return parts[i].Line, true
			}
		}
	} else if line, ok = b.big[recipe][ingredient]; ok {
		return line, true
	}
	if b.unused != nil {
		line, ok = b.unused[[2]int32{recipe, ingredient}]
	}
	return line, ok
}

// remember keeps the last part, or all parts, of a recipe with many where lineOf
// finds them at once.
func (b *builder) remember(recipe int32) {
	parts := b.recipes.at(recipe).Parts
	lines := b.big[recipe]
	if lines == nil {
		lines = make(map[int32]int32)
		if b.big == nil {
			b.big = make(map[int32]map[int32]int32)
		}
		b.big[recipe] = lines
		for _, p := range parts {
			lines[p.Ingredient] = p.Line
		}
	}
	last := parts[len(parts)-1]
	lines[last.Ingredient] = last.Line
}

// findUnit returns the unit of the current row, nil if the cell is empty.
func (b *builder) findUnit(text string) (*Unit, error) {
	if unit, ok := b.spelt[text]; ok {
		return unit, nil
	}
	var unit *Unit
	if name := Name(text); name != "" {
		var ok bool
		if unit, ok = b.units.Lookup(name); !ok {
			message, hint := b.units.unknown(name)
			return nil, b.table.errorAt(b.unit, message, hint)
		}
	}
	b.spelt[strings.Clone(text)] = unit
	return unit, nil
}

// readWide takes in a row of the wide form.
func (b *builder) readWide() error {
	t := b.table
	recipe, isNew, err := b.findRecipe()
	if err != nil {
		return err
	}
	r := b.recipes.at(recipe)
	if !isNew {
		return t.errorAt(b.recipe, fmt.Sprintf("recipe %s is there twice: first on line %d", fault.Quote(r.Name), r.Line), "remove one of the rows, or rename one")
	}
	used := b.used[:0]
	for _, p := range b.parts {
		text := t.row[p.column]
		if text == "" || text == "0" {
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		amount, message, hint := parseAmount(text)
		if message != "" {
			if _, ok := number(text); !ok {
				hint += ", or if " + fault.Quote(t.header[p.column]) + " is a label, name it as one; " + longForm
			}
			return t.errorAt(p.column, message+" of "+fault.Quote(t.header[p.column]), hint)
		}
		if amount.IsZero() {
			continue
		}
		used = append(used, Part{Ingredient: p.ingredient, Line: int32(min(r.Line, math.MaxInt32)), Amount: amount})
	}
	b.used = used
	if len(used) == 0 {
		return b.empty(r)
	}
	r.Parts = slices.Clone(used)
	return nil
}

// empty says that a recipe has no amounts.
func (b *builder) empty(r *Recipe) error {
	return b.table.errorIn(r.Line, r.Column, "the amounts of "+fault.Quote(r.Name)+" add up to 0", "give at least one ingredient an amount above 0, or remove the recipe")
}

// finish returns the book once all rows have been read.
func (b *builder) finish() (*Book, error) {
	book := b.book
	b.index, b.big, b.unused = nil, nil, nil
	book.Recipes = b.recipes.all()
	if len(book.Recipes) == 0 {
		return nil, b.table.errorIn(1, 1, "there is no recipe in the file", "add a row below the header")
	}
	for i := range book.Recipes {
		if len(book.Recipes[i].Parts) == 0 {
			return nil, b.empty(&book.Recipes[i])
		}
	}
	for i := range b.labels {
		book.Labels = append(book.Labels, b.labels[i].sorted())
	}
	return book, nil
}
