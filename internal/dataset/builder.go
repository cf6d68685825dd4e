package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A bookBuilder assembles a [Book] from a table, row by row.
type bookBuilder struct {
	table                *table                   // the table that is read
	book                 *Book                    // the book so far
	units                *measure.Units           // the units that amounts may have
	faults               faults                   // errors recorded so far
	readRow              func()                   // reads the current row: readLongRow or readWideRow
	unitCache            map[string]*measure.Unit // by the spelling of a unit in the book: the unit
	unknownUnits         map[string][2]string     // by the spelling of an unknown unit: message and hint of its error
	allowsNewIngredients bool                     // whether the book may name ingredients that are not in book.Ingredients
	namesBySpelling      map[string]string        // Layout.Names: by the spelling in the table, the name of the ingredient
	excludedRecipes      map[string]bool          // Layout.Without: names of recipes that are left out
	givenColumns         map[string]Role          // Layout.Columns: by name of a column, its role
	includedNames        []string                 // Layout.Including: names of recipes that the reader must not leave out
	previousRowExcluded  bool                     // whether the previous row belongs to an excluded recipe
	reportedKeys         map[string]bool          // keys of messages that are reported once and have been reported

	// Indices of columns, -1 where there is no such column. In the wide form, recipeColumn is also
	// -1 if the rows have no names.
	recipeColumn, ingredientColumn, amountColumn, unitColumn int

	defaultUnit     *measure.Unit // long form: unit of amounts without a unit of their own
	wideColumns     []wideColumn  // wide form: columns of the ingredients
	partBuffer      []Part        // wide form: reused buffer for the parts of a row
	labelColumns    []labelColumn // columns of the labels
	longAsides      []longAside   // long form: columns that are left out
	conditionLabels []int         // indices into labelColumns of the labels that are conditions of trials

	recipes        []Recipe                          // recipes read so far
	recipeByName   map[string]int32                  // by name: index into recipes
	previousRecipe int32                             // index into recipes of the recipe of the previous row
	partLines      map[[2]int32]int32                // long form: by {recipe, ingredient}, line of the amount, also if it is 0
	firmPartIndex  int                               // index in Recipe.Parts of the last part found whose unit cannot become a mass; a hint for reconcileUnit
	badRecipes     map[int32]bool                    // indices of recipes with a fault
	readingCounts  [measure.ReadingCount]noteCounter // by [measure.Reading]: amounts interpreted in this way
	sharedUnits    noteCounter                       // percentages among parts, or parts among percentages
	unnamedRows    noteCounter                       // rows without the name of their recipe
	convertedUnits map[*measure.Unit]bool            // small volume units that were converted to masses
	emptyRows      noteCounter                       // wide form: rows with neither a name nor amounts
	sumRows        noteCounter                       // long form: rows with the sum of a recipe
	markedAmounts  noteCounter                       // amounts with the mark of a footnote
	sharedWholes   noteCounter                       // wholes with a unit of recipes whose amounts have none
	boundedAmounts noteCounter                       // amounts of which a bound is known, such as <0.01
	remainders     map[int32]remainderPart           // by index of the recipe: the part that makes up the remainder
	otherKinds     map[int32][]placedPart            // long form: by index of the recipe, the parts whose units are of another kind than Recipe.Parts

	filledRemainders noteCounter  // remainders whose amount was computed
	guessedWhole     bool         // whether a whole, such as 100, was assumed without any evidence
	respellings      []respelling // second spellings of ingredients, in the order of the table

	heldFootnotes []footnote // rows held back as possible footnotes since the last other row, at most maxErrors
	heldRowCount  int        // number of rows held back as possible footnotes; may exceed len(heldFootnotes)
}

// A respelling is a second spelling of an ingredient's name, which differs in the case of letters
// or in spaces.
type respelling struct {
	name       string          // the second spelling
	ingredient int32           // index of the ingredient in Book.Ingredients
	place      tablefile.Place // position of the second spelling
}

// A noteCounter counts the cases of one interpretation, so that a single note reports all of them.
type noteCounter struct {
	count      int             // number of cases
	example    string          // text that describes the first case
	firstPlace tablefile.Place // position of the first case
}

// increment counts one more case. It keeps the example and the place of the first case only.
func (g *noteCounter) increment(p func() tablefile.Place, example string) {
	if g.count++; g.count == 1 {
		g.firstPlace, g.example = p(), strings.Clone(example)
	}
}

// A wideColumn is a column that holds the amounts of one ingredient, in the wide form.
type wideColumn struct {
	column      int           // index of the column
	ingredient  int32         // index of the ingredient in Book.Ingredients
	defaultUnit *measure.Unit // unit of amounts without a unit of their own; nil if there is none
}

// newBuilder returns a builder for the rows of a table whose columns have been interpreted. long
// reports whether the table has the long form. in holds the only allowed ingredients; nil allows
// any.
func newBuilder(t *table, columns []Column, long bool, in *Ingredients, units *measure.Units, l Layout) *bookBuilder {
	b := &bookBuilder{
		namesBySpelling: l.Names, givenColumns: l.Columns, includedNames: l.Including, excludedRecipes: make(map[string]bool, len(l.Without)),
		table: t, units: units, allowsNewIngredients: in == nil,
		book:         &Book{File: t.file, Ingredients: in, LongForm: long},
		unitCache:    make(map[string]*measure.Unit),
		unknownUnits: make(map[string][2]string),
		reportedKeys: make(map[string]bool),
		recipeByName: make(map[string]int32),
		badRecipes:   make(map[int32]bool),
		partLines:    make(map[[2]int32]int32),
		remainders:   make(map[int32]remainderPart),
		otherKinds:   make(map[int32][]placedPart),
		recipeColumn: -1, ingredientColumn: -1, amountColumn: -1, unitColumn: -1,
	}
	if b.allowsNewIngredients {
		b.book.Ingredients = newIngredients("")
	}
	for _, name := range l.Without {
		b.excludedRecipes[NormalizeName(name)] = true
	}
	seen := make(map[int32]string)
	for i, c := range columns {
		if b.faults.isFull() {
			break
		}
		switch {
		case c.Role == RecipeColumn:
			b.recipeColumn = i
		case c.Role == LabelColumn:
			b.labelColumns = append(b.labelColumns, labelColumn{column: i, Label: Label{Name: c.Name, sourceColumn: c.Name, Heading: c.Heading}, classByValue: make(map[string]int32)})
			if name := spreadLabel(c.Name); t.profiles[i].spreadCount > 0 && t.profiles[i].isMostlyNumeric() && t.findColumn(name) < 0 {
				b.labelColumns = append(b.labelColumns, labelColumn{column: i, holdsSpreads: true, Label: Label{Name: name, sourceColumn: c.Name}, classByValue: make(map[string]int32)})
			}
		case long && c.Role == IngredientColumn:
			b.ingredientColumn = i
		case long && c.Role == IgnoredColumn && c.Name != "" && !isNameColumn(c.Name) && len(b.longAsides) < maxAsides:
			b.longAsides = append(b.longAsides, longAside{column: i, texts: make(map[int32]string)})
		case c.Role == AmountColumn:
			b.amountColumn, b.defaultUnit = i, c.Unit
		case c.Role == UnitColumn:
			b.unitColumn = i
		case c.Role == IngredientColumn:
			ingredient, ok := b.findOrAddIngredient(c.Ingredient, func() tablefile.Place { return t.headerPlaces[i] })
			if !ok {
				b.reportUnknownIngredient(c.Ingredient, c.Name, t.headerPlaces[i])
				continue
			}
			if first, ok := seen[ingredient]; ok {
				e := t.errorInHeader(i, fmt.Sprintf("columns %s and %s are one ingredient, %s", inputerr.Quote(first), inputerr.Quote(c.Name), inputerr.Quote(c.Ingredient)), "put the amounts into one column, or give one another name")
				apart := Fix{Layout: Layout{Names: map[string]string{c.Ingredient: c.Ingredient + " (2)"}}, Effect: "keeps them apart"}
				b.faults.add(withFixes(e, rowStage, apart, roleFix(c.Name, IgnoredColumn)))
				continue
			}
			seen[ingredient] = c.Name
			b.wideColumns = append(b.wideColumns, wideColumn{column: i, ingredient: ingredient, defaultUnit: c.Unit})
		}
	}
	if b.readRow = b.readWideRow; long {
		b.readRow = b.readLongRow
	}
	return b
}

// addError records an error in a field of the current row, and the settings that may get past it. Of several errors with
// the same key it records only the first, unless the key is empty.
func (b *bookBuilder) addError(field int, key, message, hint string, fixes ...Fix) {
	if key != "" {
		if b.reportedKeys[key] {
			return
		}
		b.reportedKeys[key] = true
	}
	b.faults.add(withFixes(b.table.errorAtField(field, message, hint), rowStage, fixes...))
}

// withoutRecipe returns the fix that leaves out the recipe of the current row, or its row if it has no name.
func (b *bookBuilder) withoutRecipe() Fix {
	if name := b.recipeName(); name != "" {
		return withoutFix(name, "recipe")
	}
	return b.withoutRow()
}

// withoutRow returns the fix that leaves out the current row of the file.
func (b *bookBuilder) withoutRow() Fix { return rowFix(b.table.rows.Line(max(b.recipeColumn, 0))) }

// recipeName returns the recipe's name in the current row. If no column names the recipes, it
// returns a name such as row 7.
func (b *bookBuilder) recipeName() string {
	if b.recipeColumn < 0 {
		return rowName(b.table.rows.Line(0))
	}
	return NormalizeName(b.table.row[b.recipeColumn])
}

// skipExcludedRow reports whether the recipe of the current row is to be left out. If so, it
// records the row as left out.
func (b *bookBuilder) skipExcludedRow() bool {
	if len(b.excludedRecipes) == 0 {
		return false
	}
	name := b.recipeName()
	if name != "" || b.ingredientColumn < 0 {
		b.previousRowExcluded = b.excludedRecipes[name]
	}
	if b.previousRowExcluded {
		b.reportedKeys["without "+strings.Clone(name)] = b.reportedKeys["without "+name] || name != ""
		b.table.noteLeftOut(b.table.rows.Line(max(b.recipeColumn, 0)), outByLayout)
	}
	return b.previousRowExcluded
}

// findOrAddRecipe returns the index of the recipe of the current row. If the name is new, it adds a
// recipe. ok is false if an error was recorded instead.
func (b *bookBuilder) findOrAddRecipe() (recipe int32, isNew, ok bool) {
	t := b.table
	name := b.recipeName()
	if b.ingredientColumn >= 0 && len(b.recipes) > 0 && t.rows.IsFilled(b.recipeColumn) {
		if above := b.recipes[b.previousRecipe].Name; above == name || strings.HasPrefix(above, name+" at ") {
			return b.previousRecipe, false, true // its name is merged with that of the row above
		}
	}
	if name == "" {
		if b.ingredientColumn >= 0 && len(b.recipes) > 0 {
			b.unnamedRows.increment(func() tablefile.Place { return t.place(b.recipeColumn) }, b.recipes[b.previousRecipe].Name)
			return b.previousRecipe, false, true
		}
		b.addError(b.recipeColumn, "", "a recipe without a name", "name it, or remove the row", b.withoutRow())
		return 0, false, false
	}
	name = b.trialName(name)
	if len(b.recipes) > 0 && b.recipes[b.previousRecipe].Name == name {
		return b.previousRecipe, false, true
	}
	recipe, ok = b.recipeByName[name]
	if !ok {
		if len(b.recipes) == math.MaxInt32 {
			b.addError(b.recipeColumn, "too many", "too many recipes", "a book may have up to 2^31 - 1")
			return 0, false, false
		}
		r := Recipe{Name: strings.Clone(name)}
		p := t.place(max(b.recipeColumn, 0))
		r.Line, r.Column, r.cellAddress = p.Line, p.Column, p.Cell
		recipe = int32(len(b.recipes))
		b.recipes = append(b.recipes, r)
		b.recipeByName[r.Name] = recipe
		for i := range b.labelColumns {
			b.labelColumns[i].addCurrentRow(t, r.Name)
		}
	}
	b.previousRecipe = recipe
	return recipe, !ok, true
}

// trialName returns the name of the trial in the current row. The parameter recipe is the name of
// the recipe. If an earlier row has the same recipe under other conditions, the values of the
// conditions are appended, as in M1 at age 28. A row without values of the conditions belongs to
// the first trial of the recipe.
func (b *bookBuilder) trialName(recipe string) string {
	first, known := b.recipeByName[recipe]
	if !known || len(b.conditionLabels) == 0 {
		return recipe
	}
	differs := false
	var set []string
	for _, i := range b.conditionLabels {
		l := &b.labelColumns[i]
		value := l.cell(b.table)
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

// findOrAddIngredient returns the index of the ingredient with a given name, and whether the book
// may use the ingredient. It adds a new ingredient if the builder allows new ones. at returns the
// position of the name.
func (b *bookBuilder) findOrAddIngredient(name string, at func() tablefile.Place) (int32, bool) {
	in := b.book.Ingredients
	given, named := b.namesBySpelling[name]
	if named {
		b.reportedKeys["named "+strings.Clone(name)] = true
		name = NormalizeName(given)
	}
	i, ok := in.find(name)
	if ok && !named && in.Names[i] != name && !b.reportedKeys["spelling "+name] {
		b.reportedKeys["spelling "+strings.Clone(name)] = true
		b.respellings = append(b.respellings, respelling{strings.Clone(name), i, at()})
	}
	if ok || !b.allowsNewIngredients {
		return i, ok
	}
	return in.add(strings.Clone(name)), true
}

// reportUnknownIngredient records the error that the book may not use an ingredient. It records the
// error once for each name. column is the name of the ingredient's column; empty in the long form.
func (b *bookBuilder) reportUnknownIngredient(name, column string, p tablefile.Place) {
	if b.reportedKeys["ingredient "+name] {
		return
	}
	in := b.book.Ingredients
	b.reportedKeys["ingredient "+strings.Clone(name)] = true
	message := inputerr.Quote(name) + " is not one of the " + inputerr.Count(in.Len(), "ingredient")
	if in.File != "" {
		message += " in " + in.File
	}
	var fixes []Fix
	hint := inputerr.DidYouMean(name, in.Names)
	if near, ok := inputerr.Nearest(name, in.Names); ok {
		fixes = append(fixes, Fix{Layout: Layout{Names: map[string]string{name: near}}, Effect: "takes it as that"})
	}
	if hint == "" {
		hint = "add it there"
	}
	if column == "" {
		fixes = append(fixes, b.withoutRecipe())
	} else {
		fixes = append(fixes, roleFix(column, LabelColumn), roleFix(column, IgnoredColumn))
	}
	b.faults.add(withFixes(b.table.errorAtPlace(p, message, hint), rowStage, fixes...))
}

// readQuantity parses text as the amount in a field of the current row. If the amount is invalid,
// message states the fault and hint says what to write.
func (b *bookBuilder) readQuantity(field int, text string) (q measure.Quantity, message, hint string) {
	t := b.table
	if t.moneySign != "" {
		text = strings.TrimSpace(strings.Replace(text, t.moneySign, "", 1))
	}
	if rest, ok := t.restTexts[text]; ok {
		return rest, "", ""
	}
	q, message, hint = measure.ParseQuantity(text, t.decimalOf(field), b.units)
	if plain := notePattern().ReplaceAllString(text, ""); message != "" && plain != text {
		if marked, fault, _ := measure.ParseQuantity(plain, t.decimalOf(field), b.units); fault == "" {
			b.markedAmounts.increment(func() tablefile.Place { return t.place(field) }, text)
			return marked, "", ""
		}
	}
	if m, ok := parseMarkedNumber(text); message != "" && ok && m.bound {
		if bound, fault, _ := measure.ParseQuantity(m.value, t.decimalOf(field), b.units); fault == "" {
			b.boundedAmounts.increment(func() tablefile.Place { return t.place(field) }, text)
			return bound, "", ""
		}
	}
	if message == "" && q.Reading != measure.LiteralReading {
		b.readingCounts[q.Reading].increment(func() tablefile.Place { return t.place(field) }, text+" is "+strings.TrimSpace(q.Amount.String()+" "+q.Unit))
	}
	return q, message, hint
}

// reportMergedAmount reports whether the amount in a field of the current row is merged with that of the ingredient above,
// so that nothing tells how much each has. If so, it records an error.
func (b *bookBuilder) reportMergedAmount(field int, ingredient string) bool {
	if !b.table.rows.IsFilled(field) {
		return false
	}
	b.addError(field, "", "the amount of "+inputerr.Quote(ingredient)+" is in one cell with that above", "split the merged cell, and write an amount for each ingredient")
	return true
}

// findUnit returns the unit with a given name, or nil if the name is empty. If the unit is unknown,
// message states the fault and hint says what to write.
func (b *bookBuilder) findUnit(text string) (unit *measure.Unit, message, hint string) {
	if unit, ok := b.unitCache[text]; ok {
		return unit, "", ""
	}
	if name := NormalizeName(text); name != "" {
		var ok bool
		if unit, ok = b.units.Lookup(name); !ok {
			why, known := b.unknownUnits[text]
			if !known {
				why[0], why[1] = b.units.DescribeUnknownUnit(name)
				b.unknownUnits[strings.Clone(text)] = why
			}
			return nil, why[0], why[1]
		}
	}
	b.unitCache[strings.Clone(text)] = unit
	return unit, "", ""
}

// reconcileUnit gives part and the earlier parts of the recipe units of the same [Kind], and
// reports whether that succeeds. It converts only small volumes without a standard size, such as a
// pinch, to masses. It converts part if the earlier parts are masses, and all earlier parts if part
// is a mass. The parameter field is the field of the current row at which a note about the
// conversion is added.
func (b *bookBuilder) reconcileUnit(parts []Part, part *Part, field int) bool {
	if len(parts) == 0 || parts[0].kind() == part.kind() {
		return true
	}
	asMass := func(p *Part) {
		if b.convertedUnits == nil {
			b.convertedUnits = make(map[*measure.Unit]bool)
		}
		was := p.Unit
		if !b.convertedUnits[was] {
			b.convertedUnits[was] = true
			b.table.addNote(b.table.place(field), fmt.Sprintf("%s is taken as %v g where other amounts are masses", inputerr.Quote(was.Name), was.AsMass.Size),
				"units: {"+YAMLText(was.Name)+": "+was.AsMass.Size.String()+" g}")
		}
		p.Unit = was.AsMass
	}
	if isShare := func(k measure.Kind) bool { return k == measure.Percent || k == measure.PartCount }; isShare(parts[0].kind()) && isShare(part.kind()) {
		b.sharedUnits.increment(func() tablefile.Place { return b.table.place(field) }, inputerr.Quote(part.Unit.Name)+" beside "+inputerr.Quote(parts[0].Unit.Name))
		part.Unit = parts[0].Unit // additions to a base of 100 parts are parts, too
		return true
	}
	loose := func(p *Part) bool { return p.Unit != nil && p.Unit.AsMass != nil }
	switch {
	case parts[0].kind() == measure.Mass && loose(part):
		asMass(part)
		return true
	case part.kind() == measure.Mass:
		if b.firmPartIndex < len(parts) && !loose(&parts[b.firmPartIndex]) {
			return false
		}
		for i := range parts {
			if !loose(&parts[i]) {
				b.firmPartIndex = i
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

// reportEmptyRecipe records the error that a recipe has no amount above 0.
func (b *bookBuilder) reportEmptyRecipe(r *Recipe) {
	b.faults.add(withFixes(b.table.errorAtPlace(tablefile.Place{Line: r.Line, Column: r.Column, Cell: r.cellAddress}, "the amounts of "+inputerr.Quote(r.Name)+" add up to 0", "give at least one ingredient an amount above 0, or remove the recipe"), rowStage, withoutFix(r.Name, "recipe")))
}

// addRemainder records the part that makes up the remainder of a recipe, or an error if the recipe
// already has such a part. text is the content of the cell. before is the number of the other parts
// before it.
func (b *bookBuilder) addRemainder(recipe int32, part Part, field int, text string, before int) {
	if first, twice := b.remainders[recipe]; twice {
		b.addError(field, "", fmt.Sprintf("%s makes up the rest of %s, and so does %s", inputerr.Quote(b.book.Ingredients.Names[part.Ingredient]),
			inputerr.Quote(b.recipes[recipe].Name), inputerr.Quote(b.book.Ingredients.Names[first.Ingredient])), "write the number of one of them, or 0 for one that is not used", b.withoutRecipe())
		b.badRecipes[recipe] = true
		return
	}
	total := b.withTotal(part)
	b.remainders[recipe] = remainderPart{Part: total, isTotalKnown: total.Amount != part.Amount, partsBefore: before, text: strings.Clone(text), place: b.table.place(field)}
}

// columnNameOf returns the name of the column of an ingredient in the wide form. It returns an
// empty name in the long form.
func (b *bookBuilder) columnNameOf(ingredient int32) string {
	if column := b.columnOf(ingredient); column >= 0 {
		return b.table.header[column]
	}
	return ""
}

// fillRemainders computes the amounts of the parts that make up remainders, after all rows have
// been read.
func (b *bookBuilder) fillRemainders() {
	plain, sure, why := unitlessWhole(b.recipes, b.remainders, b.badRecipes)
	for i := range b.recipes {
		if part, ok := b.remainders[int32(i)]; ok && !b.badRecipes[int32(i)] {
			guessed := !sure && part.Amount.IsZero()
			what := inputerr.Quote(part.text) + " of " + inputerr.Quote(b.book.Ingredients.Names[part.Ingredient]) + " in " + inputerr.Quote(b.recipes[i].Name)
			is, key, message, hint, label := part.complete(&b.recipes[i], plain, why, b.columnNameOf)
			if message == "" && part.hasSharedUnit {
				b.sharedWholes.increment(func() tablefile.Place { return part.place }, part.text)
			}
			if message == "" {
				b.guessedWhole = b.guessedWhole || guessed && part.Unit == nil
				b.filledRemainders.increment(func() tablefile.Place { return part.place }, what+" is "+is)
				continue
			}
			b.badRecipes[int32(i)] = true
			if key == "" || !b.reportedKeys[key] {
				b.reportedKeys[key] = true
				var fixes []Fix
				if label != "" {
					fixes = append(fixes, roleFix(label, LabelColumn), roleFix(label, IgnoredColumn))
				}
				b.faults.add(withFixes(b.table.errorAtPlace(part.place, what+" "+message, hint), rowStage, append(fixes, withoutFix(b.recipes[i].Name, "recipe"))...))
			}
		}
	}
}

// finish completes the book after all rows have been read. It returns the errors of the file if
// there are any.
func (b *bookBuilder) finish() (*Book, error) {
	book, t := b.book, b.table
	b.dropHeldFootnotes()
	book.Recipes = b.recipes
	for _, i := range slices.Sorted(maps.Keys(b.otherKinds)) {
		b.reportMixedUnits(&b.recipes[i], b.recipes[i].Parts, b.otherKinds[i])
	}
	if !b.faults.isFull() && !b.faults.hasUnreadableRow && len(t.brokenCells) == 0 {
		b.fillRemainders()
	}
	if len(book.Recipes) == 0 && len(b.faults.allErrors) == 0 {
		b.faults.add(t.errorAtPlace(tablefile.Place{Line: 1, Column: 1}, "there is no recipe in the file", "add a row below the header"))
	}
	for i := range book.Recipes {
		if b.faults.isFull() || len(t.brokenCells) > 0 {
			break
		}
		if len(book.Recipes[i].Parts) == 0 && !b.badRecipes[int32(i)] && !(book.LongForm && b.faults.hasUnreadableRow) {
			b.reportEmptyRecipe(&book.Recipes[i])
		}
	}
	if err := b.faults.join(); err != nil {
		return nil, err
	}
	for i := range b.labelColumns {
		b.labelColumns[i].noteMarks(t, b.givenColumns[b.labelColumns[i].Name] == LabelColumn)
		label, unknown := b.labelColumns[i].finish()
		if book.Labels = append(book.Labels, label); len(unknown) > 0 {
			t.addNote(t.headerPlaces[b.labelColumns[i].column], fmt.Sprintf("%s in %s says that a class is not known: recipes with it have none", inputerr.List(unknown, 4), inputerr.Quote(label.Name)), "")
		}
	}
	b.dropSumLabels()
	book.Asides = b.collectAsides()
	b.addCellNotes()
	b.noteUnusedNames()
	b.noteNeedlessIncludes(b.includedNames)
	for i := range book.Recipes {
		if r := &book.Recipes[i]; isSumRow(r.Name) && r.Name != t.includedTotal {
			t.notes = append(t.notes, Note{File: t.file, Line: r.Line, Column: r.Column, Cell: r.cellAddress, Doubtful: true, QuestionableRow: r.Name,
				Message: "a row called " + inputerr.Quote(r.Name) + " is read as a recipe: if it sums up others, remove it"})
		}
	}
	book.Notes, book.GuessedLayout = t.notes, t.guessedLayout
	slices.SortStableFunc(book.Notes, func(a, b Note) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return book, nil
}

// noteUnusedNames adds a note for each entry of Layout.Names and Layout.Without that the table does
// not contain.
func (b *bookBuilder) noteUnusedNames() {
	for _, name := range slices.Sorted(maps.Keys(b.namesBySpelling)) {
		if !b.reportedKeys["named "+name] {
			b.table.addDoubtfulNote(tablefile.Place{}, "names has "+inputerr.Quote(name)+", which the table does not")
		}
	}
	t := b.table
	for _, name := range slices.Sorted(maps.Keys(b.excludedRecipes)) {
		isSheet := slices.ContainsFunc(t.sheets, func(sheet string) bool { return NormalizeName(sheet) == name })
		isRow := false
		for line, found := range t.withoutLines {
			isRow = isRow || found && name == rowName(line)
		}
		if !b.reportedKeys["without "+name] && !isSheet && !isRow && !(t.totalRowLine > 0 && t.totalRowName == name) {
			t.addDoubtfulNote(tablefile.Place{}, "without has "+inputerr.Quote(name)+", which is no recipe of the table")
		}
	}
}

// noteNeedlessIncludes adds a note for each recipe that Layout.Including lists although the reader
// would have kept it anyway. The parameter names is the list.
func (b *bookBuilder) noteNeedlessIncludes(names []string) {
	for _, name := range names {
		if NormalizeName(name) != b.table.includedTotal && !b.reportedKeys["including "+NormalizeName(name)] {
			b.table.addDoubtfulNote(tablefile.Place{}, "including has "+inputerr.Quote(name)+", which is not left out")
		}
	}
}

// addCellNotes adds the notes about the interpretation of cells and rows.
func (b *bookBuilder) addCellNotes() {
	if n := b.markedAmounts; n.count > 0 {
		b.table.addNote(n.firstPlace, fmt.Sprintf("%s with the mark of a footnote, such as %s: the mark is left out", inputerr.Count(n.count, "amount"), inputerr.Quote(n.example)), "")
	}
	if n := b.boundedAmounts; n.count > 0 {
		b.table.addDoubtfulNote(n.firstPlace, fmt.Sprintf("%s such as %s %s read as the number in it", inputerr.Count(n.count, "amount"), inputerr.Quote(n.example), isOrAre(n.count)))
	}
	if n := b.sharedWholes; n.count > 0 {
		b.table.addDoubtfulNote(n.firstPlace, "amounts without a unit are taken in the unit of "+inputerr.Quote(n.example))
	}
	if n := b.sumRows; n.count > 0 {
		b.table.addNote(n.firstPlace, fmt.Sprintf("%s with the sum of a recipe, such as %s, %s left out", inputerr.Count(n.count, "row"), inputerr.Quote(n.example), isOrAre(n.count)), "")
	}
	for kind := range b.readingCounts {
		if g := &b.readingCounts[kind]; g.count > 0 {
			b.table.addNote(g.firstPlace, fmt.Sprintf("%s (%s): %s", measure.Reading(kind), inputerr.Count(g.count, "time"), g.example), "")
		}
	}
	const most = 5
	for _, r := range b.respellings[:min(len(b.respellings), most)] {
		b.table.addDoubtfulNote(r.place, fmt.Sprintf("%s and %s are taken for one ingredient, %s", inputerr.Quote(b.book.Ingredients.Names[r.ingredient]), inputerr.Quote(r.name), inputerr.Quote(b.book.Ingredients.Names[r.ingredient])))
		last := &b.table.notes[len(b.table.notes)-1]
		last.Spelling, last.OtherSpelling = r.name, b.book.Ingredients.Names[r.ingredient]
	}
	if more := len(b.respellings) - most; more > 0 {
		b.table.addNote(b.respellings[most].place, fmt.Sprintf("%s that differ in the case of letters are taken for one, too", inputerr.Count(more, "more name")), "")
	}
	if g := &b.sharedUnits; g.count > 0 {
		b.table.addDoubtfulNote(g.firstPlace, fmt.Sprintf("%s counts as the same (%s)", g.example, inputerr.Count(g.count, "time")))
	}
	if g := &b.unnamedRows; g.count > 0 {
		b.table.addNote(g.firstPlace, fmt.Sprintf("a row without the name of a recipe belongs to the one above (%s): first to %s", inputerr.Count(g.count, "time"), inputerr.Quote(g.example)), "")
	}
	if g := &b.emptyRows; g.count > 0 {
		b.table.addNote(g.firstPlace, fmt.Sprintf("a row with neither a name nor amounts is left out (%s)", inputerr.Count(g.count, "time")), "")
	}
	if g := &b.filledRemainders; g.count > 0 {
		message := fmt.Sprintf("an ingredient that makes up the rest is worked out (%s): first %s", inputerr.Count(g.count, "time"), g.example)
		if b.guessedWhole {
			message += "; if the whole is another, write it there, as in q.s. 1000"
		}
		b.table.addNote(g.firstPlace, message, "")
		b.table.notes[len(b.table.notes)-1].Doubtful = b.guessedWhole
	}
}
