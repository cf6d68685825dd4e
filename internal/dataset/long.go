package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// readLongRow adds the current row of a table in the long form to the book: one ingredient of a
// recipe.
func (b *bookBuilder) readLongRow() {
	t := b.table
	if b.holdBackFootnote() || b.skipExcludedRow() || b.skipSumOfRecipe() {
		return
	}
	recipe, isNew, ok := b.findOrAddRecipe()
	if !ok {
		return
	}
	r := &b.recipes[recipe]
	if !isNew {
		b.checkSameLabels(recipe, r)
	}
	part, isRest, ok := b.parseLongPart(recipe, r)
	if !ok {
		b.badRecipes[recipe] = true
		return
	}
	b.collectLongAsides(part.Ingredient)
	at := [2]int32{recipe, part.Ingredient}
	if isRest {
		b.addRemainder(recipe, part, b.amountColumn, t.row[b.amountColumn], len(r.Parts))
	}
	if isRest || part.Amount.IsZero() {
		b.partLines[at] = part.Line
		return
	}
	field := b.unitColumn
	if field < 0 {
		field = b.amountColumn
	}
	if !b.reconcileUnit(r.Parts, &part, field) {
		b.otherKinds[recipe] = append(b.otherKinds[recipe], placedPart{part, t.place(field)})
		b.badRecipes[recipe] = true
		return
	}
	b.partLines[at] = part.Line
	r.Parts = append(r.Parts, part)
}

// checkSameLabels records an error for each label whose value in the current row differs from the
// recipe's earlier rows. An empty value is that of the row above.
func (b *bookBuilder) checkSameLabels(recipe int32, r *Recipe) {
	t := b.table
	for i := range b.labelColumns {
		l := &b.labelColumns[i]
		was := l.Value(int(recipe))
		is := l.cell(t)
		if is == was || is == "" {
			continue
		}
		if b.reportedKeys["label "+l.Name] {
			continue
		}
		b.reportedKeys["label "+l.Name] = true
		e := t.errorAtField(l.column, fmt.Sprintf("%s of %s changes from %s on line %d to %s", inputerr.Quote(l.Name), inputerr.Quote(r.Name), inputerr.Quote(was), r.Line, inputerr.Quote(is)),
			"write the same in all rows of a recipe")
		b.faults.addLabelChange(e, t.header[l.column])
	}
}

// parseLongPart parses the ingredient, the amount and the unit in the current row. isRest reports
// that the part makes up the remainder of the recipe. ok is false if an error was recorded.
func (b *bookBuilder) parseLongPart(recipe int32, r *Recipe) (part Part, isRest, ok bool) {
	t := b.table
	ok = true
	name := NormalizeName(t.row[b.ingredientColumn])
	if name == "" {
		b.addError(b.ingredientColumn, "", "an ingredient without a name", "name it, or remove the row", b.withoutRow())
		ok = false
	} else if i, known := b.findOrAddIngredient(name, func() tablefile.Place { return t.place(b.ingredientColumn) }); !known {
		b.reportUnknownIngredient(name, "", t.place(b.ingredientColumn))
		ok = false
	} else {
		part.Ingredient = i
		if first, twice := b.partLines[[2]int32{recipe, i}]; twice {
			b.addError(b.ingredientColumn, "", fmt.Sprintf("%s is in %s twice: first on line %d", inputerr.Quote(name), inputerr.Quote(r.Name), first), "put the sum of the amounts into one row, or remove the one that is wrong", b.withoutRow())
			ok = false
		}
	}
	part.Line = int32(min(t.rows.Line(b.recipeColumn), math.MaxInt32))

	var cell string
	if b.unitColumn >= 0 {
		unit, message, hint := b.findUnit(t.row[b.unitColumn])
		if message != "" {
			b.addError(b.unitColumn, "unit "+NormalizeName(t.row[b.unitColumn]), message, hint, append(b.unitFixes(NormalizeName(t.row[b.unitColumn]), unitNames(r.Parts)...), b.withoutRecipe())...)
			ok = false
		}
		part.Unit, cell = unit, NormalizeName(t.row[b.unitColumn])
	}
	text := strings.TrimSpace(t.row[b.amountColumn])
	if b.reportMergedAmount(b.amountColumn, name) {
		return part, false, false
	}
	if text == "" && part.Unit != nil && (part.Unit.Name == "to taste" || measure.MeansFillUp(part.Unit.Name)) {
		text = "1"
	}
	if text == "" && b.unitColumn >= 0 && part.Unit == nil && measure.MeansFillUp(t.row[b.unitColumn]) {
		return part, false, false // the unit's error has been reported
	}
	q, message, hint := b.readQuantity(b.amountColumn, text)
	if message != "" {
		if word := measure.WithoutOne(text); measure.IsWord(word) && !measure.MeansFillUp(text) && !isUnknownMark(text) {
			hint += ", or 0 for none"
		}
		b.addError(b.amountColumn, "", message, hint, append(b.amountFixes(text, q.Unit, unitNames(r.Parts)...), b.withoutRecipe())...)
		return part, false, false
	}
	part.Amount = q.Amount
	if q.Unit != "" {
		unit, _ := b.units.Lookup(q.Unit)
		if cell != "" && part.Unit != nil && *part.Unit != *unit && !measure.MeansFillUp(unit.Name) {
			b.addError(b.amountColumn, "", fmt.Sprintf("the amount %s has the unit %s and the row has %s", inputerr.Quote(text), inputerr.Quote(unit.Name), inputerr.Quote(cell)), "write one unit", b.withoutRecipe())
			return part, false, false
		}
		part.Unit = unit
	} else if cell == "" && part.Unit == nil && (q.IsRemainder || !part.Amount.IsZero()) {
		part.Unit = b.defaultUnit
	}
	return part, q.IsRemainder, ok
}

// skipSumOfRecipe reports whether the current row of the long form is the sum of a recipe, by the name of its ingredient,
// and counts it for a note.
func (b *bookBuilder) skipSumOfRecipe() bool {
	name := NormalizeName(b.table.row[b.ingredientColumn])
	if recipe := b.recipeName(); name == "" && hasSumWord(recipe) && len(b.recipes) > 0 {
		name = recipe
	} else if name != "Σ" && !b.table.sumNames[name] && !sumWord.includes(strings.ToLower(strings.Trim(name, " :.()"))) && !(hasSumWord(name) && b.addsUpRecipe()) {
		return false
	}
	b.sumRows.increment(func() tablefile.Place { return b.table.place(b.ingredientColumn) }, name)
	b.table.noteLeftOut(b.table.rows.Line(b.ingredientColumn), outAsSum)
	return true
}

// addsUpRecipe reports whether the amount in the current row of the long form is the sum of those that the recipe has so
// far.
func (b *bookBuilder) addsUpRecipe() bool {
	if len(b.recipes) == 0 {
		return false
	}
	q, message, _ := measure.ParseQuantity(strings.TrimSpace(b.table.row[b.amountColumn]), b.table.decimalOf(b.amountColumn), b.units)
	unit := b.defaultUnit
	if b.unitColumn >= 0 {
		if of, ok := b.units.Lookup(NormalizeName(b.table.row[b.unitColumn])); ok {
			unit = of
		}
	}
	if q.Unit != "" {
		unit, _ = b.units.Lookup(q.Unit)
	}
	whole, sum := Part{Amount: q.Amount, Unit: unit}, 0.0
	for _, p := range b.recipes[b.previousRecipe].Parts {
		base, _ := p.Base().Float64()
		sum += base
	}
	base, _ := whole.Base().Float64()
	return message == "" && len(b.recipes[b.previousRecipe].Parts) > 1 && math.Abs(base-sum) <= float64(sumTolerance*sum)
}

// dropSumLabels leaves out the labels of the long form that are the sum of a recipe's amounts, in 19 recipes of 20, with
// a note. A column that the user has named as a label stays.
func (b *bookBuilder) dropSumLabels() {
	if !b.book.LongForm {
		return
	}
	b.book.Labels = slices.DeleteFunc(b.book.Labels, func(l Label) bool {
		numbers, err := l.Numbers()
		if err != nil || len(numbers) < 3 || b.givenColumns[l.Name] == LabelColumn {
			return false
		}
		others := 0
		for i := range b.book.Recipes {
			sum := 0.0
			for _, p := range b.book.Recipes[i].Parts {
				sum += p.Amount.Float64()
			}
			if !(math.Abs(numbers[i]-sum) <= float64(sumTolerance*sum)) {
				others++
			}
		}
		if 20*others > len(numbers) {
			return false
		}
		if b.table.sumLabels == nil {
			b.table.sumLabels = make(map[string]bool)
		}
		b.table.sumLabels[l.Name] = true
		b.table.notes = append(b.table.notes, Note{File: b.table.file, Doubtful: true, AmbiguousColumn: l.Name, AssumedRole: IgnoredColumn,
			Message: "column " + inputerr.Quote(l.Name) + " is the sum of each recipe's amounts and is left out"})
		return true
	})
}
