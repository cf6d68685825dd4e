package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// A builder assembles a book row by row.
type builder struct {
	table        *table
	book         *Book
	units        *Units
	faults       faults
	readRow      func()
	unitCache    map[string]*Unit     // units, by their spelling in the book
	unknownUnits map[string][2]string // message and hint for each unknown unit
	allowsNew    bool                 // the book may name new ingredients
	names        map[string]string    // ingredients, by their spelling in the table
	excluded     map[string]bool      // recipes that are left out
	// including lists recipes that would be left out otherwise.
	including        []string
	previousExcluded bool            // the previous row belongs to an excluded recipe
	reported         map[string]bool // keys of errors that are reported only once

	// columns; -1 where there is none
	recipe, ingredient, amount, unit int        // recipe is -1 also in the wide form if rows have no names
	amountUnit                       *Unit      // long form: unit of amounts without a unit
	parts                            []widePart // wide form
	used                             []Part     // wide form: buffer for a row's amounts
	labels                           []labelColumn
	conditions                       []int // labels that are conditions of trials

	recipes      []Recipe
	index        map[string]int32   // recipes by name
	last         int32              // the recipe of the previous row
	lines        map[[2]int32]int32 // long form: line by recipe and ingredient, including amounts of 0
	firmPart     int                // the last part whose unit kept the others from becoming masses
	badRecipes   map[int32]bool     // recipes with a fault
	guesses      [readingKinds]noteCounter
	unnamedRows  noteCounter             // rows without the name of their recipe
	looseUnits   map[*Unit]bool          // small units that were converted to masses
	emptyRows    noteCounter             // rows of the wide form with neither name nor amounts
	remainders   map[int32]remainderPart // by recipe
	filled       noteCounter
	guessedWhole bool // the whole was guessed without any evidence
	respellings  []respelling

	footnotes     []footnote // rows at the end, so far, that may be footnotes
	footnoteCount int
}

// A respelling is an ingredient under a name that differs in the case of letters.
type respelling struct {
	name       string
	ingredient int32
	place      place
}

// A noteCounter counts repeated cases of one interpretation, for a single note.
type noteCounter struct {
	count   int
	example string
	place   place
}

// increment counts one more case.
func (g *noteCounter) increment(p func() place, example string) {
	if g.count++; g.count == 1 {
		g.place, g.example = p(), strings.Clone(example)
	}
}

// A widePart is an ingredient's column in the wide form.
type widePart struct {
	column     int
	ingredient int32
	unit       *Unit // unit of amounts without a unit
}

func newBuilder(t *table, columns []Column, long bool, in *Ingredients, units *Units, l Layout) *builder {
	b := &builder{
		names: l.Names, including: l.Including, excluded: make(map[string]bool, len(l.Without)),
		table: t, units: units, allowsNew: in == nil,
		book:         &Book{File: t.file, Ingredients: in, Long: long},
		unitCache:    make(map[string]*Unit),
		unknownUnits: make(map[string][2]string),
		reported:     make(map[string]bool),
		index:        make(map[string]int32),
		badRecipes:   make(map[int32]bool),
		lines:        make(map[[2]int32]int32),
		remainders:   make(map[int32]remainderPart),
		recipe:       -1, ingredient: -1, amount: -1, unit: -1,
	}
	if b.allowsNew {
		b.book.Ingredients = newIngredients("")
	}
	for _, name := range l.Without {
		b.excluded[NormalizeName(name)] = true
	}
	seen := make(map[int32]string)
	for i, c := range columns {
		if b.faults.isFull() {
			break
		}
		switch {
		case c.Role == RecipeColumn:
			b.recipe = i
		case c.Role == LabelColumn:
			b.labels = append(b.labels, labelColumn{column: i, Label: Label{Name: c.Name}, class: make(map[string]int32)})
		case long && c.Role == IngredientColumn:
			b.ingredient = i
		case c.Role == AmountColumn:
			b.amount, b.amountUnit = i, c.Unit
		case c.Role == UnitColumn:
			b.unit = i
		case c.Role == IngredientColumn:
			ingredient, ok := b.findIngredient(c.Ingredient, func() place { return t.places[i] })
			if !ok {
				b.refuseIngredient(c.Ingredient, t.places[i])
				continue
			}
			if first, ok := seen[ingredient]; ok {
				hint := "put the amounts into one column, or give one another name"
				if c.Ingredient != b.book.Ingredients.Names[ingredient] {
					hint += ", as in " + Layout{Names: map[string]string{c.Ingredient: c.Ingredient + " (2)"}}.YAML()
				}
				b.faults.add(t.errorInHeader(i, fmt.Sprintf("columns %s and %s are one ingredient, %s", inputerr.Quote(first), inputerr.Quote(c.Name), inputerr.Quote(c.Ingredient)), hint))
				continue
			}
			seen[ingredient] = c.Name
			b.parts = append(b.parts, widePart{column: i, ingredient: ingredient, unit: c.Unit})
		}
	}
	if b.readRow = b.readWide; long {
		b.readRow = b.readLong
	}
	return b
}

// addError records an error in a field of the current row, once for each key that is not empty.
func (b *builder) addError(field int, key, message, hint string) {
	if key != "" {
		if b.reported[key] {
			return
		}
		b.reported[key] = true
	}
	b.faults.add(b.table.errorAt(field, message, hint))
}

// recipeName returns the recipe name of the current row.
func (b *builder) recipeName() string {
	if b.recipe < 0 {
		return rowName(b.table.rows.line(0))
	}
	return NormalizeName(b.table.row[b.recipe])
}

// skipRow skips the current row if its recipe is to be left out, and reports that.
func (b *builder) skipRow() bool {
	if len(b.excluded) == 0 {
		return false
	}
	name := b.recipeName()
	if name != "" || b.ingredient < 0 {
		b.previousExcluded = b.excluded[name]
	}
	if b.previousExcluded {
		b.reported["without "+strings.Clone(name)] = b.reported["without "+name] || name != ""
		b.table.noteLeftOut(b.table.rows.line(max(b.recipe, 0)))
	}
	return b.previousExcluded
}

// findRecipe returns the recipe of the current row, a new one if the name is new. below reports
// whether the row has no name and so belongs to the recipe above.
func (b *builder) findRecipe() (recipe int32, isNew, below, ok bool) {
	t := b.table
	name := b.recipeName()
	if name == "" {
		if b.ingredient >= 0 && len(b.recipes) > 0 {
			b.unnamedRows.increment(func() place { return t.place(b.recipe) }, b.recipes[b.last].Name)
			return b.last, false, true, true
		}
		b.addError(b.recipe, "", "a recipe without a name", "name it, or remove the row")
		return 0, false, false, false
	}
	name = b.trialName(name)
	if len(b.recipes) > 0 && b.recipes[b.last].Name == name {
		return b.last, false, false, true
	}
	recipe, ok = b.index[name]
	if !ok {
		if len(b.recipes) == math.MaxInt32 {
			b.addError(b.recipe, "too many", "too many recipes", "a book may have up to 2^31 - 1")
			return 0, false, false, false
		}
		r := Recipe{Name: strings.Clone(name)}
		p := t.place(max(b.recipe, 0))
		r.Line, r.Column, r.cell = p.line, p.column, p.cell
		recipe = int32(len(b.recipes))
		b.recipes = append(b.recipes, r)
		b.index[r.Name] = recipe
		for i := range b.labels {
			b.labels[i].add(t, r.Name)
		}
	}
	b.last = recipe
	return recipe, !ok, false, true
}

// trialName returns the name of the trial of the current row, given that of its recipe: with the conditions behind it
// if the recipe is there already under others. A row of the long form without conditions belongs to the first trial.
func (b *builder) trialName(recipe string) string {
	first, known := b.index[recipe]
	if !known || len(b.conditions) == 0 {
		return recipe
	}
	differs := false
	var set []string
	for _, i := range b.conditions {
		l := &b.labels[i]
		value := b.table.labelFigure(l.column, NormalizeName(b.table.row[l.column]))
		differs = differs || value != l.Value(int(first))
		if value != "" {
			set = append(set, l.Name+" "+value)
		}
	}
	if !differs || len(set) == 0 {
		return recipe
	}
	return recipe + " at " + strings.Join(set, ", ")
}

// findIngredient returns the ingredient of that name, and whether the book may use it.
func (b *builder) findIngredient(name string, at func() place) (int32, bool) {
	in := b.book.Ingredients
	given, named := b.names[name]
	if named {
		b.reported["named "+strings.Clone(name)] = true
		name = NormalizeName(given)
	}
	i, ok := in.find(name)
	if ok && !named && in.Names[i] != name && !b.reported["spelling "+name] {
		b.reported["spelling "+strings.Clone(name)] = true
		b.respellings = append(b.respellings, respelling{strings.Clone(name), i, at()})
	}
	if ok || !b.allowsNew {
		return i, ok
	}
	return in.add(strings.Clone(name)), true
}

// refuseIngredient reports, once, that the book may not use an ingredient.
func (b *builder) refuseIngredient(name string, p place) {
	if b.reported["ingredient "+name] {
		return
	}
	in := b.book.Ingredients
	b.reported["ingredient "+strings.Clone(name)] = true
	message := inputerr.Quote(name) + " is not one of the " + inputerr.Count(in.Len(), "ingredient")
	if in.File != "" {
		message += " in " + in.File
	}
	hint := inputerr.DidYouMean(name, in.Names)
	if hint == "" {
		hint = "add it there"
		if b.ingredient < 0 {
			hint += ", or if it is a label, name it as one"
		}
	}
	b.faults.add(b.table.errorIn(p, message, hint))
}

// readQuantity parses the amount in a field of the current row.
func (b *builder) readQuantity(field int, text string) (q quantity, message, hint string) {
	t := b.table
	q, message, hint = parseQuantity(text, t.decimalOf(field), b.units)
	if message == "" && q.guess != literalReading {
		b.guesses[q.guess].increment(func() place { return t.place(field) }, text+" is "+strings.TrimSpace(q.amount.String()+" "+q.unit))
	}
	return q, message, hint
}

// findUnit returns the unit of that name, or nil for an empty name. For an unknown unit it returns
// a message and a hint.
func (b *builder) findUnit(text string) (unit *Unit, message, hint string) {
	if unit, ok := b.unitCache[text]; ok {
		return unit, "", ""
	}
	if name := NormalizeName(text); name != "" {
		var ok bool
		if unit, ok = b.units.Lookup(name); !ok {
			why, known := b.unknownUnits[text]
			if !known {
				why[0], why[1] = b.units.unknownUnit(name)
				b.unknownUnits[strings.Clone(text)] = why
			}
			return nil, why[0], why[1]
		}
	}
	b.unitCache[strings.Clone(text)] = unit
	return unit, "", ""
}

// reconcileUnit converts a part's unit to the kind of the others if it is a small unit that nobody
// measures. The others may be converted for the same reason. It reports whether all are of one
// kind.
func (b *builder) reconcileUnit(parts []Part, part *Part, field int) bool {
	if len(parts) == 0 || parts[0].kind() == part.kind() {
		return true
	}
	asMass := func(p *Part) {
		if b.looseUnits == nil {
			b.looseUnits = make(map[*Unit]bool)
		}
		was := p.Unit
		if !b.looseUnits[was] {
			b.looseUnits[was] = true
			b.table.addNote(b.table.place(field), fmt.Sprintf("%s is taken as %v g where other amounts are masses", inputerr.Quote(was.Name), was.inMass.Size),
				"units: {"+YAMLText(was.Name)+": "+was.inMass.Size.String()+" g}")
		}
		p.Unit = was.inMass
	}
	loose := func(p *Part) bool { return p.Unit != nil && p.Unit.inMass != nil }
	switch {
	case parts[0].kind() == Mass && loose(part):
		asMass(part)
		return true
	case part.kind() == Mass:
		if b.firmPart < len(parts) && !loose(&parts[b.firmPart]) {
			return false
		}
		for i := range parts {
			if !loose(&parts[i]) {
				b.firmPart = i
				return false
			}
		}
		for i := range parts {
			asMass(&parts[i])
		}
		return true
	}
	return false
}

// failMixedUnits reports that a part's unit cannot be added to those of the recipe.
func (b *builder) failMixedUnits(r *Recipe, first, part *Part, field int) {
	describe := func(u *Unit) string {
		if u == nil {
			return "no unit"
		}
		return inputerr.Quote(u.Name) + " (" + u.Kind.String() + ")"
	}
	message := fmt.Sprintf("%s mixes %s on line %d with %s", inputerr.Quote(r.Name), describe(first.Unit), first.Line, describe(part.Unit))
	key, hint := "", "use units of one kind in a recipe"
	if first.Unit != nil && part.Unit != nil {
		hint += ", or give " + inputerr.Quote(part.Unit.Name) + " a size in " + inputerr.Quote(first.Unit.Name)
		switch {
		case first.Unit.Kind == Mass && part.Unit.Kind == Volume || first.Unit.Kind == Volume && part.Unit.Kind == Mass:
			// One fix resolves all such errors.
			key, hint = "density", "use units of one kind in a recipe, or take the density of water for all: units: {g: 0.1 cl}"
		case part.Unit.Kind == Count || first.Unit.Kind == Count:
			hint += ", such as units: {piece: 5 cl}"
		}
	} else if b.parts != nil { // the column without a unit may not be an ingredient's
		of := first.Ingredient
		if part.Unit == nil {
			of = part.Ingredient
		}
		name := b.book.Ingredients.Names[of]
		key, hint = "no unit in "+name, hint+", or if "+inputerr.Quote(name)+" is a label, say so: "+Layout{Columns: map[string]Role{name: LabelColumn}}.YAML()
	}
	b.addError(field, key, message, hint)
}

// failEmpty reports that a recipe has no amounts.
func (b *builder) failEmpty(r *Recipe) {
	b.faults.add(b.table.errorIn(place{r.Line, r.Column, r.cell}, "the amounts of "+inputerr.Quote(r.Name)+" add up to 0", "give at least one ingredient an amount above 0, or remove the recipe"))
}

// addRemainder records a part that makes up the remainder of a recipe.
func (b *builder) addRemainder(recipe int32, part Part, field int, text string, before int) {
	if first, twice := b.remainders[recipe]; twice {
		b.addError(field, "", fmt.Sprintf("%s makes up the rest of %s, and so does %s", inputerr.Quote(b.book.Ingredients.Names[part.Ingredient]),
			inputerr.Quote(b.recipes[recipe].Name), inputerr.Quote(b.book.Ingredients.Names[first.Ingredient])), "write the number of one of them, or 0 for one that is not used")
		b.badRecipes[recipe] = true
		return
	}
	b.remainders[recipe] = remainderPart{Part: part, before: before, text: strings.Clone(text), place: b.table.place(field)}
}

// columnOf returns the column of an ingredient in the wide form.
func (b *builder) columnOf(ingredient int32) string {
	if k := slices.IndexFunc(b.parts, func(p widePart) bool { return p.ingredient == ingredient }); k >= 0 {
		return b.table.header[b.parts[k].column]
	}
	return ""
}

// fillRemainders computes the remainders once all rows have been read.
func (b *builder) fillRemainders() {
	plain, sure, why := plainWhole(b.recipes, b.remainders, b.badRecipes)
	for i := range b.recipes {
		if part, ok := b.remainders[int32(i)]; ok && !b.badRecipes[int32(i)] {
			guessed := !sure && part.Amount.IsZero()
			what := inputerr.Quote(part.text) + " of " + inputerr.Quote(b.book.Ingredients.Names[part.Ingredient]) + " in " + inputerr.Quote(b.recipes[i].Name)
			is, key, message, hint := part.complete(&b.recipes[i], plain, why, b.columnOf)
			if message == "" {
				b.guessedWhole = b.guessedWhole || guessed && part.Unit == nil
				b.filled.increment(func() place { return part.place }, what+" is "+is)
				continue
			}
			b.badRecipes[int32(i)] = true
			if key == "" || !b.reported[key] {
				b.reported[key] = true
				b.faults.add(b.table.errorIn(part.place, what+" "+message, hint))
			}
		}
	}
}

// finish returns the book once all rows have been read.
func (b *builder) finish() (*Book, error) {
	book, t := b.book, b.table
	b.endFootnotes()
	book.Recipes = b.recipes
	if !b.faults.isFull() && !b.faults.broken && len(t.broken) == 0 {
		b.fillRemainders()
	}
	if len(book.Recipes) == 0 && len(b.faults.all) == 0 {
		b.faults.add(t.errorIn(place{line: 1, column: 1}, "there is no recipe in the file", "add a row below the header"))
	}
	for i := range book.Recipes {
		if b.faults.isFull() || len(t.broken) > 0 {
			break
		}
		if len(book.Recipes[i].Parts) == 0 && !b.badRecipes[int32(i)] && !(book.Long && b.faults.broken) {
			b.failEmpty(&book.Recipes[i])
		}
	}
	if err := b.faults.join(); err != nil {
		return nil, err
	}
	for i := range b.labels {
		label, unknown := b.labels[i].finish()
		if book.Labels = append(book.Labels, label); len(unknown) > 0 {
			t.addNote(t.places[b.labels[i].column], fmt.Sprintf("%s in %s says that a class is not known: recipes with it have none", inputerr.List(unknown, 4), inputerr.Quote(label.Name)), "")
		}
	}
	b.addNotes()
	b.noteUnusedNames()
	b.noteIncluded(b.including)
	for i := range book.Recipes {
		if r := &book.Recipes[i]; isSumRow(r.Name) && r.Name != t.included {
			t.notes = append(t.notes, Note{File: t.file, Line: r.Line, Column: r.Column, Cell: r.cell, Doubtful: true, Row: r.Name,
				Message: "a row called " + inputerr.Quote(r.Name) + " is read as a recipe: if it sums up others, remove it"})
		}
	}
	book.Notes, book.Guessed = t.notes, t.settling
	slices.SortStableFunc(book.Notes, func(a, b Note) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return book, nil
}

// noteUnusedNames notes the layout's names that the table does not have.
func (b *builder) noteUnusedNames() {
	for _, name := range slices.Sorted(maps.Keys(b.names)) {
		if !b.reported["named "+name] {
			b.table.addDoubt(place{}, "names has "+inputerr.Quote(name)+", which the table does not")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.excluded)) {
		if !b.reported["without "+name] && !(b.table.summed > 0 && b.table.sum == name) {
			b.table.addDoubt(place{}, "without has "+inputerr.Quote(name)+", which is no recipe of the table")
		}
	}
}

// noteIncluded notes the recipes of Including that would not have been left out.
func (b *builder) noteIncluded(names []string) {
	for _, name := range names {
		if NormalizeName(name) != b.table.included {
			b.table.addDoubt(place{}, "including has "+inputerr.Quote(name)+", which is not left out")
		}
	}
}

// addNotes adds the notes about cells.
func (b *builder) addNotes() {
	for kind := range b.guesses {
		if g := &b.guesses[kind]; g.count > 0 {
			b.table.addNote(g.place, fmt.Sprintf("%s (%s): %s", readingNotes[kind], inputerr.Count(g.count, "time"), g.example), "")
		}
	}
	const most = 5
	for _, r := range b.respellings[:min(len(b.respellings), most)] {
		b.table.addDoubt(r.place, fmt.Sprintf("%s and %s are taken for one ingredient, %s", inputerr.Quote(b.book.Ingredients.Names[r.ingredient]), inputerr.Quote(r.name), inputerr.Quote(b.book.Ingredients.Names[r.ingredient])))
		last := &b.table.notes[len(b.table.notes)-1]
		last.Spelling, last.OtherSpelling = r.name, b.book.Ingredients.Names[r.ingredient]
	}
	if more := len(b.respellings) - most; more > 0 {
		b.table.addDoubt(b.respellings[most].place, fmt.Sprintf("%s that differ in the case of letters are taken for one, too", inputerr.Count(more, "more name")))
	}
	if g := &b.unnamedRows; g.count > 0 {
		b.table.addNote(g.place, fmt.Sprintf("a row without the name of a recipe belongs to the one above (%s): first to %s", inputerr.Count(g.count, "time"), inputerr.Quote(g.example)), "")
	}
	if g := &b.emptyRows; g.count > 0 {
		b.table.addNote(g.place, fmt.Sprintf("a row with neither a name nor amounts is left out (%s)", inputerr.Count(g.count, "time")), "")
	}
	if g := &b.filled; g.count > 0 {
		b.table.addNote(g.place, fmt.Sprintf("an ingredient that makes up the rest is worked out (%s): first %s", inputerr.Count(g.count, "time"), g.example), "")
		b.table.notes[len(b.table.notes)-1].Doubtful = b.guessedWhole
	}
}
